/** `defineWebhook` checks its options when the module is loaded; the webhook stays inert until a registry serves it. */
import type { Shape } from "../resource/handle.ts";
import { operationsOf } from "../webhook/declared-webhook.ts";
import type { Admitted, AnyWebhook, UntypedShape, WebhookOptions } from "../webhook/definition.ts";
import { branded } from "./brand.ts";
import type { Definition } from "./definition.ts";
import * as check from "./option-checks.ts";

declare const admitted: unique symbol;

/** The result of `defineWebhook`, which remembers the type of the objects for `"binnacle/testing"`. */
export interface WebhookDefinition<out T> extends Definition {
  readonly [admitted]: T;
}

const operation = check.oneOf(["CREATE", "UPDATE", "DELETE", "CONNECT"]);

const rule: check.OptionTable = {
  apiGroups: check.required(check.filledListOf(check.text)),
  apiVersions: check.required(check.filledListOf(check.text)),
  resources: check.required(check.filledListOf(check.text)),
  operations: check.filledListOf(check.oneOf(["CREATE", "UPDATE", "DELETE", "CONNECT", "*"])),
  scope: check.oneOf(["Cluster", "Namespaced", "*"]),
};

const condition: check.OptionTable = {
  name: check.required(check.text),
  expression: check.required(check.text),
};

const requirement: check.OptionTable = {
  key: check.required(check.text),
  operator: check.required(check.oneOf(["In", "NotIn", "Exists", "DoesNotExist"])),
  values: check.listOf(check.text),
};

const selector: check.OptionTable = {
  matchLabels: check.recordOf(check.text),
  matchExpressions: check.listOf(check.objectOf(requirement)),
};

/** The longest timeout of kube-apiserver. */
const MOST_SECONDS = 30;

const options: check.OptionTable = {
  name: check.name,
  for: check.kind,
  subresource: check.text,
  rules: check.filledListOf(check.objectOf(rule)),
  operations: check.filledListOf(operation),
  objectSelector: check.objectOf(selector),
  namespaceSelector: check.objectOf(selector),
  matchConditions: check.listOf(check.objectOf(condition)),
  matchPolicy: check.oneOf(["Exact", "Equivalent"]),
  failurePolicy: check.oneOf(["Fail", "Ignore"]),
  reinvocationPolicy: check.oneOf(["Never", "IfNeeded"]),
  timeoutSeconds: check.wholeNumber(1, MOST_SECONDS),
  sideEffects: check.oneOf(["None", "NoneOnDryRun"]),
  reads: check.listOf(check.target),
  uses: check.listOf(check.permission),
  default: check.callback,
  validate: check.callback,
};

/**
 * Defines an admission webhook: `default` completes objects before they are stored, `validate` refuses them by throwing
 * `Denied`.
 *
 * The binary serves it under kubebuilder's paths. Every replica answers, whether it leads or not. Errors other than
 * `Denied` and those of the API server are answered with status 500 and counted.
 *
 * @throws TypeError that names a wrong option and its value.
 * @example
 * export const guestbookPolicy = defineWebhook({
 *   for: Guestbook,
 *   default(draft) {
 *     draft.metadata.labels = { ...draft.metadata.labels, team: "web" };
 *   },
 *   validate(guestbook, { old }) {
 *     if (old !== undefined && old.spec.message !== guestbook.spec.message) {
 *       throw new Denied("the message is fixed", { fields: { "spec.message": "cannot change" } });
 *     }
 *   },
 * });
 * @see https://kubernetes.io/docs/reference/access-authn-authz/extensible-admission-controllers/
 */
export function defineWebhook<S extends Shape = UntypedShape, const Sub extends string = never>(
  webhook: WebhookOptions<S, Sub>,
): WebhookDefinition<Admitted<S, Sub>> {
  const subject = check.checkOptions(webhook, { call: "defineWebhook", what: "webhook", table: options });
  const checked = Object.freeze({ ...webhook }) as unknown as AnyWebhook;
  const problem = problemOf(checked);
  if (problem !== undefined) throw new TypeError(`Cannot define ${subject}: ${problem}`);
  return branded({ type: "webhook", webhook: checked }) as WebhookDefinition<Admitted<S, Sub>>;
}

/** Returns a conflict between options that are valid by themselves. */
function problemOf(webhook: AnyWebhook): string | undefined {
  const { for: resource, rules, subresource, name } = webhook;
  if ((resource === undefined) === (rules === undefined)) {
    return "it needs either 'for', the kind that it is asked about, or 'rules'";
  }
  if (rules !== undefined && name === undefined) return "option 'name' is missing: with 'rules' nothing else names it";
  if (rules !== undefined && subresource !== undefined) {
    return "option 'subresource' goes with 'for': in 'rules' write resources such as 'pods/exec'";
  }
  if (webhook.default === undefined && webhook.validate === undefined) {
    return "it has neither 'default' nor 'validate'";
  }
  if (webhook.default === undefined && webhook.reinvocationPolicy !== undefined) {
    return "option 'reinvocationPolicy' goes with 'default'";
  }
  if (webhook.default !== undefined && operationsOf(webhook, "mutating").length === 0) {
    return "option 'operations' has only DELETE, for which 'default' is never called: add CREATE or UPDATE";
  }
  if (resource !== undefined && subresource === undefined && webhook.operations?.includes("CONNECT")) {
    return "option 'operations' has CONNECT, which only subresources have: add 'subresource', such as 'exec'";
  }
  return undefined;
}
