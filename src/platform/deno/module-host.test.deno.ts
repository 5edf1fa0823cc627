import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { connect, createServer, type AddressInfo, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { until } from "../../../tests/support/until.ts";
import { guardProcess } from "../process-guard.ts";
import { currentModule } from "./current-module.ts";
import { importsOf, loadGraph, offerModules, resolveImport } from "./module-host.ts";

const shared = { of: "the process" };
let lateLoads = 0;

guardProcess();
offerModules({
  binnacle: { shared },
  zod: await import("zod"),
  late: async () => ({ answer: ++lateLoads }),
  "hono/jsx/jsx-runtime": () => import("hono/jsx/jsx-runtime"),
});

let folder: string;
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "binnacle-deno-")));
});
afterEach(() => rmSync(folder, { recursive: true }));

function write(files: Readonly<Record<string, string>>): void {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
}

const unexpected = (error: unknown): never => {
  throw error;
};

async function load(name = "m.ts", onError: (error: unknown) => void = unexpected) {
  const files = [name, "_page.tsx", "_data.yaml"].map((file) => join(folder, file));
  return await loadGraph(join(folder, name), { onError, files, timeout: name === "hangs.ts" ? 300 : 20_000 });
}

describe("loadGraph", () => {
  test("gives modules the packages of the process, without node_modules", async () => {
    write({
      "m.ts":
        'import { shared } from "binnacle"; import { z } from "zod"; import { answer } from "late"; export { answer, shared, z };',
    });
    const { exports } = await load();
    expect(exports["shared"]).toBe(shared);
    expect(exports["z"]).toBe((await import("zod")).z);
    expect([exports["answer"], lateLoads]).toEqual([1, 1]);
    await load();
    expect(lateLoads).toBe(1);
  });

  test("reads every file anew", async () => {
    const version = (value: number) => ({
      "m.ts":
        'export { value } from "./_value"; export { default as data } from "./_data.json" with { type: "json" }; import common from "./_common.cjs"; export { common };',
      "_value.ts": 'export { value } from "./_deep/index.js";',
      "_deep/index.ts": `export const value: number = ${value};`,
      "_data.json": `{ "value": ${value} }`,
      "_common.cjs": `module.exports = { value: ${value} };`,
    });
    for (const value of [1, 2, 3]) {
      write(version(value));
      const { exports } = await load();
      expect(exports).toMatchObject({ value, data: { value }, common: { value } });
    }
  });

  test("loads enums, JSX, YAML, texts and JSON without an attribute, also anew", async () => {
    for (const text of ["one", "two"]) {
      write({
        "m.ts": `import data, { list } from "./_data.yaml"; import note from "./_note.txt"; import json from "./_json.json";
          import { Page } from "./_page.tsx"; import { Colour } from "./_enum.ts";
          export const all = [data.list === list, list, note, json, String(Page({})), Colour.red];`,
        "_data.yaml": `list: [${text}]`,
        "_note.txt": text,
        "_json.json": JSON.stringify(text),
        "_page.tsx": `export const Page = (_: object) => <p>it's {"${text}"}</p>;`,
        "_enum.ts": `export enum Colour { red = "${text}" }`,
      });
      const { exports } = await load();
      expect(exports["all"]).toEqual([true, [text], text, text, `<p>it&#39;s ${text}</p>`, text]);
    }
  });

  test("loads packages beside the module, which get those of the process", async () => {
    const packaged = (name: string, manifest: object, files: Readonly<Record<string, string>>) => ({
      [`node_modules/${name}/package.json`]: JSON.stringify({ name, version: "1.0.0", ...manifest }),
      ...Object.fromEntries(Object.entries(files).map(([file, text]) => [`node_modules/${name}/${file}`, text])),
    });
    write({
      ...packaged(
        "modern",
        { type: "module", exports: { ".": { import: "./lib/main.js" } } },
        {
          "lib/main.js": 'import { shared } from "binnacle"; import old from "old"; export { old, shared };',
        },
      ),
      ...packaged(
        "old",
        { main: "./main.js" },
        {
          "main.js": 'exports.shared = require("binnacle").shared; exports.deep = require("./deep");',
          "deep.js": "module.exports = 1;",
        },
      ),
      "m.ts":
        'import { old, shared } from "modern"; import again, { deep } from "old"; export { again, deep, old, shared };',
    });
    const { exports } = await load();
    expect(exports["shared"]).toBe(shared);
    expect(exports).toMatchObject({ deep: 1, old: { deep: 1 }, again: { deep: 1 } });
    expect((exports["old"] as { shared: object }).shared).toBe(shared);
  });

  test("names files as the user does, in stacks and to the module itself", async () => {
    write({
      "m.ts": `interface Shape {
  readonly a: number;
}
export const where = [import.meta.url, import.meta.filename, import.meta.dirname];
export function fail(shape: Shape): never {
  throw new Error(String(shape.a));
}`,
    });
    const { exports, run } = await load();
    const path = join(folder, "m.ts");
    expect(exports["where"]).toEqual([`file://${path}`, path, folder]);
    const fail = exports["fail"] as (shape: object) => never;
    let stack = "";
    try {
      run(() => fail({ a: 1 }));
    } catch (error) {
      stack = (error as Error).stack!;
    }
    expect(stack.split("\n").slice(0, 2)).toEqual(["Error: 1", `    at fail (${path}:6:9)`]);
  });

  test("says where a mistake is", async () => {
    write({
      "m.ts": "const one = 1;\nexport const two: number = ;\n",
      "n.js": "\nexport const = 2;",
      "o.ts": 'import "nowhere";',
    });
    const errors = await Promise.all(
      ["m.ts", "n.js", "o.ts"].map((name) => load(name).then(unexpected, (error: unknown) => error)),
    );
    expect(errors[0]).toMatchObject({ position: { file: join(folder, "m.ts"), line: 2, column: 28 } });
    expect(errors[1]).toMatchObject({ position: { file: join(folder, "n.js"), line: 2, column: 14 } });
    expect(errors[2]).toMatchObject({ specifier: "nowhere", referrer: join(folder, "o.ts") });
  });
});

describe("errors of a module", () => {
  test("reach its owner, whatever they are and wherever they come from", async () => {
    write({
      "m.ts": `Promise.reject("while loading");
        await new Promise((resolve) => setTimeout(resolve, 1));
        Promise.reject("after waiting");
        export function fail() {
          setTimeout(() => { throw "of a timer"; }, 1);
          setImmediate(() => { throw new Error("of an immediate"); });
          queueMicrotask(() => { throw "of a microtask"; });
          void (async () => { await 1; throw "of a function"; })();
          void import("./_later.ts");
        }`,
      "_later.ts": 'setTimeout(() => { throw "of a late import"; }, 1); throw "late";',
    });
    const errors: unknown[] = [];
    const graph = await load("m.ts", (error) => errors.push(error));
    graph.run(graph.exports["fail"] as () => void);
    await until(() => errors.length >= 8);
    expect(errors.map((error) => (error instanceof Error ? error.message : String(error))).toSorted()).toEqual([
      "after waiting",
      "late",
      "of a function",
      "of a late import",
      "of a microtask",
      "of a timer",
      "of an immediate",
      "while loading",
    ]);
    graph.dispose();
  });

  test("are those of the module that calls, also where two share a helper", async () => {
    write({
      "m.ts": 'export { fail } from "./_fail.ts";',
      "n.ts": 'export { fail } from "./_fail.ts";',
      "_fail.ts": 'export function fail() { void Promise.reject(new Error("shared")); }',
    });
    const errors: string[] = [];
    const [m, n] = [await load("m.ts", () => errors.push("m")), await load("n.ts", () => errors.push("n"))];
    n.run(n.exports["fail"] as () => void);
    await until(() => errors.length > 0);
    expect(errors).toEqual(["n"]);
    for (const graph of [m, n]) graph.dispose();
  });

  test("do not reach anybody once it has left", async () => {
    write({ "m.ts": "export const wait = async (released) => { await released; throw new Error('late'); };" });
    const errors: unknown[] = [];
    const graph = await load("m.ts", (error) => errors.push(error));
    const { promise, resolve } = Promise.withResolvers<void>();
    const waiting = graph.run(() => (graph.exports["wait"] as (released: Promise<void>) => Promise<void>)(promise));
    waiting.catch((error: unknown) => errors.push(error));
    graph.run(() => void waiting.then(() => undefined));
    graph.dispose();
    resolve();
    await until(() => errors.length > 0);
    expect(errors.map(String)).toEqual(["Error: late"]);
  });
});

/** Returns the module to which the runtime ascribes what it calls by itself. */
async function moduleOfNobody(): Promise<object | undefined> {
  const { promise, resolve } = Promise.withResolvers<object | undefined>();
  const onError = (event: Event): void => {
    event.preventDefault();
    resolve(currentModule());
  };
  globalThis.addEventListener("error", onError, { once: true });
  setTimeout(() => {
    throw new Error("nobody's");
  }, 1);
  return await promise;
}

test("what the process does is not taken for a module's, however the module was loaded", async () => {
  write({
    "plain.ts": "export {};",
    "waits.ts": "await new Promise((resolve) => setTimeout(resolve, 1));",
    "throws.ts": "throw new Error('no');",
    "hangs.ts": "await new Promise(() => {});",
    "late.ts": "export const go = () => import('./_late.ts');",
    "_late.ts": "export {};",
  });
  for (const name of ["plain.ts", "waits.ts", "throws.ts", "hangs.ts", "late.ts"]) {
    const loading = load(name);
    const during = loading.then(moduleOfNobody, moduleOfNobody);
    expect(await during).toBeUndefined();
    const graph = await loading.catch(() => undefined);
    if (name === "late.ts") await graph!.run(graph!.exports["go"] as () => Promise<unknown>);
    expect(await moduleOfNobody()).toBeUndefined();
    graph?.dispose();
  }
});

/** A module that opens much and closes nothing. */
const LEAKING = `
import http from "node:http";
import net from "node:net";
import { spawn } from "node:child_process";
export const state = { ticks: 0 };
const on = () => {};
setInterval(() => void state.ticks++, 2);
export function open(port) {
  const again = () => { state.ticks++; setTimeout(again, 2); };
  again();
  void fetch("http://127.0.0.1:" + port + "/fetch").catch(() => {});
  const served = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen() {} }, () => new Response("x"));
  const nodes = [net.createServer(() => {}), http.createServer(() => {})];
  for (const server of nodes) server.listen(0, "127.0.0.1");
  process.on("SIGUSR2", on);
  process.once("exit", on);
  const child = spawn("sleep", ["600"]).pid;
  return () => ({ ports: [served.addr.port, ...nodes.map((server) => server.address().port)], child });
}`;

const listeners = () => ["SIGUSR2", "exit"].map((event) => process.listenerCount(event));

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

function isOpen(port: number): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const socket = connect(port, "127.0.0.1", () => resolve(true));
  socket.on("error", () => resolve(false));
  return promise.finally(() => socket.destroy());
}

test("dispose ends the timers, requests, servers, children and listeners of a module", async () => {
  const asked: Socket[] = [];
  const server = createServer((socket) => {
    socket.on("error", () => {});
    socket.resume();
    asked.push(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  try {
    write({ "m.ts": LEAKING });
    const before = listeners();
    const graph = await load();
    const { open, state } = graph.exports as {
      open: (port: number) => () => { ports: number[]; child: number };
      state: { ticks: number };
    };
    const opened = graph.run(() => open((server.address() as AddressInfo).port));
    await until(() => asked.length === 1 && state.ticks > 2);
    const { ports, child } = opened();
    expect(await Promise.all(ports.map(isOpen))).toEqual([true, true, true]);
    expect(isAlive(child)).toBe(true);
    expect(listeners()).toEqual(before.map((count) => count + 1));
    graph.dispose();
    await until(() => asked.every(({ destroyed }) => destroyed) && !isAlive(child));
    await until(async () => (await Promise.all(ports.map(isOpen))).every((is) => !is));
    expect(listeners()).toEqual(before);
    const { ticks } = state;
    await new Promise((resolve) => setTimeout(resolve, 50)); // many of the module's ticks
    expect(state.ticks).toBe(ticks);
  } finally {
    server.close();
    for (const socket of asked) socket.destroy();
  }
});

test("importsOf lists what is needed at run time, also beside types and JSX", () => {
  const source = `
import type { A } from "types";
import { b, type C } from "b";
import "./side.ts";
export * from "./star.ts";
export { d } from './d.ts';
const e = await import("./late.ts");
const f = require("./common.cjs");
// import "comment";
const text = 'import "text"';
`;
  const names = ["b", "./side.ts", "./star.ts", "./d.ts", "./late.ts", "./common.cjs"];
  expect(importsOf(source)).toEqual(names);
  expect(importsOf(`${source}export const g = <p>it's</p>;`)).toContain("./side.ts");
});

test("resolveImport finds files as they are meant", () => {
  write({ "a.ts": "", "b/index.ts": "", "c.json": "" });
  const from = join(folder, "m.ts");
  const found = (name: string) => resolveImport(name, from)?.slice(folder.length);
  expect(["./a", "./a.ts", "./a.js", "./b", "./c.json", "./gone.ts", "gone"].map(found)).toEqual([
    "/a.ts",
    "/a.ts",
    "/a.ts",
    "/b/index.ts",
    "/c.json",
    undefined,
    undefined,
  ]);
});
