/** What an author writes: the options of `defineWebhook`, and the context of its functions. */
import type { Client } from "../client/client.ts";
import type { Permission } from "../controller/definition.ts";
import type { Target } from "../controller/watch.ts";
import type { Logger } from "../reconcile/context.ts";
import type { LabelSelector } from "../resource/builtin/meta.ts";
import type { AnyObject, Resource, Shape } from "../resource/handle.ts";
import type { Draft } from "../resource/meta.ts";
import type { AdmissionRequest, Operation, UserInfo } from "./admission-review.ts";

/** Which requests a webhook without `for` is asked about, in the words of `admissionregistration.k8s.io`. */
export interface AdmissionRule {
  /** `["*"]` for all, `[""]` for the core group. */
  readonly apiGroups: readonly string[];
  readonly apiVersions: readonly string[];
  /** Plurals, such as `["pods", "pods/exec", "deployments/*"]`. */
  readonly resources: readonly string[];
  /** @default the webhook's `operations` */
  readonly operations?: readonly (Operation | "*")[];
  /** @default "*" */
  readonly scope?: "Cluster" | "Namespaced" | "*";
}

/** A CEL expression that has to be true for the webhook to be asked. */
export interface MatchCondition {
  readonly name: string;
  readonly expression: string;
}

/** What `default` and `validate` get beside the object. */
export interface AdmissionContext<T> {
  readonly operation: Operation;
  /** On an update, the object as it is stored. */
  readonly old: T | undefined;
  /** Who sent the request to the API server. */
  readonly user: UserInfo;
  /** The options of the operation, such as `{ kind: "CreateOptions", fieldManager: "kubectl" }`. */
  readonly options: Readonly<Record<string, unknown>>;
  /** The request stores nothing. What `client` writes during it is a dry run too. */
  readonly dryRun: boolean;
  /** The question of the API server, as it was sent. */
  readonly request: AdmissionRequest;
  /**
   * Reads the kinds in `reads` from shared caches and everything else from the server. It writes only where `sideEffects`
   * says so, and nothing after the answer.
   */
  readonly client: Client;
  readonly log: Logger;
  /**
   * Fires shortly before the API server stops waiting: the webhook then answers with an error by itself. It fires too when
   * the module has to leave.
   */
  readonly signal: AbortSignal;
  /** Adds a warning that clients such as kubectl print, whether the request is allowed or not. */
  readonly warn: (message: string) => void;
  /** Adds an annotation to the audit event of the request; the API server puts the webhook's name before the key. */
  readonly audit: (key: string, value: string) => void;
}

/** The object of a webhook: that of the kind, or of a subresource with an object of another kind. */
export type Admitted<S extends Shape, Sub extends string> = [Sub] extends [never]
  ? S["read"]
  : [Sub] extends ["status"]
    ? S["read"]
    : AnyObject & Readonly<Record<string, unknown>>;

/** The shape of objects of which nothing is known: those of a webhook with `rules`. */
export interface UntypedShape extends Shape {
  readonly read: AnyObject & Readonly<Record<string, unknown>>;
}

/** The options of `defineWebhook`. Those of the registration have the names that Kubernetes gives them. */
export interface WebhookOptions<S extends Shape, Sub extends string> {
  /**
   * Appears in the answers of the API server, in logs, and as the field manager of `client`. Two webhooks for one kind run one
   * after the other behind one path; with a name a webhook gets a path and a registration of its own.
   *
   * @default the kind in lower case
   */
  readonly name?: string;
  /** The kind that it is asked about; `rules` instead names any resources. */
  readonly for?: Resource<S>;
  /** Such as `"status"`, `"scale"` or, with `operations: ["CONNECT"]`, `"exec"`. @default the objects themselves */
  readonly subresource?: Sub;
  /** Instead of `for`: any resources, whose objects are untyped. Needs a `name`. */
  readonly rules?: readonly AdmissionRule[];
  /** `default` is not asked about DELETE. @default ["CREATE", "UPDATE"] */
  readonly operations?: readonly Operation[];
  readonly objectSelector?: LabelSelector;
  readonly namespaceSelector?: LabelSelector;
  readonly matchConditions?: readonly MatchCondition[];
  /** `Equivalent` sees requests in other versions of the kind too, converted. @default "Equivalent" */
  readonly matchPolicy?: "Exact" | "Equivalent";
  /** What happens to requests while nobody answers. @default "Fail" */
  readonly failurePolicy?: "Fail" | "Ignore";
  /** Asks `default` again when a later webhook changed the object. @default "Never" */
  readonly reinvocationPolicy?: "Never" | "IfNeeded";
  /** How long the API server waits for an answer, from 1 to 30. @default 10 */
  readonly timeoutSeconds?: number;
  /** `NoneOnDryRun` lets `client` write. @default "None" */
  readonly sideEffects?: "None" | "NoneOnDryRun";
  /** Kinds that `client` reads from shared caches. */
  readonly reads?: readonly Target<Shape>[];
  /** Calls of `client` outside of `reads`, for `manifests rbac`. */
  readonly uses?: readonly Permission[];
  /** Changes the draft; what differs afterwards goes to the API server as a JSON patch. Throw `Denied` to refuse. */
  default?(draft: Draft<Admitted<S, Sub>>, context: AdmissionContext<Admitted<S, Sub>>): void | Promise<void>;
  /** Refuses by throwing `Denied`. On a delete the object is the one that is to be deleted. */
  validate?(object: Admitted<S, Sub>, context: AdmissionContext<Admitted<S, Sub>>): void | Promise<void>;
}

/** A webhook of any kind, as the run time handles it. */
export type AnyWebhook = WebhookOptions<UntypedShape, never>;
