import { expect, test } from "bun:test";
import { join } from "node:path";

const LOG = JSON.stringify(join(import.meta.dir, "log.ts"));

function start(code: string) {
  const script = `import { createLog } from ${LOG}; const log = createLog({ level: "info", format: "json" }); ${code}`;
  return Bun.spawn([process.execPath, "-e", script], { stdout: "ignore", stderr: "pipe" });
}

test("writeToStandardError loses no line when the process exits before its reader took them", async () => {
  const child = start(`for (let i = 0; i < 2000; i++) log.info("line", { pad: "x".repeat(200) }); process.exit(3);`);
  await Bun.sleep(100);
  const lines = (await new Response(child.stderr).text()).trimEnd().split("\n");
  expect(lines).toHaveLength(2000);
  expect(JSON.parse(lines[1999] ?? "")).toMatchObject({ msg: "line" });
  expect(await child.exited).toBe(3);
});

test("writeToStandardError goes on when its reader has gone", async () => {
  const child = start(`setInterval(() => log.info("tick"), 5); setTimeout(() => process.exit(7), 100);`);
  await child.stderr.cancel();
  expect(await child.exited).toBe(7);
});
