/** The embedded API server in process. */
import { gunzipSync } from "node:zlib";
import { createApiServer } from "binnacle-apiserver";
import type { Started } from "./target.ts";

/** The subject of kubernetes-admin's certificate on the real server. */
const certificate = {
  username: "kubernetes-admin",
  groups: ["system:masters", "system:authenticated"],
  extra: { "authentication.kubernetes.io/credential-id": [`X509SHA256=${"0".repeat(64)}`] },
};

export async function embeddedTarget(): Promise<Started> {
  const server = await createApiServer();
  return {
    name: "embedded",
    fetch: async (request, credentials) => {
      await new Promise(setImmediate); // as with a socket, so that what the server does a moment later gets its turn
      // An HTTP client adds these headers by itself.
      if (!request.headers.has("accept-encoding")) request.headers.set("accept-encoding", "gzip, deflate, br, zstd");
      const response = await server.fetch(request, credentials === "none" ? {} : { certificate });
      if (response.headers.get("content-encoding") !== "gzip") return response;
      const { status, headers } = response;
      const content = await response.bytes();
      if (content.length > 0) return new Response(gunzipSync(content), { status, headers });
      headers.delete("content-encoding");
      return new Response(null, { status, headers });
    },
    [Symbol.asyncDispose]: async () => await server.stop(),
  };
}
