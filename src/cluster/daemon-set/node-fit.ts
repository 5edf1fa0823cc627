/** Decides whether a daemon's pod belongs on a node, and whether an existing one may stay. */
import type { Node, PodSpec } from "../../resource/builtin/index.ts";
import { isSelected, isTolerated } from "../pods/node-fit.ts";

/** The permissions of a daemon on a node. */
export interface Fit {
  /** Whether a new pod should run on it. */
  readonly shouldRun: boolean;
  /** Whether an existing pod may stay. */
  readonly mayStay: boolean;
}

const REFUSED: Fit = { shouldRun: false, mayStay: false };

/** Decides how a pod, with the tolerations that it will have, fits a node. */
export function fitOf(spec: PodSpec, node: Node): Fit {
  if (spec.nodeName && spec.nodeName !== node.metadata.name) return REFUSED;
  if (!isSelected(spec, node)) return REFUSED;
  const { tolerations = [] } = spec;
  const untolerated = node.spec?.taints?.filter((taint) => !isTolerated(taint, tolerations)) ?? [];
  const shouldRun = untolerated.every(({ effect }) => effect !== "NoExecute" && effect !== "NoSchedule");
  return { shouldRun, mayStay: shouldRun || untolerated.every(({ effect }) => effect !== "NoExecute") };
}
