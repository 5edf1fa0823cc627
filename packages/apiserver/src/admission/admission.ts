/** Admission: plugins, policies and webhooks that complete objects or reject them, as kube-apiserver enables them by default. */
import { deepEquals } from "#platform/equality";
import type { Admission, AdmissionAttributes, AdmissionOptions } from "../hooks.ts";
import { storedForm } from "../schema/kube-object.ts";
import { builtInPlugins } from "./built-in.ts";
import { applyPolicies } from "./policies/mutating.ts";
import { policiesOf } from "./policies/policy.ts";
import { checkPolicies } from "./policies/validating.ts";
import { refusePrivileged } from "./privileged.ts";
import { bookings } from "./quota/resource-quota.ts";
import { webhooksOf } from "./webhook.ts";
import { askMutating, askValidating } from "./webhooks.ts";

/** Runs the built-in plugins first, then policies, then webhooks, then quotas. */
export function createAdmission(options: AdmissionOptions): Admission {
  const { reader, setStatus, equivalents, plugins } = options;
  const builtIn = builtInPlugins(options);
  const book = (attributes: AdmissionAttributes): void => {
    if (!plugins.has("ResourceQuota")) return;
    for (const { quota, status } of bookings(attributes)) {
      if (!attributes.context.dryRun) setStatus({ group: "", plural: "resourcequotas" }, { object: quota, status });
    }
  };
  return {
    plugins,
    mutate(attributes) {
      builtIn.mutate(attributes);
      const policies = plugins.has("MutatingAdmissionPolicy") ? policiesOf(reader, "mutating") : [];
      const webhooks = plugins.has("MutatingAdmissionWebhook")
        ? webhooksOf(reader, "mutatingwebhookconfigurations")
        : [];
      if (policies.length === 0 && webhooks.length === 0) return undefined;
      const whole = attributes.object;
      const encoded = whole && attributes.schemaOfEmpty && storedForm(attributes.schemaOfEmpty, whole);
      if (encoded !== undefined) attributes.object = encoded;
      const settle = (): void => {
        // An object that nobody changed keeps the empty fields that its encoding leaves out.
        if (encoded !== undefined && deepEquals(encoded, attributes.object)) attributes.object = whole;
      };
      const isChanged = applyPolicies(policies, attributes, { ...options, isAgain: false });
      let isRepeated = false;
      const again = (): void => {
        isRepeated = true;
        builtIn.mutate(attributes);
        applyPolicies(policies, attributes, { ...options, isAgain: true });
      };
      const repeat = (): void => {
        if (isChanged && !isRepeated) again();
        settle();
      };
      if (webhooks.length > 0) return askMutating(webhooks, attributes, { reader, equivalents, again }).then(repeat);
      repeat();
      return isChanged ? Promise.resolve() : undefined;
    },
    validate(request) {
      const attributes = named(request);
      if (!options.allowsPrivileged) refusePrivileged(attributes);
      builtIn.validate(attributes);
      const policies = plugins.has("ValidatingAdmissionPolicy") ? policiesOf(reader, "validating") : [];
      if (policies.length > 0) checkPolicies(policies, attributes, options);
      const webhooks = plugins.has("ValidatingAdmissionWebhook")
        ? webhooksOf(reader, "validatingwebhookconfigurations")
        : [];
      if (webhooks.length > 0)
        return askValidating(webhooks, attributes, { reader, equivalents }).then(() => book(attributes));
      book(attributes);
      return undefined;
    },
  };
}

/** Adds a generated name, which is known by the time of validation. */
function named(attributes: AdmissionAttributes): AdmissionAttributes {
  const { context, object } = attributes;
  if (context.operation !== "CREATE" || context.name !== "") return attributes;
  const name = object?.metadata.name;
  if (!name) return attributes;
  return { ...attributes, context: { ...context, name } };
}
