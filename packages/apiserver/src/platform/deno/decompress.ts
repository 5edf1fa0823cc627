/** Decompression of the OpenAPI documents, as on Bun. */
export { decompress } from "../bun/decompress.ts";
