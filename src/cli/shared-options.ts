/** Options that several commands share. */
import type { Option } from "./option.ts";

/** The name and the type are literals, from which the types of a command's values are inferred. */
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

export const moduleConfigOption: ListOption<"module-config"> = {
  name: "module-config",
  type: "list",
  describe:
    "File with values of the modules' configuration, or folder with one file for each; repeatable, later ones win",
};

/** An option whose value is a text. */
interface TextOption<Name extends string> extends Option {
  readonly name: Name;
  readonly type: "string";
}

export const kubeconfigOption: TextOption<"kubeconfig"> = {
  name: "kubeconfig",
  type: "string",
  describe: "Path of a kubeconfig [default: $KUBECONFIG, the pod's service account, ~/.kube/config]",
};

export const contextOption: TextOption<"context"> = {
  name: "context",
  type: "string",
  describe: "Context of the kubeconfig",
};

export const namespaceOption: ListOption<"namespace"> = {
  name: "namespace",
  type: "list",
  describe: "Namespace to work in; repeatable; all when left out",
};
