/** `defineWebhook` checks its options when the module is loaded; the webhook stays inert until a registry serves it. */
import type { Shape } from "../resource/handle.ts";
import { operationsOf } from "../webhook/declared-webhook.ts";
import type { Admitted, AnyWebhook, UntypedShape, WebhookOptions } from "../webhook/definition.ts";
import { branded } from "./brand.ts";
import { mustBeObject, permission, subject } from "./define.ts";
import type { Definition } from "./definition.ts";
import * as is from "./option-table.ts";

declare const admitted: unique symbol;

/** The result of `defineWebhook`, which remembers the type of the objects for `"binnacle/testing"`. */
export interface WebhookDefinition<out T> extends Definition {
  readonly [admitted]: T;
}

const operation = is.isOneOf(["CREATE", "UPDATE", "DELETE", "CONNECT"]);

const rule: readonly is.Option[] = [
  { name: "apiGroups", required: true, check: is.isFilledListOf(is.isText) },
  { name: "apiVersions", required: true, check: is.isFilledListOf(is.isText) },
  { name: "resources", required: true, check: is.isFilledListOf(is.isText) },
  { name: "operations", check: is.isFilledListOf(is.isOneOf(["CREATE", "UPDATE", "DELETE", "CONNECT", "*"])) },
  { name: "scope", check: is.isOneOf(["Cluster", "Namespaced", "*"]) },
];

const condition: readonly is.Option[] = [
  { name: "name", required: true, check: is.isText },
  { name: "expression", required: true, check: is.isText },
];

const requirement: readonly is.Option[] = [
  { name: "key", required: true, check: is.isText },
  { name: "operator", required: true, check: is.isOneOf(["In", "NotIn", "Exists", "DoesNotExist"]) },
  { name: "values", check: is.isListOf(is.isText) },
];

const selector: readonly is.Option[] = [
  { name: "matchLabels", check: is.isRecordOfText },
  { name: "matchExpressions", check: is.isListOf(is.isObjectOf(requirement)) },
];

/** The longest timeout of kube-apiserver. */
const MOST_SECONDS = 30;

const options: readonly is.Option[] = [
  { name: "name", check: is.isName },
  { name: "for", check: is.isKindHandle },
  { name: "subresource", check: is.isText },
  { name: "rules", check: is.isFilledListOf(is.isObjectOf(rule)) },
  { name: "operations", check: is.isFilledListOf(operation) },
  { name: "objectSelector", check: is.isObjectOf(selector) },
  { name: "namespaceSelector", check: is.isObjectOf(selector) },
  { name: "matchConditions", check: is.isListOf(is.isObjectOf(condition)) },
  { name: "matchPolicy", check: is.isOneOf(["Exact", "Equivalent"]) },
  { name: "failurePolicy", check: is.isOneOf(["Fail", "Ignore"]) },
  { name: "reinvocationPolicy", check: is.isOneOf(["Never", "IfNeeded"]) },
  { name: "timeoutSeconds", check: is.isWholeNumber(1, MOST_SECONDS) },
  { name: "sideEffects", check: is.isOneOf(["None", "NoneOnDryRun"]) },
  { name: "reads", check: is.isListOf(is.isTarget) },
  { name: "uses", check: is.isListOf(permission) },
  { name: "default", check: is.isFunction },
  { name: "validate", check: is.isFunction },
];

/**
 * Defines an admission webhook: `default` completes objects before they are stored, `validate` refuses them by throwing
 * `Denied`.
 *
 * The binary serves it under kubebuilder's paths. Every replica answers, whether it leads or not. What the code throws,
 * other than `Denied` and errors of the API server, is answered as an error 500 and counted.
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
  mustBeObject(webhook, "defineWebhook");
  const what = subject("webhook", webhook);
  is.checkOptions(webhook, { subject: what, table: options });
  const checked = Object.freeze({ ...webhook }) as unknown as AnyWebhook;
  const problem = problemOf(checked);
  if (problem !== undefined) throw new TypeError(`Cannot define ${what}: ${problem}`);
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
