import { describe, expect, test } from "bun:test";
import type { Clock } from "../platform/clock.ts";
import { healthApp } from "./health-app.ts";
import { HealthChecks } from "./health-checks.ts";

const ok = () => undefined;
const blech = () => "blech";

function appWith(fill: (readyz: HealthChecks) => void) {
  const readyz = new HealthChecks();
  fill(readyz);
  return healthApp({ healthz: new HealthChecks(), livez: new HealthChecks(), readyz });
}

async function answer(app: ReturnType<typeof healthApp>, path: string): Promise<[number, string]> {
  const response = await app.request(path, { headers: { host: "localhost:8081" } }, { peer: "127.0.0.1" });
  expect(response.headers.get("Content-Type")).toBe("text/plain; charset=utf-8");
  expect(response.headers.get("X-Content-Type-Options")).toBe("nosniff");
  return [response.status, await response.text()];
}

const two = (checks: HealthChecks) => {
  checks.add("ok2", ok);
  checks.add("ok1", ok);
};
const oneBad = (checks: HealthChecks) => {
  checks.add("ok1", ok);
  checks.add("bad1", blech);
};

describe("healthApp", () => {
  test("HLTH-01 healthApp answers ok when all are, with and without a slash at the end", async () => {
    const app = appWith(two);
    expect(await answer(app, "/readyz")).toEqual([200, "ok"]);
    expect(await answer(app, "/readyz/")).toEqual([200, "ok"]);
  });

  test("HLTH-02 healthApp lists all checks when one fails, and says why to who asks from here", async () => {
    const expected = "[-]bad1 failed: blech\n[+]ok1 ok\nreadyz check failed\n";
    expect(await answer(appWith(oneBad), "/readyz")).toEqual([500, expected]);
  });

  test("HLTH-03 healthApp lists all checks by name with ?verbose", async () => {
    const expected = "[+]ok1 ok\n[+]ok2 ok\nreadyz check passed\n";
    expect(await answer(appWith(two), "/readyz?verbose=true")).toEqual([200, expected]);
    expect(await answer(appWith(two), "/readyz/?verbose")).toEqual([200, expected]);
  });

  test("HLTH-04 healthApp leaves out what ?exclude= names, and warns of unknown names", async () => {
    const app = appWith(oneBad);
    expect(await answer(app, "/readyz?exclude=bad1")).toEqual([200, "ok"]);
    expect(await answer(app, "/readyz?exclude=bad1&exclude=x")).toEqual([200, "ok"]);
    expect(await answer(app, "/readyz?verbose&exclude=bad1&exclude=x")).toEqual([
      200,
      "[+]bad1 excluded: ok\n[+]ok1 ok\n" +
        'warn: some health checks cannot be excluded: no matches for "x"\nreadyz check passed\n',
    ]);
    expect((await answer(app, "/readyz?exclude=ok1"))[0]).toBe(500);
  });

  test("HLTH-05 healthApp has a check named ping when it has no other", async () => {
    const app = appWith(() => {});
    expect(await answer(app, "/healthz?verbose")).toEqual([200, "[+]ping ok\nhealthz check passed\n"]);
    expect(await answer(app, "/healthz/ping")).toEqual([200, "ok"]);
    expect(await answer(app, "/livez")).toEqual([200, "ok"]);
    expect((await answer(appWith(two), "/readyz/ping"))[0]).toBe(404);
  });

  test("HLTH-06 healthApp answers each check on its own path, with the reason", async () => {
    const app = appWith((checks) => {
      checks.add("failcheck", blech);
      checks.add("okcheck", ok);
      checks.add("plugin/deep", ok);
    });
    expect(await answer(app, "/readyz/failcheck")).toEqual([500, "internal server error: blech\n"]);
    expect(await answer(app, "/readyz/okcheck")).toEqual([200, "ok"]);
    expect(await answer(app, "/readyz/okcheck/")).toEqual([200, "ok"]);
    expect(await answer(app, "/readyz/plugin/deep")).toEqual([200, "ok"]);
    expect((await answer(app, "/readyz/unknown"))[0]).toBe(404);
  });

  test("healthApp counts checks that throw or reject as failed", async () => {
    const app = appWith((checks) => {
      checks.add("throws", () => {
        throw new Error("at once");
      });
      checks.add("rejects", () => Promise.reject(new Error("later")));
      checks.add("waits", () => Promise.resolve("not yet"));
    });
    expect(await answer(app, "/readyz/throws")).toEqual([500, "internal server error: at once\n"]);
    expect(await answer(app, "/readyz/rejects")).toEqual([500, "internal server error: later\n"]);
    expect(await answer(app, "/readyz")).toEqual([
      500,
      "[-]rejects failed: later\n[-]throws failed: at once\n[-]waits failed: not yet\nreadyz check failed\n",
    ]);
  });

  test("healthApp counts a check that does not answer within 5 s as failed", async () => {
    const readyz = new HealthChecks();
    readyz.add("hangs", () => new Promise(() => {}));
    const waits: number[] = [];
    const clock: Clock = {
      now: () => 0,
      setTimeout(callback, ms) {
        waits.push(ms);
        queueMicrotask(callback);
        return { [Symbol.dispose]() {} };
      },
    };
    const app = healthApp({ healthz: new HealthChecks(), livez: new HealthChecks(), readyz, clock });
    expect(await answer(app, "/readyz/hangs")).toEqual([500, "internal server error: no result within 5 s\n"]);
    expect(waits).toEqual([5000]);
  });

  test("healthApp lists notes with ?verbose only, and they do not fail it", async () => {
    const readyz = new HealthChecks();
    const app = healthApp({ healthz: new HealthChecks(), livez: new HealthChecks(), readyz });
    readyz.add("informers", ok);
    const note = readyz.note("module/broken.ts", () => "broken: Unexpected }\n  at line 3");
    expect(await answer(app, "/readyz")).toEqual([200, "ok"]);
    expect(await answer(app, "/readyz?verbose")).toEqual([
      200,
      "[+]informers ok\n[ ]module/broken.ts broken: Unexpected } at line 3\nreadyz check passed\n",
    ]);
    readyz.note("module/fine.ts", () => undefined);
    expect((await answer(app, "/readyz?verbose"))[1]).toContain("at line 3\n[+]module/fine.ts ok\nreadyz");
    note[Symbol.dispose]();
    expect(await answer(app, "/readyz?verbose")).toEqual([
      200,
      "[+]informers ok\n[+]module/fine.ts ok\nreadyz check passed\n",
    ]);
  });
});

describe("HealthChecks", () => {
  test("add refuses a name twice and frees it when disposed of", () => {
    const checks = new HealthChecks();
    const first = checks.add("a", ok);
    expect(() => checks.add("a", ok)).toThrow('"a"');
    expect(() => checks.note("a", () => "")).toThrow('"a"');
    first[Symbol.dispose]();
    checks.add("a", blech);
    first[Symbol.dispose]();
    expect(checks.checks()).toEqual([["a", blech]]);
  });
});
