/** Every kind of child. */
import { core } from "./core.ts";
import { custom } from "./custom.ts";
import type { Kind } from "./kind.ts";
import { workloads } from "./workloads.ts";

export const allKinds: readonly Kind[] = [...core, ...workloads, ...custom];
