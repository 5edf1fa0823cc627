/** Options that several commands share. */
import type { Option } from "./option.ts";

export const controllersOption = {
  name: "controllers",
  type: "list",
  default: ["./controllers"],
  describe: "Folder with modules; repeatable",
} as const satisfies Option;

export const namespaceOption = {
  name: "namespace",
  type: "list",
  describe: "Namespace to work in; repeatable; all when left out",
} as const satisfies Option;
