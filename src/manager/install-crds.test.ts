import { expect, test } from "bun:test";
import { z } from "zod";
import { createTransport } from "../kube/transport/transport.ts";
import { createLog } from "../observe/log.ts";
import { type Clock, systemClock } from "../platform/clock.ts";
import { defineResource } from "../resource/define.ts";
import { installCrds, installGate } from "./install-crds.ts";

test("installCrds waits for each definition's own turn, and not for all those before it", async () => {
  let now = 0;
  const clock: Clock = { now: () => now, setTimeout: (callback) => systemClock.setTimeout(callback, 0) };
  const applied: string[] = [];
  let established = 0;
  let most = 0;
  await using server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: ({ method, url }) => {
      const name = url.split("?")[0]!.split("/").at(-1)!;
      const place = applied.indexOf(name);
      if (method === "GET" && place < 0) return Response.json({ code: 404 }, { status: 404 });
      if (method === "PATCH") most = Math.max(most, applied.push(name) - established);
      // A second for each, one after another.
      else if (place === established) {
        established++;
        now += 1_000;
      }
      const status = place >= 0 && place < established ? "True" : "False";
      return Response.json({ metadata: { name }, status: { conditions: [{ type: "Established", status }] } });
    },
  });
  const resources = Array.from({ length: 40 }, (_, index) =>
    defineResource({ group: "a.io", version: "v1", kind: `Thing${index}`, spec: z.object({}) }),
  );
  const tls = { ca: undefined, cert: undefined, key: undefined, serverName: undefined, rejectUnauthorized: true };
  const transport = createTransport({
    server: `http://127.0.0.1:${server.port}`,
    context: "",
    user: "",
    namespace: "",
    tls,
    headers: () => ({}),
    reload: async () => false,
  });
  const log = createLog({ level: "error", format: "json", write: () => {} });
  const { signal } = new AbortController();
  const gate = installGate();
  // Two modules.
  await Promise.all([
    installCrds(resources.slice(0, 20), { transport, clock, log, signal, gate }),
    installCrds(resources.slice(20), { transport, clock, log, signal, gate }),
  ]);
  expect([established, most]).toEqual([40, 8]);
  await transport.close();
});
