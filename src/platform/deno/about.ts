/** The name of this runtime. */
import { deno } from "./deno.ts";

/** The runtime with its version, for people. */
export const runtimeName: string = `Deno ${deno.version.deno}`;
