import { expect, test } from "bun:test";
import { startLoopback } from "../../../tests/support/loopback-server.ts";
import { FakeClock } from "../../testing/fake-clock.ts";
import { until } from "../../../tests/support/until.ts";
import { createTransport } from "./transport.ts";

test.each(["h2", "http/1.1"] as const)(
  "watches over %s that nobody waits for any more leave nothing behind",
  async (protocol) => {
    let open = 0;
    await using server = await startLoopback(
      (_, reply) => {
        open++;
        reply.on("close", () => void open--);
        reply.writeHead(200).write("x\n");
      },
      { protocol },
    );
    const clock = new FakeClock();
    const transport = createTransport(server.config, { clock });
    const count = protocol === "h2" ? 300 : 50;
    for (let round = 0; round < 3; round++) {
      const gone = new AbortController();
      let begun = 0;
      const watches = Array.from({ length: count }, () =>
        transport
          .stream({ method: "GET", path: "/watch", signal: gone.signal, onChunk: () => void begun++ })
          .catch((error: Error) => error.message),
      );
      await until(() => begun === count);
      expect(transport.stats.streams).toBe(count);
      gone.abort(new Error("nobody waits"));
      expect(new Set(await Promise.all(watches))).toEqual(new Set(["nobody waits"]));
      expect(transport.stats.streams).toBe(0);
      await until(() => open === 0);
    }
    await clock.advanceInTurns(20_000);
    expect(transport.stats.sessions).toBe(0);
    await transport.close();
  },
  180_000,
);
