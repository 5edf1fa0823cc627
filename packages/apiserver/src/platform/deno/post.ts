/** Requests to webhooks as on Node: Deno's own `fetch` knows no server name other than the URL's, and its errors have no code. */
export { post } from "../node/post.ts";
