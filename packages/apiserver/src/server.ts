/** The embedded Kubernetes API server: `fetch(request) → Response`, with or without a socket in front of it. */
import { writeStatus } from "./registry/own-writes.ts";
import { layOver } from "./patch/lay-over.ts";
import { createAdmission } from "./admission/admission.ts";
import { enabledPlugins, type PluginChoice } from "./admission/plugin-names.ts";
import type { TokenIssuerOptions } from "./authentication/token-issuer.ts";
import { TokenAuthority } from "./authentication/tokens.ts";
import { type Connection, identify } from "./authentication/identify.ts";
import { Impersonation } from "./authentication/impersonate.ts";
import { attributesOf } from "./authorization/attributes.ts";
import { RbacAuthorizer, superusers } from "./authorization/authorizer.ts";
import { type AuthorizationMode, authorizerOf } from "./authorization/modes.ts";
import { accessForbidden } from "./authorization/forbidden.ts";
import { discover } from "./discovery/discovery.ts";
import { about, health } from "./discovery/health.ts";
import { metrics } from "./discovery/metrics.ts";
import { openId } from "./discovery/open-id.ts";
import { openApi } from "./discovery/openapi.ts";
import { type Flow, Flows, markFlow } from "./flowcontrol/flows.ts";
import { noResource, nothing, pathList } from "./discovery/paths.ts";
import type { Attributes, KubeObject, UserInfo } from "./hooks.ts";
import { followAggregation } from "./registry/aggregation.ts";
import { followConditions } from "./registry/conditions.ts";
import { followDefinitions } from "./registry/definitions.ts";
import { equivalentsOf } from "./registry/equivalents.ts";
import { KindRegistry } from "./registry/kind-registry.ts";
import { apiVersionOf, type Resource } from "./registry/resource.ts";
import { accepted, type Accepted, type Form, plain, type Served } from "./request/accept.ts";
import { answerStatus } from "./request/answer.ts";
import { parseTarget, type Target } from "./request/target.ts";
import { checkTimeout } from "./request/timeout.ts";
import { bootstrap } from "./seed/bootstrap.ts";
import { type ReadUrl, readUrl } from "./request/url.ts";
import { badRequest, methodNotAllowed, StatusError } from "./status.ts";
import type { CommonOptions } from "./listen-options.ts";
import { expireEvents } from "./storage/event-expiry.ts";
import { SqliteJournal } from "./storage/sqlite-journal.ts";
import { Storage } from "./storage/storage.ts";
import { isTunnel } from "./subresources/connections.ts";
import { checkRouteFirst, dispatch, isCustomRouted, type Routed } from "./verbs/dispatch.ts";
import type { Kernel } from "./verbs/api-call.ts";
import { timestamp } from "./timestamp.ts";
import { serviceRanges, type ServiceRangeOptions } from "./validation/core/service-ranges.ts";

export interface ApiServerOptions extends CommonOptions, PluginChoice {
  /** Users by bearer token. @default none */
  readonly users?: ReadonlyMap<string, UserInfo> | undefined;
  /**
   * The secret from which the signing key of service account tokens is derived. @default random: tokens end with the
   * process
   */
  readonly tokenSecret?: Uint8Array | undefined;
  /** The keys and issuers of service account tokens, in place of a secret. */
  readonly accounts?: TokenIssuerOptions | undefined;
  /** What decides about requests of users who are not in `system:masters`. @default RBAC */
  readonly authorization?: readonly AuthorizationMode[] | undefined;
  /**
   * Whether a request without credentials is authorized as `system:anonymous`.
   *
   * @default false: such a request gets 401, unless it asks for the server's health or version
   */
  readonly admitsAnonymous?: boolean | undefined;
  /**
   * Whether writes to the folder survive a failure of the machine, and not only the end of the process.
   *
   * @default true
   */
  readonly durable?: boolean | undefined;
  /** Whether containers may be privileged. @default true */
  readonly allowsPrivileged?: boolean | undefined;
  /** The addresses and ports of services. */
  readonly services?: ServiceRangeOptions | undefined;
  /** Milliseconds after which events are deleted. @default an hour */
  readonly eventLifetime?: number | undefined;
  /** The address `host:port` under which clients reach the server. @default 127.0.0.1:6443 */
  readonly address?: string | undefined;
}

/** An object was added, changed or deleted; it must not be changed. */
export interface ObjectChange {
  readonly type: "ADDED" | "MODIFIED" | "DELETED";
  /** The object as it is stored; for a deletion its last state. */
  readonly object: KubeObject;
  /** The state before, if there was one. */
  readonly old: KubeObject | undefined;
}

export interface ApiServer extends AsyncDisposable {
  /**
   * Serves a request. @param connection the sender, as far as the connection identifies it; @default an
   * administrator, for calls in process
   */
  fetch(request: Request, connection?: Connection): Promise<Response>;
  /** Forgets the changes up to a version; watches from before it get 410. @default every change */
  compact(version?: number): void;
  /**
   * Reports every object of every kind, then every change as it happens, to listeners in the process. @returns a
   * function that ends it.
   */
  follow(listener: (change: ObjectChange) => void): () => void;
  /** Ends the watches and closes the storage. */
  stop(): Promise<void>;
}

/** May do everything, like anyone who controls the process. */
export const administrator: UserInfo = {
  username: "kubernetes-admin",
  groups: ["system:masters", "system:authenticated"],
};

/** The connection of calls in the process. */
const inProcess: Connection = { certificate: administrator };

/** What the server learns about a request while it handles it. */
interface Passage {
  readonly connection: Connection;
  /** The flow into which it was classified. */
  flow: Flow | undefined;
}

/** Creates a server that does not listen. */
export function createApiServer(options: ApiServerOptions = {}): Promise<ApiServer> {
  return Promise.resolve(new EmbeddedServer(options));
}

class EmbeddedServer implements ApiServer {
  readonly #kernel: Kernel;
  readonly #impersonation: Impersonation;
  readonly #flows: Flows;
  readonly #address: string;
  readonly #admitsAnonymous: boolean;
  readonly #stopping = new AbortController();
  readonly #stopFollowing: () => void;
  readonly #stopExpiring: () => void;

  constructor(options: ApiServerOptions) {
    const now = options.now ?? Date.now;
    const journal = options.data === undefined ? undefined : new SqliteJournal(options.data, options.durable);
    const storage = new Storage({ journal, history: options.history, now });
    this.#address = options.address ?? "127.0.0.1:6443";
    this.#admitsAnonymous = options.admitsAnonymous ?? false;
    const { aggregatesRoles: aggregates = false } = options;
    const ranges = serviceRanges(options.services ?? {});
    bootstrap({ storage, now: timestamp(now()), port: Number(this.#address.split(":").at(-1)), ranges, aggregates });
    const registry = new KindRegistry(storage);
    const reader = registry.reader();
    const writer = { storage, registry, now };
    const authorizer = authorizerOf(options.authorization ?? ["RBAC"], new RbacAuthorizer(storage));
    this.#impersonation = new Impersonation(authorizer);
    this.#flows = new Flows(storage);
    this.#kernel = {
      storage,
      registry,
      reader,
      authorizer,
      ranges,
      admission: createAdmission({
        plugins: enabledPlugins(options),
        allowsPrivileged: options.allowsPrivileged ?? true,
        reader,
        setStatus: (resource, change) => writeStatus(writer, resource, change),
        kindOf: ({ apiVersion, kind }) =>
          registry.rows().find((row) => row.kind === kind && apiVersionOf(row) === apiVersion),
        equivalents: (row) => equivalentsOf(row, { registry, reader }),
        merge: (row, object, over) => {
          const schema = registry.get(row.group, row.version, row.plural)?.schema;
          return schema === undefined ? object : layOver(schema, object, over);
        },
      }),
      tokens: new TokenAuthority({
        secret: options.tokenSecret,
        accounts: options.accounts,
        users: options.users,
        reader,
        now,
      }),
      now,
      stopping: this.#stopping.signal,
    };
    this.#stopExpiring = expireEvents(storage, now, options.eventLifetime);
    const stops = [followDefinitions(writer), followConditions(writer)];
    if (aggregates) stops.push(followAggregation(writer));
    this.#stopFollowing = () => stops.forEach((stop) => stop());
  }

  async fetch(request: Request, connection: Connection = inProcess): Promise<Response> {
    const passage: Passage = { connection, flow: undefined };
    const answer = await this.#answerOrRefuse(request, passage);
    // Calls within the process do not look at these headers, which would take a tenth of the time.
    if (passage.flow !== undefined && connection !== inProcess) markFlow(answer, passage.flow);
    return request.method === "HEAD" ? new Response(null, answer) : answer;
  }

  async #answerOrRefuse(request: Request, passage: Passage): Promise<Response> {
    try {
      return await this.#answer(request, passage);
    } catch (error) {
      if (error instanceof StatusError) return answerStatus(request, error.status);
      const why = error instanceof Error ? (error.stack ?? error.message) : String(error);
      process.stderr.write(`apiserver: ${request.method} ${request.url}: ${why}\n`);
      const { status } = new StatusError(500, "InternalError", {
        message: `Internal error occurred: ${error instanceof Error ? error.message : String(error)}`,
      });
      return answerStatus(request, status);
    }
  }

  compact(version?: number): void {
    this.#kernel.storage.compact(version);
  }

  follow(listener: (change: ObjectChange) => void): () => void {
    return this.#kernel.storage.follow(({ type, stored, previous }) =>
      listener({ type, object: stored.object, old: previous?.object }),
    );
  }

  async stop(): Promise<void> {
    if (this.#stopping.signal.aborted) return;
    this.#stopping.abort();
    this.#stopFollowing();
    this.#stopExpiring();
    await this.#kernel.storage.settled();
    this.#kernel.storage.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  async #answer(request: Request, passage: Passage): Promise<Response> {
    const { connection } = passage;
    const url = new URL(request.url);
    const read = readUrl(url);
    if (read instanceof Response) return read;
    const { path, query } = read;
    const { registry } = this.#kernel;
    checkTimeout(query, () => attributesOf(request.method, read, administrator));
    const user = this.#authorized(request, read, passage);
    const target = parseTarget(path);
    const resource = target && registry.get(target.group, target.version, target.plural);
    if (target === undefined || resource === undefined) return this.#answerPath(request, { url, path });
    if (!resource.row.custom && (/^\.\.?$/.test(target.subresource) || (target.watchPath && target.subresource !== "")))
      throw noResource();
    checkName(target.name);
    if (target.rest !== "" && target.subresource !== "proxy") throw noResource();
    const warnings: string[] = [];
    const answer = async (): Promise<Response> => {
      const accept = this.#accepted({ request, target, resource }, warnings);
      return dispatch({ kernel: this.#kernel, request, query, target, resource, user, connection, accept, warnings });
    };
    return answer().catch((error: unknown) => {
      if (error instanceof StatusError)
        return answerStatus(request, error.status, isUnrouted(error) ? {} : { warnings });
      throw error;
    });
  }

  /** Negotiates the form of the answer. @throws StatusError 406; first of all 404 or 405 where a built-in kind has no route */
  #accepted(routed: Routed, warnings: string[]): Accepted {
    const { request, target, resource } = routed;
    const { custom } = resource.row;
    // Such a connection ends at another server, which chooses the form itself.
    if (!custom && isTunnel(target.subresource)) return plain;
    try {
      const forms: readonly Form[] = untabled.has(target.subresource)
        ? ["PartialObjectMetadata"]
        : ["Table", "PartialObjectMetadata"];
      return accepted(request.headers.get("accept"), forms, {
        served: servedAs(request, target, resource),
        protobuf: custom ? "metadata" : true,
      });
    } catch (error) {
      if (!custom) checkRouteFirst(routed);
      // The handler of a custom kind refuses these before it looks at the form.
      else if (!isCustomRouted(routed)) return plain;
      if (resource.deprecationWarning !== undefined) warnings.push(resource.deprecationWarning);
      throw error;
    }
  }

  /** Serves a path that does not name a resource. @throws StatusError */
  #answerPath(request: Request, { url, path }: { readonly url: URL; readonly path: string }): Response {
    const { registry, storage, tokens } = this.#kernel;
    const address = this.#address;
    // These are served for any method.
    const open =
      health(url, storage.problem) ??
      openApi(request, path, { registry, storage }) ??
      metrics(request, path, { registry, storage, flows: this.#flows }) ??
      pathList(request, path, registry);
    if (open !== undefined) return open;
    const own = openId(request, path, { tokens, address }) ?? about(request, path);
    if (own !== undefined) return own;
    const answer = discover(request, path, { registry, address });
    if (answer === undefined) return nothing(request, path, registry);
    if (request.method === "GET" || /^\/apis(\/[^/]*)?\/?$/.test(path)) return answer;
    throw methodNotAllowed();
  }

  /**
   * Returns the sender, or the user that it impersonates, after classifying and authorizing the request.
   *
   * @throws StatusError 401 or 403, whether or not the path is served.
   */
  #authorized(request: Request, { path, query }: ReadUrl, passage: Passage): UserInfo {
    const { tokens, authorizer } = this.#kernel;
    const { connection } = passage;
    const sender = identify(request, { tokens, connection, path, admitsAnonymous: this.#admitsAnonymous });
    let known: Attributes | undefined;
    const attributes = (): Attributes => (known ??= attributesOf(request.method, { path, query }, sender));
    const user = this.#impersonation.user(request.headers, attributes) ?? sender;
    passage.flow = this.#flows.classify(user, attributes);
    if (user.groups.includes(superusers)) return user;
    const question = { ...attributes(), user };
    const { allowed, reason } = authorizer.authorize(question);
    if (!allowed) throw accessForbidden(question, reason);
    return user;
  }
}

/** Subresources that have no tables. */
const untabled: ReadonlySet<string> = new Set(["resize", "ephemeralcontainers", "log", "approval", "finalize"]);

/** Whether a route rejected the request for its media type, so that it has no warnings. */
function isUnrouted({ status: { code, message = "" } }: StatusError): boolean {
  return (code === 415 && message.startsWith("415:")) || (code === 406 && message.startsWith("406:"));
}

function servedAs({ method }: Request, { name, watchPath }: Target, { row }: Resource): Served {
  if (row.custom) return "handler";
  return method === "GET" && (name === "" || watchPath) ? "listRoute" : "route";
}

/** Rejects names that would be steps of a path. @throws StatusError 400 */
function checkName(name: string): void {
  if (name === "." || name === "..") throw badRequest(`name may not be '${name}'`);
  if (name.includes("/")) throw badRequest("name may not contain '/'");
}
