import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createLog } from "../observe/log.ts";
import { createMetrics } from "../observe/metrics.ts";
import { FakeClock } from "../testing/fake-clock.ts";
import { StallWatch } from "./stall-watch.ts";

const BLOCKED = "The event loop is blocked";
const AGAIN = "The event loop was blocked, and comes round again";
const ENDS = "The event loop is blocked for too long: the process ends";

let folder: string;
beforeAll(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "binnacle-stall-")));
  writeFileSync(
    join(folder, "m.ts"),
    `const numbers = new Int32Array(new SharedArrayBuffer(4));
    export const block = (ms: number) => Atomics.wait(numbers, 0, 0, ms);
    export const blockLater = async (ms: number) => { await 1; block(ms); };`,
  );
  writeFileSync(join(folder, "loads.ts"), `import { block } from "./m.ts"; block(3_000);`);
});
afterAll(() => rmSync(folder, { recursive: true }));

const at = (file: string): string => JSON.stringify(join(import.meta.dirname, file));

interface ProgramOptions {
  readonly warnAfter?: number;
  readonly endAfter?: number;
  readonly format?: "json" | "pretty";
}

/**
 * A process whose event loop the code blocks; what is told after seconds elsewhere is told after tenths of them here.
 */
function start(code: string, { warnAfter = 500, endAfter = 0, format = "json" }: ProgramOptions = {}) {
  const program = `
    const { StallWatch } = await import(${at("stall-watch.ts")});
    const { createLog } = await import(${at("../observe/log.ts")});
    const { createMetrics } = await import(${at("../observe/metrics.ts")});
    const { loopMarks, markText } = await import(${at("../platform/loop-marks.ts")});
    const { loadGraph } = await import(${at("../platform/bun/module-host.ts")});
    const metrics = createMetrics();
    const log = createLog({ level: "info", format: "json" });
    using stalls = new StallWatch({
      thread: ${at("stall-thread.ts")}, warnAfter: ${warnAfter}, endAfter: ${endAfter}, log, format: "${format}",
    });
    stalls.show(metrics);
    const load = (name) => loadGraph(${JSON.stringify(folder)} + "/" + name, { name, onError: () => {} });
    const graph = await load("m.ts");
    const { block, blockLater } = graph.exports;
    await Bun.sleep(300);
    console.log("ready");
    ${code}
    await Bun.sleep(300);
    console.log((await metrics.text()).body);
    process.exit(0);`;
  return Bun.spawn([process.execPath, "-e", program], { stdout: "pipe", stderr: "pipe" });
}

async function run(code: string, options?: ProgramOptions) {
  const child = start(code, options);
  const [out, err, status] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  if (!out.startsWith("ready\n")) throw new Error(`The process ended with ${status} before it began: ${err}`);
  const lines = err.split("\n").filter((line) => line.startsWith("{"));
  const parsed = lines.map((line) => JSON.parse(line) as Readonly<Record<string, unknown>>);
  return { status, out, err, lines: parsed, line: (msg: string) => parsed.findLast((line) => line["msg"] === msg) };
}

describe("StallWatch", () => {
  test.concurrent(
    "tells whose function has the event loop, counts it, and says when it comes round again",
    async () => {
      const { status, line, out } = await run("graph.run(() => block(3_000));");
      const seconds = expect.any(Number);
      expect(line(BLOCKED)).toEqual({ ts: expect.any(String), level: "error", msg: BLOCKED, seconds, module: "m.ts" });
      expect(line(AGAIN)).toMatchObject({ level: "warn", seconds });
      expect(out).toMatch(/^binnacle_event_loop_stalls_total\{module="m\.ts"\} [1-9]/m);
      expect(out).toContain('binnacle_event_loop_lag_seconds_bucket{le="1"} ');
      expect(status).toBe(0);
    },
  );

  test.concurrent(
    "tells of every block that lasts as long as it is to, wherever it begins, and of none much shorter",
    async () => {
      const blocks = `for (const [rest, ms] of [[150, 1_100], [330, 700], [170, 1_250]]) {
      await Bun.sleep(rest);
      graph.run(() => block(ms));
    }`;
      const { lines } = await run(blocks, { warnAfter: 1_000 });
      const told = lines.filter(({ msg }) => msg === BLOCKED || msg === AGAIN).map(({ msg }) => msg);
      expect(told).toEqual([BLOCKED, AGAIN, BLOCKED, AGAIN]);
      const seconds = lines.filter(({ msg }) => msg === BLOCKED).map((line) => line["seconds"] as number);
      for (const one of seconds) expect(one).toBeWithin(0.999, 1.3);
    },
  );

  test.concurrent(
    "names the run that has begun, and what it does after a wait that was over at once as likely",
    async () => {
      const about = { module: "m.ts", controller: "c", key: "ns/a" };
      const begin = (call: string) => `
      loopMarks.enterRun(loopMarks.take(markText(${JSON.stringify(about)})));
      const running = graph.run(() => ${call}(3_000));
      loopMarks.leaveRun();
      await running;`;
      const [now, later] = await Promise.all([run(begin("block")), run(begin("blockLater"))]);
      expect(now.line(BLOCKED)).toMatchObject(about);
      expect(later.line(BLOCKED)).toMatchObject({ likely: about, underWay: [about] });
    },
  );

  test.concurrent("names who blocks the event loop after something else, without a turn of it in between", async () => {
    const nobody = "const numbers = new Int32Array(new SharedArrayBuffer(4)); Atomics.wait(numbers, 0, 0, 3_000);";
    const { line } = await run(`${nobody} graph.run(() => block(3_000));`);
    expect(line(BLOCKED)).toMatchObject({ module: "m.ts" });
  });

  test.concurrent("names a module that does not end while it loads", async () => {
    const { line } = await run(`await load("loads.ts");`);
    expect(line(BLOCKED)).toMatchObject({ underWay: [{ module: "loads.ts", loading: true }] });
  });

  test.concurrent(
    "ends the process when the event loop is blocked for too long, with a report and exit status 1",
    async () => {
      const endless = "graph.run(() => { for (;;); });";
      const [json, pretty] = await Promise.all([
        run(endless, { endAfter: 800 }),
        run(endless, { endAfter: 800, format: "pretty" }),
      ]);
      expect(json.line(BLOCKED)).toMatchObject({ module: "m.ts" });
      expect(json.line(ENDS)).toMatchObject({ level: "error", module: "m.ts" });
      expect(json.status).toBe(1);
      expect(pretty.err).toMatch(
        /^[\d:.]+ ERROR The event loop is blocked for too long: the process ends {2}seconds=\d\S* module=m\.ts$/m,
      );
      expect(pretty.status).toBe(1);
    },
  );

  test.concurrent("lets a process be that was stopped from outside for longer than that", async () => {
    const child = start("await Bun.sleep(500);", { warnAfter: 2_000, endAfter: 2_000 });
    const reader = child.stdout.getReader();
    expect(new TextDecoder().decode((await reader.read()).value)).toBe("ready\n");
    child.kill("SIGSTOP");
    await Bun.sleep(3_000);
    child.kill("SIGCONT");
    const [status, err] = await Promise.all([child.exited, new Response(child.stderr).text()]);
    expect([status, err]).toEqual([0, ""]);
  });

  test("measures the lag without a thread, and leaves no timer behind", async () => {
    const clock = new FakeClock();
    const lines: string[] = [];
    const log = createLog({ level: "info", format: "json", write: (line) => void lines.push(line) });
    const metrics = createMetrics();
    const stalls = new StallWatch({ thread: "", warnAfter: 0, endAfter: 0, log, format: "json", clock });
    stalls.show(metrics);
    clock.advance(5_000);
    const { body } = await metrics.text();
    expect(body).toContain("binnacle_event_loop_lag_seconds_count 10\n");
    expect(lines).toEqual([]);
    stalls[Symbol.dispose]();
    expect(clock.timers).toBe(0);
  });
});
