/** TaintNodesByCondition and DefaultTolerationSeconds. @see https://kubernetes.io/docs/concepts/scheduling-eviction/taint-and-toleration/ */
import { each, inner } from "../validation/fill.ts";
import type { Plugin } from "./plugin.ts";

export const taintNew: Plugin = {
  name: "TaintNodesByCondition",
  resources: ["/nodes"],
  mutate({ context, object }) {
    if (context.operation !== "CREATE" || context.subresource !== "" || object === undefined) return;
    const spec = inner(object, "spec");
    const taints = each(spec, "taints");
    const added = { key: "node.kubernetes.io/not-ready", effect: "NoSchedule" };
    if (taints.some(({ key, effect }) => key === added.key && effect === added.effect)) return;
    object["spec"] = { ...spec, taints: [...taints, added] };
  },
};

export const tolerateAWhile: Plugin = {
  name: "DefaultTolerationSeconds",
  resources: ["/pods"],
  mutate({ context, object }) {
    if (context.subresource !== "" || object === undefined) return;
    const spec = inner(object, "spec");
    const tolerations = each(spec, "tolerations");
    const added = ["node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"].filter(
      (taint) => !tolerations.some(({ key, effect }) => (key === taint || !key) && (effect === "NoExecute" || !effect)),
    );
    if (added.length === 0) return;
    const additions = added.map((key) => ({ key, operator: "Exists", effect: "NoExecute", tolerationSeconds: 300 }));
    spec["tolerations"] = [...tolerations, ...additions];
  },
};
