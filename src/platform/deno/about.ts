/** What this runtime is. */
import { deno } from "./deno.ts";

/** The runtime with its version, for people. */
export const runtimeName: string = `Deno ${deno.version.deno}`;
