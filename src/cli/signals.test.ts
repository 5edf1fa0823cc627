/** Tests the end of a process by a signal, in processes of their own. */
import { expect, test } from "bun:test";
import { join } from "node:path";

/** A process that takes the signal and never ends by itself. */
const DEAF = `
import { stopSignal } from ${JSON.stringify(join(import.meta.dirname, "signals.ts"))};
import { createLog } from ${JSON.stringify(join(import.meta.dirname, "../observe/log.ts"))};
const log = createLog({ level: "info", format: "json", write: (line) => process.stdout.write(line) });
const stopped = stopSignal(log, { within: 200 });
setInterval(() => {}, 1_000);
console.log("runs");
await stopped;
`;

test("a process that is signalled ends in bounded time whatever is still open, says so, and fails", async () => {
  const child = Bun.spawn([process.execPath, "-e", DEAF], {
    stdout: "pipe",
    stderr: "inherit",
    env: { ...process.env },
  });
  let said = "";
  const decoder = new TextDecoder();
  for await (const chunk of child.stdout) {
    const before = said;
    said += decoder.decode(chunk, { stream: true });
    if (!before.includes("runs") && said.includes("runs")) child.kill("SIGTERM");
  }
  expect(await child.exited).toBe(1);
  expect(said).toContain("Stopping: active runs finish");
  expect(said).toContain("The process ends although something is still open: the time for its end is over");
});
