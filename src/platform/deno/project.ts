/** Where this program is: its sources, with the settings with which Deno runs, checks and tests what imports them. */
import { fileURLToPath } from "node:url";

/** The folder of the program. */
export const projectFolder: string = fileURLToPath(new URL("../../../", import.meta.url));

/** Settings that tell what "binnacle", "zod" and the other packages are that modules import. */
export const projectConfig: string = fileURLToPath(new URL("../../../deno.json", import.meta.url));
