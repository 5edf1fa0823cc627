/** Calls a webhook without a cluster, as unit tests of `default` and `validate` need it. */
import type { Client } from "../client/client.ts";
import { asDefinition } from "../module/brand.ts";
import type { WebhookDefinition } from "../module/define-webhook.ts";
import { createLog, type LogLevel } from "../observe/log.ts";
import { writeToStandardError } from "../observe/standard-streams.ts";
import type { StatusCause } from "../kube/errors/api-error.ts";
import { systemClock } from "../platform/clock.ts";
import type { AnyObject } from "../resource/handle.ts";
import { pluralOf } from "../resource/names.ts";
import { AdmissionMember } from "../webhook/admission-member.ts";
import type { AdmissionRequest, AdmissionStatus, Operation, UserInfo } from "../webhook/admission-review.ts";
import type { Collected } from "../webhook/admission-run.ts";
import { webhookName, type WebhookType } from "../webhook/declared-webhook.ts";
import type { AnyWebhook } from "../webhook/definition.ts";
import type { PatchOperation } from "../webhook/json-patch.ts";

/** An object in the form in which a client writes it; fields that the server adds may be omitted. */
export type AdmittedInput<T extends AnyObject> = Omit<T, "apiVersion" | "kind" | "metadata"> & {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata: Partial<T["metadata"]>;
};

export interface AdmitOptions<T extends AnyObject> {
  /** The operation. @default "UPDATE" with `old`, otherwise "CREATE" */
  readonly operation?: Operation;
  /** The stored object, for an update. */
  readonly old?: AdmittedInput<T>;
  /**
   * The user of the request. @default { username: "kubernetes-admin", groups: ["system:masters",
   * "system:authenticated"] }
   */
  readonly user?: UserInfo;
  /** The options of the operation, such as `{ fieldManager: "kubectl" }`. */
  readonly options?: Readonly<Record<string, unknown>>;
  /** @default false */
  readonly dryRun?: boolean;
  /** The client with which the webhook reads, such as `cluster.client`. @default none: using it is an error */
  readonly client?: Client;
  /** Milliseconds after which the call is given up. @default the webhook's `timeoutSeconds` */
  readonly timeout?: number;
  /** The lowest level of the webhook's log that appears on standard error. @default "warn" */
  readonly show?: LogLevel | "none";
}

interface AdmissionNotes {
  readonly warnings: readonly string[];
  readonly auditAnnotations: Readonly<Record<string, string>>;
}

/** The answer that the API server would get. */
export type Admission<T extends AnyObject> = AdmissionNotes &
  (
    | {
        readonly allowed: true;
        /** The object after `default`. */
        readonly object: T;
        /** The changes of `default`, as the API server receives them. */
        readonly patch: readonly PatchOperation[];
      }
    | {
        readonly allowed: false;
        readonly code: number;
        readonly reason: string | undefined;
        readonly message: string;
        readonly causes: readonly StatusCause[];
      }
  );

const MILLISECONDS = 1_000;
const DEFAULT_SECONDS = 10;
const ADMINISTRATOR: UserInfo = { username: "kubernetes-admin", groups: ["system:masters", "system:authenticated"] };

/**
 * Calls a webhook for an object as the API server does: first `default`, then `validate` with its result. Nothing is
 * sent anywhere, and the schema of the kind is neither applied nor checked.
 *
 * @throws TypeError when the definition is not a webhook, or does not handle the operation.
 * @example
 * const answer = await admit(guestbookPolicy, { metadata: { name: "a" }, spec: { message: "hello" } });
 * expect(answer).toMatchObject({ allowed: true, patch: [{ op: "add", path: "/metadata/labels" }] });
 */
export async function admit<T extends AnyObject>(
  definition: WebhookDefinition<T>,
  object: AdmittedInput<T>,
  options: AdmitOptions<T> = {},
): Promise<Admission<T>> {
  const webhook = webhookOf(definition);
  const collected: Collected = { warnings: [], annotations: new Map() };
  const request = requestOf(webhook, object, options);
  const members = membersOf(webhook, options).filter((member) => member.handles(request.operation));
  if (members.length === 0) {
    throw new TypeError(
      `Cannot ask webhook '${webhookName(webhook)}' about ${request.operation}: add it to its 'operations'`,
    );
  }
  const { timeout = (webhook.timeoutSeconds ?? DEFAULT_SECONDS) * MILLISECONDS } = options;
  const deadline = systemClock.now() + timeout;
  const patch: PatchOperation[] = [];
  let current = request.operation === "DELETE" ? request.oldObject : request.object;
  for (const member of members) {
    const decision = await member.ask(request, current, { collected, deadline });
    if (decision.refused !== undefined) return { ...notes(collected), allowed: false, ...refusal(decision.refused) };
    current = decision.object;
    patch.push(...decision.patch);
  }
  return { ...notes(collected), allowed: true, object: current as T, patch };
}

function webhookOf(definition: unknown): AnyWebhook {
  const defined = asDefinition(definition);
  if (defined?.type === "webhook") return defined.webhook;
  throw new TypeError("Cannot admit: the first argument is not what defineWebhook returns");
}

function membersOf(
  webhook: AnyWebhook,
  { client, show = "warn" }: Pick<AdmitOptions<AnyObject>, "client" | "show">,
): readonly AdmissionMember[] {
  const name = webhookName(webhook);
  const write = show === "none" ? () => {} : writeToStandardError;
  const scope = {
    name,
    webhook,
    clientOf: () => client ?? noClient(name),
    log: createLog({ level: show === "none" ? "error" : show, format: "pretty", write }),
  };
  const types: WebhookType[] = [];
  if (webhook.default !== undefined) types.push("mutating");
  if (webhook.validate !== undefined) types.push("validating");
  return types.map(
    (type) =>
      new AdmissionMember(type, {
        scope,
        invoke: (call) => call(),
        clock: systemClock,
        freeze: true,
        results: { count: () => {}, expect: () => {} },
        onPanic: () => {},
      }),
  );
}

function noClient(name: string): never {
  throw new Error(`webhook '${name}' uses its client: give admit() one, such as { client: cluster.client }`);
}

function requestOf<T extends AnyObject>(
  webhook: AnyWebhook,
  object: AdmittedInput<T>,
  {
    old,
    operation = old === undefined ? "CREATE" : "UPDATE",
    user = ADMINISTRATOR,
    options = {},
    dryRun = false,
  }: AdmitOptions<T>,
): AdmissionRequest {
  const { for: resource, subresource } = webhook;
  const filled = (object: AdmittedInput<T>): unknown =>
    resource === undefined ? object : { apiVersion: resource.apiVersion, kind: resource.kind, ...object };
  const { apiVersion = "", kind = "" } = filled(object) as { apiVersion?: string; kind?: string };
  const [version = "", group = ""] = apiVersion.split("/").toReversed();
  const { name, namespace } = object.metadata as { name?: string; namespace?: string };
  const isDelete = operation === "DELETE";
  return structuredClone({
    uid: crypto.randomUUID(),
    kind: { group, version, kind },
    resource: { group, version, resource: resource?.plural ?? pluralOf(kind.toLowerCase()) },
    subResource: subresource,
    name,
    namespace,
    operation,
    userInfo: user,
    object: isDelete ? undefined : filled(object),
    oldObject: isDelete ? filled(object) : old === undefined ? undefined : filled(old),
    dryRun,
    options,
  });
}

function refusal({ code, reason, message = "", details }: AdmissionStatus) {
  return { code, reason, message, causes: details?.causes ?? [] };
}

function notes({ warnings, annotations }: Collected): AdmissionNotes {
  return {
    warnings: warnings.map(String),
    auditAnnotations: Object.fromEntries([...annotations].map(([key, value]) => [key, String(value)])),
  };
}
