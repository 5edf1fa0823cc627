/** The options of `defineWebhook`, and the context of its functions. */
import type { Client } from "../client/client.ts";
import type { Permission } from "../controller/definition.ts";
import type { Target } from "../controller/watch.ts";
import type { UseService } from "../reconcile/services.ts";
import type { Logger } from "../reconcile/context.ts";
import type { LabelSelector } from "../resource/builtin/meta.ts";
import type { AnyObject, Resource, Shape } from "../resource/handle.ts";
import type { Draft } from "../resource/meta.ts";
import type { AdmissionRequest, Operation, UserInfo } from "./admission-review.ts";

/** The requests for which a webhook without `for` is called, in the words of `admissionregistration.k8s.io`. */
export interface AdmissionRule {
  /** The groups; `["*"]` for all, `[""]` for the core group. */
  readonly apiGroups: readonly string[];
  readonly apiVersions: readonly string[];
  /** The plurals, such as `["pods", "pods/exec", "deployments/*"]`. */
  readonly resources: readonly string[];
  /** @default the webhook's `operations` */
  readonly operations?: readonly (Operation | "*")[];
  /** @default "*" */
  readonly scope?: "Cluster" | "Namespaced" | "*";
}

/** A CEL expression that must be true for the webhook to be called. */
export interface MatchCondition {
  readonly name: string;
  readonly expression: string;
}

/** The arguments of `default` and `validate` besides the object. */
export interface AdmissionContext<T> {
  readonly operation: Operation;
  /** The stored object, for an update. */
  readonly old: T | undefined;
  /** Who sent the request to the API server. */
  readonly user: UserInfo;
  /** The options of the operation, such as `{ kind: "CreateOptions", fieldManager: "kubectl" }`. */
  readonly options: Readonly<Record<string, unknown>>;
  /** Whether the request stores nothing. Then writes of `client` are dry runs too. */
  readonly dryRun: boolean;
  /** The API server's request, unchanged. */
  readonly request: AdmissionRequest;
  /**
   * Reads the kinds in `reads` from shared caches and everything else from the server. It writes only if
   * `sideEffects` allows that, and never after the response.
   */
  readonly client: Client;
  /** Returns a service of a plugin. The call fails if no module provides it when it is used. */
  readonly service: UseService;
  readonly log: Logger;
  /** Fires shortly before the API server stops waiting, and when the module must leave. */
  readonly signal: AbortSignal;
  /** Adds a warning that clients such as kubectl print, whether or not the request is allowed. */
  readonly warn: (message: string) => void;
  /** Adds an annotation to the request's audit event; the API server puts the webhook's name before the key. */
  readonly audit: (key: string, value: string) => void;
}

/** The object of a webhook: one of its kind, or of a subresource with its own kind. */
export type Admitted<S extends Shape, Sub extends string> = [Sub] extends [never]
  ? S["read"]
  : [Sub] extends ["status"]
    ? S["read"]
    : AnyObject & Readonly<Record<string, unknown>>;

/** The shape of untyped objects, which a webhook with `rules` gets. */
export interface UntypedShape extends Shape {
  readonly read: AnyObject & Readonly<Record<string, unknown>>;
}

/** The options of `defineWebhook`. Options of the registration have Kubernetes' names. */
export interface WebhookOptions<S extends Shape, Sub extends string> {
  /**
   * The name in responses of the API server, in logs, and as the field manager of `client`. Two webhooks for one kind
   * run one after the other at one path; a webhook with a name has its own path and registration.
   *
   * @default the kind in lower case
   */
  readonly name?: string;
  /** The kind for which the webhook is called; `rules` names any resources instead. */
  readonly for?: Resource<S>;
  /** The subresource: `"status"`, `"scale"`, `"exec"` (with `["CONNECT"]`). @default the objects themselves */
  readonly subresource?: Sub;
  /** Any resources instead of `for`; their objects are untyped. It requires a `name`. */
  readonly rules?: readonly AdmissionRule[];
  /** The operations; `default` is not called for DELETE. @default ["CREATE", "UPDATE"] */
  readonly operations?: readonly Operation[];
  readonly objectSelector?: LabelSelector;
  readonly namespaceSelector?: LabelSelector;
  readonly matchConditions?: readonly MatchCondition[];
  /** With `Equivalent` the webhook also receives requests in other versions, converted. @default "Equivalent" */
  readonly matchPolicy?: "Exact" | "Equivalent";
  /** The effect on requests when the webhook is not available. @default "Fail" */
  readonly failurePolicy?: "Fail" | "Ignore";
  /** Calls `default` again when a later webhook changed the object. @default "Never" */
  readonly reinvocationPolicy?: "Never" | "IfNeeded";
  /** How many seconds the API server waits for a response, from 1 to 30. @default 10 */
  readonly timeoutSeconds?: number;
  /** With `NoneOnDryRun`, `client` may write. @default "None" */
  readonly sideEffects?: "None" | "NoneOnDryRun";
  /** Kinds that `client` reads from shared caches. */
  readonly reads?: readonly Target<Shape>[];
  /** Calls of `client` outside of `reads`, for `manifests rbac`. */
  readonly uses?: readonly Permission[];
  /** Changes the draft; the API server gets the differences as a JSON patch. Throw `Denied` to reject. */
  default?(draft: Draft<Admitted<S, Sub>>, context: AdmissionContext<Admitted<S, Sub>>): void | Promise<void>;
  /** Rejects the request by throwing `Denied`. For a deletion it gets the object to be deleted. */
  validate?(object: Admitted<S, Sub>, context: AdmissionContext<Admitted<S, Sub>>): void | Promise<void>;
}

/** A webhook of any kind, in the form in which it is handled at run time. */
export type AnyWebhook = WebhookOptions<UntypedShape, never>;
