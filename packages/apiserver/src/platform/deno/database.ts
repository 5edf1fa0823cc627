/** Databases by `node:sqlite`, as on Node. */
export { openDatabase } from "../node/database.ts";
