/** The embedded API server in process. */
import { createApiServer } from "../../src/embedded/index.ts";
import type { Started } from "./target.ts";

/** As the certificate of kubernetes-admin names its holder on the real server. */
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
      await new Promise(setImmediate); // as a socket would: what the server does a moment later gets its turn
      return await server.fetch(request, credentials === "none" ? {} : { certificate });
    },
    [Symbol.asyncDispose]: async () => await server.stop(),
  };
}
