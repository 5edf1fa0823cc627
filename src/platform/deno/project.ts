/**
 * The place of this program: its sources, with the settings with which Deno runs, checks and tests code that imports
 * them.
 */
import { fileURLToPath } from "node:url";

/** The folder of the program. */
export const projectFolder: string = fileURLToPath(new URL("../../../", import.meta.url));

/** Settings that resolve "binnacle", "zod" and the other packages that modules import. */
export const projectConfig: string = fileURLToPath(new URL("../../../deno.json", import.meta.url));
