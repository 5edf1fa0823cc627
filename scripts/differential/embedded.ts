/** The embedded API server in process. */
import { createApiServer } from "../../src/apiserver/server.ts";
import type { Started } from "./target.ts";

export async function embeddedTarget(): Promise<Started> {
  const server = await createApiServer();
  return {
    name: "embedded",
    fetch: async (request) => await server.fetch(request),
    [Symbol.asyncDispose]: async () => await server.stop(),
  };
}
