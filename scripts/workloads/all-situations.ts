/** Every situation; a new file of `situations/` is added here. */
import type { Situation } from "./situation.ts";
import { deployments } from "./situations/deployments.ts";

export const allSituations: readonly Situation[] = [...deployments];
