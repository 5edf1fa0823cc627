import { describe, expect, test } from "bun:test";
import { ConfigMap, Secret } from "binnacle/resources";
import type { AnyObject } from "../resource/handle.ts";
import { FakeClock } from "../testing/fake-clock.ts";
import { EventCause, forgetStates } from "./event-cause.ts";
import type { RunAnswer } from "./run-answer.ts";
import { RunHistory } from "./run-history.ts";

const MEBIBYTE = 2 ** 20;

function historyOf(bytes: number): RunHistory {
  return new RunHistory({ bytes, clock: new FakeClock(), replica: "r" });
}

function begin(history: RunHistory, key: string, more: Partial<Parameters<RunHistory["begin"]>[0]> = {}) {
  return history.begin({
    module: "m",
    controller: "c",
    key,
    phase: "reconcile",
    waited: 0,
    attempt: 1,
    causes: [],
    ...more,
  })!;
}

function object(name: string, version: number, more: object): AnyObject {
  const metadata = { name, namespace: "ns", uid: name, resourceVersion: String(version), creationTimestamp: "" };
  return { apiVersion: "v1", kind: "ConfigMap", metadata, ...more };
}

/** The bytes of the heap after a collection. */
function heap(): number {
  Bun.gc(true);
  return process.memoryUsage().heapUsed;
}

describe("RunHistory", () => {
  test("shows runs newest first, by object and by key, with those under way", () => {
    const history = historyOf(MEBIBYTE);
    const subject = { resource: ConfigMap, object: object("a", 1, {}) };
    begin(history, "ns/a", { subject }).end({ result: "success" });
    begin(history, "ns/b").end({ result: "success" });
    begin(history, "ns/a", { subject, controller: "d" });
    const shown = (...filter: Parameters<RunHistory["runs"]>): unknown =>
      [...history.runs(...filter)].map(({ controller, key, duration }) => [controller, key, duration !== undefined]);
    expect(shown()).toEqual([
      ["d", "ns/a", false],
      ["c", "ns/b", true],
      ["c", "ns/a", true],
    ]);
    expect(shown({ kind: "ConfigMap", group: "", namespace: "ns", name: "a" })).toEqual([
      ["d", "ns/a", false],
      ["c", "ns/a", true],
    ]);
    expect(shown({ controller: "c", key: "ns/b" })).toEqual([["c", "ns/b", true]]);
    expect(shown({ kind: "Secret", name: "a" })).toEqual([]);
  });

  test("the oldest runs make room, and what is counted bounds what the heap holds", () => {
    const limit = 4 * MEBIBYTE;
    const before = heap();
    const history = historyOf(limit);
    for (let run = 0; run < 1_000; run++) {
      // Texts that are parts of long ones, wide characters, many small parts, and deep values.
      const huge = String.fromCharCode(97 + (run % 26)).repeat(20_000);
      const wide = "語".repeat(1_000 + run);
      const data = (text: string) =>
        Object.fromEntries(Array.from({ length: 40 }, (_, at) => [`k${at}`, `${text}${run}${at}`]));
      const old = object("a", 1, { data: data(huge), spec: { list: [{ name: wide }] } });
      const now = object("a", 2, {
        data: data(wide),
        spec: { list: [{ name: `${wide}x`, deep: [[[[[[[[[[[1]]]]]]]]]]] }] },
      });
      const causes = [new EventCause({ source: "for", type: "update", resource: ConfigMap, object: now, old })];
      const record = begin(history, `ns/${run}`, { subject: { resource: ConfigMap, object: now }, causes });
      for (let part = 0; part < 10; part++) {
        const target = { name: `${wide.slice(0, 200)}${part}`, namespace: "ns" };
        const changes = record.changes(ConfigMap, { old, now });
        record.request({
          resource: ConfigMap,
          verb: "patch",
          target,
          status: 500,
          error: huge,
          began: 0,
          by: "author",
          ...changes,
        });
        record.child({ name: "x", resource: ConfigMap, target }, { action: "changed", old, now });
        record.line("info", huge, {
          fields: { huge, wide, list: Array.from({ length: 500 }, () => part) },
          clean: (text) => text,
        });
      }
      record.end({ result: "error", error: huge, stack: wide });
      forgetStates(causes);
    }
    const { bytes, runs, dropped } = history.stats;
    expect(bytes).toBeLessThanOrEqual(limit);
    expect(runs + dropped).toBe(1_000);
    expect(dropped).toBeGreaterThan(500);
    expect(heap() - before).toBeLessThan(1.25 * limit);
    expect([...history.runs()].every(({ truncated }) => truncated === true)).toBe(true);
  }, 60_000);

  test("runs under way do not exceed the limit together either", () => {
    const history = historyOf(MEBIBYTE);
    const records = Array.from({ length: 200 }, (_, at) => begin(history, `ns/${at}`));
    for (let line = 0; line < 50; line++) {
      for (const record of records)
        record.line("info", "x".repeat(1_000), { fields: undefined, clean: (text) => text });
    }
    expect(history.stats.bytes).toBeLessThanOrEqual(MEBIBYTE);
    expect(records.some(({ log }) => log.length > 0)).toBe(true);
  });

  test("a run that was recorded for its trace alone takes no memory once it has ended", () => {
    const traces = { begin: () => ({ ref: { trace: "t", span: "s" }, write: () => "w", end: () => {} }) };
    const history = new RunHistory({
      bytes: MEBIBYTE,
      clock: new FakeClock(),
      replica: "r",
      traces,
      recordsAll: false,
    });
    const record = begin(history, "ns/a");
    record.line("info", "a line", { fields: {}, clean: (text) => text });
    expect(history.stats.bytes).toBe(record.bytes);
    record.end({ result: "success" });
    expect(history.stats).toMatchObject({ runs: 0, bytes: 0, dropped: 0 });
  });

  test("the values of Secrets that any run has seen are in no record", () => {
    const history = historyOf(MEBIBYTE);
    const marker = "MARKER-of-50-characters";
    const inBase64 = Buffer.from(marker).toString("base64");
    const secret = { ...object("s", 1, { data: { password: inBase64 } }), kind: "Secret" };
    const states = {
      old: object("a", 1, { data: {} }),
      now: object("a", 2, { data: { url: `http://u:${marker}@h` } }),
    };
    const late = begin(history, "ns/late");
    late.child({ name: "x", resource: ConfigMap, target: { name: "a" } }, { action: "changed", ...states });
    late.sees(Secret, secret); // it has read the Secret after it was recorded what it wrote
    late.end({ result: "success" });
    const later = begin(history, "ns/later", {
      causes: [
        new EventCause({ source: "for", type: "update", resource: ConfigMap, object: states.now, old: states.old }),
      ],
    });
    const clean = (text: string): string => text;
    later.request({
      resource: ConfigMap,
      verb: "patch",
      target: { name: "a" },
      status: 422,
      error: `bad ${marker}`,
      began: 0,
      by: "author",
    });
    later.line("warn", `has ${inBase64}`, {
      fields: { [marker]: { deep: [marker] }, error: new Error(marker) },
      clean,
    });
    later.event({ type: "Warning", reason: "Bad", message: marker }, states.now);
    later.wroteStatus(ConfigMap, states, [{ type: "Ready", status: "False", reason: marker }]);
    later.end({ result: "error", error: marker, stack: `Error: ${marker}\n  at x` });
    const text = JSON.stringify([...history.runs()]);
    expect(text).not.toContain(marker);
    expect(text).not.toContain(inBase64);
    expect(text.match(/\[redacted\]/g)!.length).toBeGreaterThan(8);
  });

  test("values of large and of many Secrets are found, too", () => {
    const history = historyOf(MEBIBYTE);
    const marker = (index: number): string => `MARKER-${index}-${"m".repeat(20)}`;
    const secretOf = (data: object): AnyObject => ({ ...object("s", 1, { stringData: data }), kind: "Secret" });
    const said = (text: string, ...secrets: readonly AnyObject[]): string => {
      const record = begin(history, "ns/a");
      for (const secret of secrets) record.sees(Secret, secret);
      record.end({ result: "error", error: text });
      return record.outcome!.error!;
    };
    const large = `${marker(1)}${"x".repeat(900_000)}`;
    expect(said(`It is ${large}`, secretOf({ large }))).toBe("It is [redacted]");
    const many = Array.from({ length: 900 }, (_, index) => secretOf({ value: marker(index + 2) }));
    expect(said(`It is ${marker(2)} or ${marker(901)}`, ...many)).toBe("It is [redacted] or [redacted]");
    const crowd = secretOf(
      Object.fromEntries(Array.from({ length: 5_000 }, (_, index) => [`k${index}`, marker(index)])),
    );
    expect(said("It is hard to tell", crowd)).toStartWith("[redacted: ");
    const some = Array.from({ length: 1_000 }, (_, index) => secretOf({ value: marker(10_000 + index) }));
    expect(said("It can be told again", ...some)).toBe("It can be told again");
  });

  test("an event's author is the manager of the newest entry, among equals the one whose field differs", () => {
    const history = historyOf(MEBIBYTE);
    const entry = (manager: string, time: string, data: string) => ({
      manager,
      operation: "Update",
      time,
      fieldsV1: { "f:data": { ".": {}, [`f:${data}`]: {} } },
    });
    const by = (managedFields: readonly object[], more: object = {}): string | undefined => {
      const old = object("a", 1, { data: { x: "1", y: "1" } });
      const now = object("a", 2, { data: { x: "1", y: "2" } });
      const heard = { ...now, metadata: { ...now.metadata, ...more, managedFields } } as AnyObject;
      history.event(heard, old, false);
      return history.originOf(now, "update").by?.manager;
    };
    expect(by([entry("kubectl-edit", "2026-01-01T00:00:02Z", "y"), entry("site", "2026-01-01T00:00:01Z", "x")])).toBe(
      "kubectl-edit",
    );
    const at = "2026-01-01T00:00:02Z";
    expect(by([entry("site", at, "x"), entry("kubectl-edit", at, "y")])).toBe("kubectl-edit");
    const withoutParts = { manager: "first", operation: "Update", time: at, fieldsV1: { "f:data": {} } };
    expect(by([withoutParts, entry("kubectl-edit", at, "y")])).toBe("kubectl-edit");
    expect(by([entry("site", at, "x")], { deletionTimestamp: at })).toBeUndefined();
    expect(
      by([
        { manager: "x", time: at, fieldsV1: { "k:{": {} } },
        { manager: "y", time: at },
      ]),
    ).toBeUndefined();
  });

  test("a state and a deletion name the span of their write, when the run is traced", () => {
    const spans = ["b1", "b2"];
    const span = { ref: { trace: "a", span: "b" }, write: () => spans.shift()!, end: () => {} };
    const traces = { begin: () => span };
    const history = new RunHistory({
      bytes: MEBIBYTE,
      clock: new FakeClock(),
      replica: "r",
      traces,
      recordsAll: false,
    });
    const record = begin(history, "ns/a");
    const [first, second] = [object("b", 1, {}), object("c", 1, {})];
    record.wrote(first, { manager: "m", operation: "Update" }, record.spanOfWrite());
    record.deleted("ConfigMap", "c", record.spanOfWrite());
    const written = { id: record.id, controller: "c", key: "ns/a" };
    expect(history.originOf(first, "update").run).toEqual({ ...written, write: { trace: "a", span: "b1" } });
    expect(history.originOf(second, "delete").run).toEqual({ ...written, write: { trace: "a", span: "b2" } });
    const options = { bytes: MEBIBYTE, clock: new FakeClock(), replica: "r", recordsAll: false };
    const untraced = new RunHistory(options);
    expect(begin(untraced, "ns/a")).toBeUndefined();
    expect(untraced.stats).toMatchObject({ runs: 0, bytes: 0 });
  });

  test("tells who listens of each run that ends and of each line", () => {
    const history = historyOf(MEBIBYTE);
    const heard: string[] = [];
    const listeners = [
      history.onEnd((run: RunAnswer) => heard.push(`${run.key} ${run.outcome?.result}`)),
      history.onLine(({ message }, { key }) => heard.push(`${key}: ${message}`)),
    ];
    const record = begin(history, "ns/a");
    record.line("info", "Hello", { fields: undefined, clean: (text) => text });
    record.end({ result: "success" });
    for (const listener of listeners) listener[Symbol.dispose]();
    begin(history, "ns/b").end({ result: "success" });
    expect(heard).toEqual(["ns/a: Hello", "ns/a success"]);
  });
});
