/** Admission: what is added to objects and who may refuse them, as kube-apiserver has it switched on by default. */
import type { Admission, AdmissionAttributes, AdmissionOptions } from "../hooks.ts";
import { mutateBuiltIn, validateBuiltIn } from "./built-in.ts";
import { bookings } from "./quota/resource-quota.ts";
import { webhooksOf } from "./webhook.ts";
import { askMutating, askValidating } from "./webhooks.ts";

/** Built-in plugins, then webhooks, then quotas. */
export function createAdmission({ reader, setStatus }: AdmissionOptions): Admission {
  const book = (attributes: AdmissionAttributes): void => {
    for (const { quota, status } of bookings(attributes)) {
      if (!attributes.context.dryRun) setStatus({ group: "", plural: "resourcequotas" }, { object: quota, status });
    }
  };
  return {
    mutate(attributes) {
      mutateBuiltIn(attributes);
      const webhooks = webhooksOf(reader, "mutatingwebhookconfigurations");
      if (webhooks.length === 0) return undefined;
      return askMutating(webhooks, attributes, { reader, again: () => mutateBuiltIn(attributes) });
    },
    validate(attributes) {
      validateBuiltIn(attributes);
      const webhooks = webhooksOf(reader, "validatingwebhookconfigurations");
      if (webhooks.length > 0) return askValidating(webhooks, attributes, reader).then(() => book(attributes));
      book(attributes);
      return undefined;
    },
  };
}
