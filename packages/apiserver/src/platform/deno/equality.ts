/** Comparison of JSON values as on Node. */
export { deepEquals } from "../node/equality.ts";
