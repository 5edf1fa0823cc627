import { describe, expect, test } from "bun:test";
import { ApiError } from "../kube/errors/api-error.ts";
import { createLog, type LogOptions } from "./log.ts";
import { loggable } from "./loggable.ts";

const TIME = Date.UTC(2026, 0, 2, 3, 4, 5, 678);

function logTo(lines: string[], options: Partial<LogOptions> = {}) {
  return createLog({
    level: "info",
    format: "json",
    write: (line) => lines.push(line),
    clock: { now: () => TIME },
    ...options,
  });
}

function onlyLine(lines: readonly string[]): Record<string, unknown> {
  expect(lines).toHaveLength(1);
  expect(lines[0]).toEndWith("\n");
  expect(lines[0]!.trimEnd()).not.toContain("\n");
  return JSON.parse(lines[0]!) as Record<string, unknown>;
}

const secret = {
  apiVersion: "v1",
  kind: "Secret",
  metadata: {
    name: "db",
    annotations: { "kubectl.kubernetes.io/last-applied-configuration": '{"data":{"password":"aHVudGVyMg=="}}', a: "b" },
  },
  data: { password: "aHVudGVyMg==" },
  stringData: { user: "hunter2" },
};

describe("json", () => {
  test("log writes one object per line with ts, level, msg and the fields", () => {
    const lines: string[] = [];
    logTo(lines).warn("it broke\nbadly", { key: "a/b", count: 3, missing: undefined });
    expect(onlyLine(lines)).toEqual({
      ts: "2026-01-02T03:04:05.678Z",
      level: "warn",
      msg: "it broke\nbadly",
      key: "a/b",
      count: 3,
    });
  });

  test("log keeps its own fields when a field has their name", () => {
    const lines: string[] = [];
    logTo(lines).info("real", { msg: "fake", level: "fake" });
    expect(onlyLine(lines)).toMatchObject({ msg: "real", level: "info", msg_: "fake", level_: "fake" });
  });

  test("log renders errors with message, stack and causes", () => {
    const lines: string[] = [];
    const cause = Object.assign(new Error("refused"), { code: "ECONNREFUSED" });
    logTo(lines).error("failed", { error: new TypeError("no answer", { cause }) });
    expect(onlyLine(lines)["error"]).toMatchObject({
      name: "TypeError",
      message: "no answer",
      stack: expect.stringContaining("log.test.ts"),
      cause: { message: "refused", code: "ECONNREFUSED", stack: expect.any(String) },
    });
  });

  test("log writes what JSON cannot: cycles, bigints, maps, dates, bytes", () => {
    const lines: string[] = [];
    const cycle: Record<string, unknown> = { big: 10n, map: new Map([["a", new Set([1])]]), at: new Date(TIME) };
    cycle["self"] = cycle;
    logTo(lines).info("odd", { cycle, bytes: new Uint8Array(3), shared: [cycle["map"], cycle["map"]] });
    expect(onlyLine(lines)).toMatchObject({
      cycle: { big: "10", map: { a: [1] }, at: "2026-01-02T03:04:05.678Z", self: "[circular]" },
      bytes: "[3 bytes]",
      shared: [{ a: [1] }, { a: [1] }],
    });
  });
});

describe("secrets", () => {
  test.each(["json", "pretty"] as const)("log of %s never shows values of Secrets", (format) => {
    const lines: string[] = [];
    const { kind: _kind, apiVersion: _apiVersion, ...item } = secret;
    const log = logTo(lines, { format }).with({ bound: secret });
    log.info("direct", { object: secret });
    log.info("nested", { event: { old: secret, list: [secret], map: new Map([["s", secret]]) } });
    log.info("list", { list: { apiVersion: "v1", kind: "SecretList", metadata: {}, items: [item] } });
    log.info("cause", { error: new Error("x", { cause: secret }) });
    log.info("itself", secret);
    const text = lines.join("");
    expect(lines).toHaveLength(5);
    expect(text).toContain("[redacted]");
    expect(text).not.toContain("aHVudGVyMg");
    expect(text).not.toContain("hunter2");
  });

  test("log shows the keys of Secrets and leaves other kinds and the object alone", () => {
    const lines: string[] = [];
    logTo(lines).info("both", { secret, map: { kind: "ConfigMap", data: { color: "blue" } } });
    expect(onlyLine(lines)).toMatchObject({
      secret: {
        metadata: { name: "db", annotations: { a: "b" } },
        data: { password: "[redacted]" },
        stringData: { user: "[redacted]" },
      },
      map: { data: { color: "blue" } },
    });
    expect(secret.data.password).toBe("aHVudGVyMg==");
  });
});

describe("levels", () => {
  test("log below its level looks at nothing", () => {
    const lines: string[] = [];
    const log = logTo(lines);
    const fields = {
      get costly(): string {
        throw new Error("was read");
      },
    };
    log.with(fields).debug("quiet", fields);
    expect(log.enabled("debug")).toBe(false);
    expect(log.enabled("info")).toBe(true);
    expect(lines).toEqual([]);
  });

  test("log changes its level for its children too", () => {
    const lines: string[] = [];
    const log = logTo(lines, { level: "error" });
    const child = log.with({ controller: "a" }).with({ controller: "b", key: "k" });
    child.warn("no");
    log.level = "debug";
    expect(log.level).toBe("debug");
    child.debug("yes", { key: "l" });
    expect(onlyLine(lines)).toMatchObject({ msg: "yes", controller: "b", key: "l" });
  });
});

describe("pretty", () => {
  test("log aligns and quotes", () => {
    const lines: string[] = [];
    const log = logTo(lines, { format: "pretty" });
    log.info("synced", { key: "a/b", text: "two words", count: 2, list: ["x"] });
    log.error("failed");
    expect(lines[0]).toMatch(/^\d\d:\d\d:\d\d\.678 INFO  synced  key=a\/b text="two words" count=2 list=\["x"\]\n$/);
    expect(lines[1]).toMatch(/ ERROR failed\n$/);
  });

  test("log puts stacks below, causes included", () => {
    const lines: string[] = [];
    logTo(lines, { format: "pretty" }).error("failed", { error: new Error("outer", { cause: new Error("inner") }) });
    expect(lines[0]).toMatch(/failed {2}error="outer"\n {4}Error: outer\n[^]*caused by:\n {4}Error: inner\n {8}at /);
  });

  test("log shows of a module's error the module's places, and of an answer none", () => {
    const lines: string[] = [];
    const log = logTo(lines, { format: "pretty" });
    const inModule =
      "Error: bad\n    at reconcile (/m/greeting.ts:1:2)\n    at run (unknown)\n    at carry (src/controller/runs.ts:3:4)";
    log.error("failed", { error: Object.assign(new Error("bad"), { stack: inModule }) });
    expect(lines[0]).toMatch(/failed {2}error="bad"\n {4}Error: bad\n {8}at reconcile \(\/m\/greeting\.ts:1:2\)\n$/);
    const answer = new ApiError({ code: 404, status: {}, method: "GET", path: "/api/v1/nodes/a" });
    answer.stack = `ApiError: ${answer.message}\n    at refusal (src/kube/answer.ts:21:14)`;
    log.error("failed", { error: answer });
    expect(lines[1]).toMatch(/failed {2}error=".*"\n$/);
    const ownBug = "TypeError: no\n    at carry (src/controller/runs.ts:3:4)";
    log.error("failed", { error: Object.assign(new TypeError("no"), { stack: ownBug }) });
    expect(lines[2]).toContain("src/controller/runs.ts:3:4");
  });

  test("log colours only when asked or on a terminal", () => {
    const plain: string[] = [];
    const colored: string[] = [];
    logTo(plain, { format: "pretty" }).warn("x", { a: 1 });
    logTo(colored, { format: "pretty", color: true }).warn("x", { a: 1 });
    expect(plain[0]).not.toContain("\u001b");
    expect(colored[0]).toContain("\u001b[33mWARN ");
  });
});

test("a module's lines have a level of their own until it is taken back", () => {
  const lines: string[] = [];
  const log = logTo(lines, { level: "warn" });
  const web = log.with({ module: "web", controller: "site" });
  const run = web.with({ key: "default/a" });
  log.setModuleLevel("web", "debug");
  expect(log.moduleLevels).toEqual(new Map([["web", "debug"]]));
  expect([log.enabled("debug"), web.enabled("debug"), run.enabled("debug")]).toEqual([false, true, true]);
  run.debug("one");
  log.with({ module: "other" }).debug("nothing");
  log.info("nothing");
  log.setModuleLevel("web", "error");
  run.warn("nothing");
  run.error("two");
  log.setModuleLevel("web", undefined);
  run.info("nothing");
  run.warn("three");
  expect(lines.map((line) => (JSON.parse(line) as { msg: string }).msg)).toEqual(["one", "two", "three"]);
});

test("a follower gets each line that is written, and none after it has ended", () => {
  const lines: string[] = [];
  const log = logTo(lines, { level: "info" });
  const messages: unknown[] = [];
  const following = log.follow(({ message, fields }) => messages.push([message, fields]));
  log.with({ module: "web" }).info("a", { key: "x" });
  log.debug("b");
  following[Symbol.dispose]();
  log.info("c");
  expect(messages).toEqual([["a", { module: "web", key: "x" }]]);
  expect(lines).toHaveLength(2);
});

test("a value that cannot be read does not cost the line", () => {
  const hostile = {
    get secret(): never {
      throw new Error("no");
    },
  };
  expect(loggable({ a: 1, hostile })).toEqual({ a: 1, hostile: "[unreadable]" });
});

test.each(["json", "pretty"] as const)("a line of %s is bounded whatever a server or a module says", (format) => {
  const lines: string[] = [];
  const long = "x".repeat(3_000_000);
  const error = new Error(long, { cause: new Error(long) });
  logTo(lines, { format }).error("failed", { error });
  expect(lines[0]!.length).toBeLessThan(30_000);
  expect(lines[0]).toContain("2995904 more characters");
  expect(lines[0]).toContain("log.test.ts"); // the places are still there
  logTo(lines, { format }).error(long, { reason: long, deep: [long] });
  expect(lines[1]!.length).toBeLessThan(60_000);
});
