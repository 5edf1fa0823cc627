/** Admission: what is added to objects and who may refuse them, as kube-apiserver has it switched on by default. */
import type { Admission, AdmissionAttributes, Reader } from "../hooks.ts";
import { admitPod } from "../validation/pod-kind.ts";

/** Built-in plugins, then webhooks. */
export function createAdmission(_: { readonly reader: Reader }): Admission {
  return {
    mutate(attributes) {
      builtIn(attributes);
      return undefined;
    },
    validate: () => undefined,
  };
}

function builtIn({ context, object }: AdmissionAttributes): void {
  const { row, operation, subresource } = context;
  if (object === undefined || operation !== "CREATE" || subresource !== "") return;
  if (row.group === "" && row.kind === "Pod") admitPod(object);
}
