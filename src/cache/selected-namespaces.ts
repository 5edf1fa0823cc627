/** Lets an informer follow the namespaces that match a label selector. */
import { handle, type Resource } from "../resource/handle.ts";
import type { InformerHandler } from "./informer-handler.ts";
import type { SharedInformer } from "./shared-informer.ts";

/** Selects namespaces by labels; the set changes while the process runs. */
export interface NamespaceSelector {
  /** A label selector. */
  readonly labels: string;
}

export const Namespace: Resource = handle({
  apiVersion: "v1",
  kind: "Namespace",
  scope: "Cluster",
  plural: "namespaces",
});

export function isNamespaceSelector(
  namespaces: readonly string[] | NamespaceSelector | undefined,
): namespaces is NamespaceSelector {
  return namespaces !== undefined && "labels" in namespaces;
}

/** Gives `informer` a partition for each namespace that `namespaces` holds, until the returned object is disposed. */
export function followNamespaces(namespaces: SharedInformer, informer: SharedInformer): Disposable {
  const changed = (): void => informer.setSelection(namespaces.state, namespaces.hasSynced);
  const handler: InformerHandler = {
    onAdd: ({ metadata }) => informer.addNamespace(metadata.name),
    onUpdate: () => {},
    onDelete: ({ metadata }) => informer.removeNamespace(metadata.name),
  };
  const stack = new DisposableStack();
  stack.use(namespaces.addHandler(handler, { name: `namespaces of ${informer.id}` }));
  stack.use(namespaces.onChange(changed));
  changed();
  return stack;
}
