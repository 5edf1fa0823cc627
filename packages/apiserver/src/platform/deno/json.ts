/** JSON with the text of numbers, by the runtime. */
export { parseWithSource, rawJson, stringify } from "../bun/json.ts";
