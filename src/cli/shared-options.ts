/** Options that several commands share. */
import type { Option } from "./option.ts";

/** Its name and type are literal: the types of a command's values follow from them. */
interface ListOption<Name extends string> extends Option {
  readonly name: Name;
  readonly type: "list";
}

export const controllersOption: ListOption<"controllers"> & { readonly default: readonly string[] } = {
  name: "controllers",
  type: "list",
  default: ["./controllers"],
  describe: "Folder with modules; repeatable",
};

export const namespaceOption: ListOption<"namespace"> = {
  name: "namespace",
  type: "list",
  describe: "Namespace to work in; repeatable; all when left out",
};
