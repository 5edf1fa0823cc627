/** Runs modules as a service account that may do exactly what `manifests rbac` prints for them. */
import type { Permissions } from "../client/permissions.ts";
import { permissionsOf } from "../module/module-definitions.ts";
import { isAlreadyExists, isNotFound } from "../kube/errors/api-error.ts";
import type { ClusterConfig } from "../kube/config/cluster-config.ts";
import { createTransport, type Transport } from "../kube/transport/transport.ts";
import type { LoadedModule } from "../module/loaded-module.ts";
import { type Leases, namespaceManifest, rbacManifests, type ServiceAccount } from "../module/rbac-manifests.ts";
import { type Clock, sleep } from "../platform/clock.ts";

export interface AccessOptions {
  readonly account: ServiceAccount;
  /** The account that writes the roles. */
  readonly administrator: ClusterConfig;
  /** The Leases with which the account elects a leader. @default none */
  readonly leases?: Leases | undefined;
  /**
   * Whether to create the account and its namespace too, so that users can see them and request tokens.
   *
   * @default false
   */
  readonly makes?: boolean | undefined;
}

interface Around {
  /** The namespaces of controllers that declare none; empty for all. */
  readonly namespaces: readonly string[];
  readonly clock: Clock;
}

/** A role or a binding from `rbacManifests`. */
interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
  readonly rules?: readonly {
    readonly apiGroups: readonly string[];
    readonly resources: readonly string[];
    readonly resourceNames?: readonly string[];
    readonly verbs: readonly string[];
  }[];
}

/**
 * Milliseconds that a server may take until grants take effect; a server with several replicas learns of them through
 * watches.
 */
const LEARNED_WITHIN = 5_000;
const ASK_EVERY = 10;

export class AccountAccess {
  readonly #account: ServiceAccount;
  readonly #leases: Leases | undefined;
  /** The account and its namespace, until they have been created. */
  #unmade: readonly (readonly [collection: string, manifest: object])[];
  readonly #transport: Transport;
  /** Revokes permissions that only a replaced version has declared. */
  #narrowing: Promise<void> | undefined;
  readonly #around: Around;
  /** The permissions of each module that runs or is about to start. */
  readonly #declared = new Map<string, readonly Permissions[]>();
  /** The manifests on the server, as JSON, by path. */
  readonly #granted = new Map<string, string>();
  /** Manifests for namespaces that do not exist yet, by path. */
  readonly #waiting = new Map<string, Manifest>();
  /** Settles when the last change is done; the next one waits for it. */
  #last: Promise<unknown> = Promise.resolve();

  constructor({ account, administrator, leases, makes = false }: AccessOptions, around: Around) {
    this.#account = account;
    this.#leases = leases;
    this.#unmade = makes ? accountManifests(account) : [];
    this.#around = around;
    this.#transport = createTransport(administrator, { clock: around.clock, userAgent: "binnacle" });
  }

  /**
   * Starts a module with the permissions that it declares.
   *
   * @param ended resolves when the version that it replaces has ended, which keeps its permissions until then.
   * @default at once
   * @throws the error of `start`; then everything is as it was before.
   */
  async run(
    module: LoadedModule,
    start: () => Promise<void>,
    ended: () => Promise<void> = () => Promise.resolve(),
  ): Promise<void> {
    const { name, definitions } = module;
    const own = permissionsOf(definitions);
    const before = this.#declared.get(name);
    const settle = async (permissions: readonly Permissions[] | undefined): Promise<void> => {
      if (permissions === undefined) this.#declared.delete(name);
      else this.#declared.set(name, permissions);
      await this.#grant();
    };
    const both = [...(before ?? []), ...own];
    await settle(both);
    try {
      await start();
    } catch (error) {
      await settle(before);
      throw error;
    }
    if (before === undefined) return;
    const narrow = async (): Promise<void> => {
      await ended();
      if (this.#declared.get(name) === both) await settle(own);
    };
    // If this fails, the account may do more than it needs until the next change.
    this.#narrowing = narrow().catch(() => {});
  }

  /** Revokes the permissions that only this module declared. */
  async leave(name: string): Promise<void> {
    if (this.#declared.delete(name)) await this.#grant();
  }

  /**
   * Returns the account's access to the server: a request that is refused for a new namespace gets its permissions,
   * and is sent again.
   */
  through(config: ClusterConfig): ClusterConfig {
    const { answer } = config;
    if (answer === undefined) return config;
    return {
      ...config,
      headers: (signal) => config.headers(signal),
      reload: () => config.reload(),
      answer: async (request) => {
        if (this.#waiting.size === 0) return answer(request);
        const again = request.clone();
        const response = await answer(request);
        if (response.status !== 403 || !(await this.#grantWaiting())) return response;
        await response.body?.cancel();
        return answer(again);
      },
    };
  }

  async close(): Promise<void> {
    await this.#narrowing;
    await this.#transport.close();
  }

  /** Writes the manifests that differ from the last write. */
  #grant(): Promise<void> {
    return this.#inTurn(async () => {
      for (const [path, body] of this.#unmade) await this.#post(path, body);
      this.#unmade = [];
      const { namespaces } = this.#around;
      const permissions = [...this.#declared.values()].flat();
      const options = { account: this.#account, namespaces, leases: this.#leases };
      const manifests = rbacManifests(permissions, options) as readonly Manifest[];
      const paths = new Set(manifests.map(pathOf));
      for (const path of [...this.#granted.keys(), ...this.#waiting.keys()]) {
        if (!paths.has(path)) await this.#revoke(path);
      }
      await this.#writeAll(manifests.filter((one) => this.#granted.get(pathOf(one)) !== JSON.stringify(one)));
    });
  }

  /** Writes waiting manifests. @returns whether a namespace now exists for which something waited. */
  #grantWaiting(): Promise<boolean> {
    return this.#inTurn(() => this.#writeAll(this.#waiting.values()));
  }

  /** Writes manifests, and waits until they are in force. @returns whether any of them exists now. */
  async #writeAll(manifests: Iterable<Manifest>): Promise<boolean> {
    const grants: Manifest[] = [];
    for (const one of manifests) if (await this.#write(one)) grants.push(one);
    for (const one of grants) await this.#learned(one);
    return grants.length > 0;
  }

  /** Writes a manifest. @returns whether it exists now; its namespace may not. */
  async #write(manifest: Manifest): Promise<boolean> {
    const path = pathOf(manifest);
    try {
      await this.#create(manifest, path);
    } catch (error) {
      if (!isNotFound(error)) throw error;
      this.#waiting.set(path, manifest);
      return false;
    }
    this.#waiting.delete(path);
    this.#granted.set(path, JSON.stringify(manifest));
    return true;
  }

  async #create(manifest: Manifest, path: string): Promise<void> {
    const collection = path.slice(0, path.lastIndexOf("/"));
    if (!this.#granted.has(path) && (await this.#post(collection, manifest))) return;
    await this.#transport.request({
      method: "PATCH",
      path,
      query: "fieldManager=binnacle&force=true",
      contentType: "application/apply-patch+yaml",
      body: manifest,
    });
  }

  /** Creates an object. @returns whether it did not exist. */
  async #post(path: string, body: object): Promise<boolean> {
    try {
      await this.#transport.request({ method: "POST", path, body });
      return true;
    } catch (error) {
      if (isAlreadyExists(error)) return false;
      throw error;
    }
  }

  async #revoke(path: string): Promise<void> {
    this.#waiting.delete(path);
    if (!this.#granted.delete(path)) return;
    try {
      await this.#transport.request({ method: "DELETE", path });
    } catch (error) {
      if (!isNotFound(error)) throw error; // its namespace is gone
    }
  }

  /** Polls SubjectAccessReview until a new role is enforced; a request sent sooner is refused and backs off. */
  async #learned({ rules, metadata: { namespace } }: Manifest): Promise<void> {
    const rule = rules?.at(-1);
    if (rule === undefined) return;
    const [, resource, subresource] = /^([^/]*)\/?(.*)$/s.exec(rule.resources[0] ?? "") ?? [];
    const { name: account, namespace: of } = this.#account;
    const body = {
      apiVersion: "authorization.k8s.io/v1",
      kind: "SubjectAccessReview",
      spec: {
        user: `system:serviceaccount:${of}:${account}`,
        resourceAttributes: {
          namespace,
          group: rule.apiGroups[0],
          resource,
          subresource,
          name: rule.resourceNames?.[0],
          verb: rule.verbs.at(-1),
        },
      },
    };
    const path = "/apis/authorization.k8s.io/v1/subjectaccessreviews";
    const { clock } = this.#around;
    for (const deadline = clock.now() + LEARNED_WITHIN; clock.now() < deadline; await sleep(ASK_EVERY, { clock })) {
      type Review = { readonly status: { readonly allowed: boolean } };
      const { status } = await this.#transport.request<Review>({ method: "POST", path, body });
      if (status.allowed) return;
    }
  }

  #inTurn<T>(step: () => Promise<T>): Promise<T> {
    const result = this.#last.then(step);
    this.#last = result.catch(() => {});
    return result;
  }
}

function accountManifests({ namespace, name }: ServiceAccount): readonly (readonly [string, object])[] {
  return [
    ...namespaceManifest(namespace).map((one) => ["/api/v1/namespaces", one] as const),
    [
      `/api/v1/namespaces/${namespace}/serviceaccounts`,
      { apiVersion: "v1", kind: "ServiceAccount", metadata: { name, namespace } },
    ],
  ];
}

function pathOf({ apiVersion, kind, metadata: { name, namespace } }: Manifest): string {
  const place = namespace === undefined ? "" : `namespaces/${namespace}/`;
  return `/apis/${apiVersion}/${place}${kind.toLowerCase()}s/${name}`;
}
