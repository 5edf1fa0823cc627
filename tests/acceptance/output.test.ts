/** Tests what the binary does when its output cannot be written. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { Bench } from "../support/binary.ts";

let bench: Bench;
beforeAll(async () => {
  bench = await Bench.create();
  const text = "Longer than a pipe takes at once. ".repeat(100);
  const widget = (kind: string): string =>
    `import { defineResource, z } from "binnacle";
    export const ${kind} = defineResource({ group: "a.b", version: "v1", kind: "${kind}", spec: z.object({ text: z.string().describe("${text}") }) });`;
  for (let number = 0; number < 40; number++) await bench.write(`controllers/k${number}.ts`, widget(`Kind${number}`));
});
afterAll(() => bench?.[Symbol.asyncDispose]());

async function shell(
  script: string,
): Promise<{ readonly code: number; readonly stdout: string; readonly stderr: string }> {
  const child = Bun.spawn(["sh", "-c", script], {
    cwd: bench.dir,
    env: { PATH: "/usr/bin:/bin", HOME: bench.dir },
    stdout: "pipe",
    stderr: "pipe",
  });
  const [stdout, stderr] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
  return { code: await child.exited, stdout, stderr };
}

test.skipIf(!existsSync("/dev/full"))(
  "output that cannot be written is an error",
  async () => {
    const commands = ["version", "manifests crds", "check --no-types", "completion bash", "--help", "run --help"];
    for (const command of commands) {
      const { code, stderr } = await shell(`./binnacle ${command} > /dev/full`);
      expect([command, code, stderr]).toEqual([
        command,
        1,
        "binnacle: Cannot write to standard output: no space left on device\n",
      ]);
    }
    expect((await shell("./binnacle version 2> /dev/full")).code).toBe(0);
  },
  180_000,
);

test("output is whole for a reader that is slow, and one that leaves is no failure with a stack", async () => {
  const whole = (await bench.exec("manifests", "crds")).stdout;
  expect(whole.length).toBeGreaterThan(100_000);
  const slow = await shell("./binnacle manifests crds | (sleep 0.3; cat)");
  expect(slow.stdout).toBe(whole);
  const left = await shell('(./binnacle manifests crds; echo "status $?" >&2) | head -c 10');
  expect(left.stderr).toBe("binnacle: Cannot write to standard output: nobody reads it any more\nstatus 1\n");
}, 180_000);
