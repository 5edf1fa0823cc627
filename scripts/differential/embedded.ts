/** The embedded API server in process. */
import type { Started } from "./target.ts";

export async function embeddedTarget(): Promise<Started> {
  const { createApiServer } = (await import("../../src/apiserver/" + "server.ts")) as {
    createApiServer(options?: object): Promise<{
      fetch(request: Request): Promise<Response> | Response;
      stop?(): Promise<void>;
      [Symbol.asyncDispose]?(): Promise<void>;
    }>;
  };
  const server = await createApiServer({});
  return {
    name: "embedded",
    fetch: async (request) => await server.fetch(request),
    [Symbol.asyncDispose]: async () => void (await (server.stop?.() ?? server[Symbol.asyncDispose]?.())),
  };
}
