/** Admission: what is added to objects and who may refuse them, as kube-apiserver has it switched on by default. */
import type { Admission, Reader } from "../hooks.ts";
import { builtInPlugins } from "./built-in.ts";
import { webhooksOf } from "./webhook.ts";
import { askMutating, askValidating } from "./webhooks.ts";

/** Built-in plugins, then webhooks. */
export function createAdmission({ reader }: { readonly reader: Reader }): Admission {
  return {
    mutate(attributes) {
      builtInPlugins(attributes);
      const webhooks = webhooksOf(reader, "mutatingwebhookconfigurations");
      if (webhooks.length === 0) return undefined;
      return askMutating(webhooks, attributes, { reader, again: () => builtInPlugins(attributes) });
    },
    validate(attributes) {
      const webhooks = webhooksOf(reader, "validatingwebhookconfigurations");
      return webhooks.length === 0 ? undefined : askValidating(webhooks, attributes, reader);
    },
  };
}
