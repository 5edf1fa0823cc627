/** Admission: what is added to objects and who may refuse them, as kube-apiserver has it switched on by default. */
import type { Admission, AdmissionAttributes, Reader } from "../hooks.ts";
import { admitPod } from "../validation/pod-kind.ts";
import { webhooksOf } from "./webhook.ts";
import { askMutating, askValidating } from "./webhooks.ts";

/** Built-in plugins, then webhooks. */
export function createAdmission({ reader }: { readonly reader: Reader }): Admission {
  return {
    mutate(attributes) {
      builtIn(attributes);
      const webhooks = webhooksOf(reader, "mutatingwebhookconfigurations");
      if (webhooks.length === 0) return undefined;
      return askMutating(webhooks, attributes, { reader, again: () => builtIn(attributes) });
    },
    validate(attributes) {
      const webhooks = webhooksOf(reader, "validatingwebhookconfigurations");
      return webhooks.length === 0 ? undefined : askValidating(webhooks, attributes, reader);
    },
  };
}

function builtIn({ context, object }: AdmissionAttributes): void {
  const { row, operation, subresource } = context;
  if (object === undefined || operation !== "CREATE" || subresource !== "") return;
  if (row.group === "" && row.kind === "Pod") admitPod(object);
}
