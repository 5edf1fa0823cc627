import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { hostBound } from "../platform/as-host.ts";
import { sleep, systemClock } from "../platform/clock.ts";
import { service, Services } from "../reconcile/services.ts";
import { findModules, loadAll } from "./load-all.ts";
import { loadModule } from "./load.ts";
import { scanFolders } from "./scan.ts";

/** Its engine places an error behind the word `new`, and others before it. */
const IS_BUN = "Bun" in globalThis;

const offered = {
  binnacle: await import("../index.ts"),
  "binnacle/resources": await import("../resource/builtin/index.ts"),
  zod: await import("zod"),
  hono: await import("hono"),
  late: async () => {
    lateLoads++;
    return { answer: 42 };
  },
};
let lateLoads = 0;

let folder: string;
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "binnacle-loader-")));
});
afterEach(() => rmSync(folder, { recursive: true }));

function write(files: Readonly<Record<string, string>>): void {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
}

const controller = (name: string) =>
  `import { defineController } from "binnacle"; import { ConfigMap } from "binnacle/resources";
  export default defineController({ name: "${name}", for: ConfigMap, async reconcile() {} });`;

async function load(name = "m.ts", errors: unknown[] = []) {
  const found = { name, file: join(folder, name) };
  const [loaded] = loadAll([found], { offered, onError: (_, error) => errors.push(error), timeout: 200 });
  const { result } = await loaded!;
  return "broken" in result ? result.broken.replaceAll(folder, "DIR") : result.module;
}

describe("scanFolders", () => {
  test("takes files and folders with an index, and nothing else", () => {
    write({
      "a.ts": "",
      "b.js": "",
      "shop/index.ts": "",
      "_helper.ts": "",
      ".hidden.ts": "",
      "a.test.ts": "",
      "types.d.ts": "",
      "readme.md": "",
      "data.json": "",
      "lib/other.ts": "",
      "node_modules/x.js": "",
    });
    symlinkSync(join(folder, "a.ts"), join(folder, "link.ts"));
    symlinkSync(join(folder, "gone.ts"), join(folder, "broken-link.ts"));
    expect(scanFolders([folder]).map(({ name }) => name)).toEqual([
      "a.ts",
      "b.js",
      "broken-link.ts",
      "link.ts",
      "shop",
    ]);
    expect(scanFolders([folder])[4]!.file).toBe(join(folder, "shop/index.ts"));
  });

  test("takes what cannot be read for a module, which loading says is broken", () => {
    write({ "a.ts": "" });
    symlinkSync("loop.ts", join(folder, "loop.ts"));
    symlinkSync("loop", join(folder, "loop"));
    symlinkSync("/dev/zero", join(folder, "zero.ts"));
    symlinkSync("/dev/zero", join(folder, "zero.txt"));
    spawnSync("mkfifo", [join(folder, "pipe.ts")]);
    mkdirSync(join(folder, "shop"));
    symlinkSync("index.ts", join(folder, "shop/index.ts"));
    expect(scanFolders([folder]).map(({ name }) => name)).toEqual(["a.ts", "loop.ts", "pipe.ts", "shop", "zero.ts"]);
  });

  test("shows names without what a terminal acts on", () => {
    write({ "new\nline.ts": "", "esc\u001b[31m.ts": "" });
    expect(scanFolders([folder]).map(({ name }) => name)).toEqual([
      String.raw`esc\u001b[31m.ts`,
      String.raw`new\nline.ts`,
    ]);
  });

  test("names modules of several folders apart", () => {
    write({ "x/a.ts": "", "y/a.ts": "" });
    expect(scanFolders([join(folder, "x"), join(folder, "y")]).map(({ name }) => name)).toEqual([
      join(folder, "x/a.ts"),
      join(folder, "y/a.ts"),
    ]);
  });

  test("says what to do about a folder that cannot be used", () => {
    write({ "a.ts": "" });
    expect(() => findModules([join(folder, "gone")])).toThrow("Cannot find the controllers folder");
    expect(() => findModules([join(folder, "a.ts")])).toThrow("it is a file; name the folder that holds a.ts");
    rmSync(join(folder, "a.ts"));
    expect(() => findModules([folder])).toThrow(`Cannot find a module in '${folder}': put a .ts or .js file`);
  });
});

describe("loadModule", () => {
  test("a package that is offered late is loaded by the first import of it", async () => {
    lateLoads = 0;
    write({ "m.ts": controller("m") });
    await load();
    expect(lateLoads).toBe(0);
    write({ "n.ts": `import { answer } from "late"; ${controller("n").replace('"n"', "`n${answer}`")}` });
    expect(await load("n.ts")).toMatchObject({ definitions: { controllers: [{ name: "n42" }] } });
    write({ "o.ts": 'import { anser } from "late"; export default anser;' });
    expect(await load("o.ts")).toContain("'late' does not export it, did you mean 'answer'?");
  });

  test("gives the definitions, with the SDK of this process", async () => {
    write({ "m.ts": `${controller("x")}\nexport { kind } from "./_kind.ts";`, "_kind.ts": "export const kind = 1;" });
    const module = await load();
    if (typeof module === "string") throw new Error(module);
    expect(module.definitions.controllers.map(({ name }) => name)).toEqual(["x"]);
    module.dispose();
  });

  const broken: readonly [string, string, string][] = [
    ["a syntax error", "export const a = 1;\nexport const x = {{;", "DIR/m.ts:2:"],
    ["an exception", "export const a = 1;\n\nthrow new Error('boom');", `DIR/m.ts:3:${IS_BUN ? 11 : 7}: boom`],
    ["a value that is no error", "throw 'text'", "it threw text"],
    ["a missing file", 'import "./gone.ts"; export default 1;', "DIR/m.ts:1:8: Cannot find the file './gone.ts'"],
    [
      "a missing export",
      'import { defineControler } from "binnacle"; export default defineControler({});',
      "DIR/m.ts:1:10: Cannot import 'defineControler': 'binnacle' does not export it, did you mean 'defineController'?",
    ],
    ["nothing usable", "export const a = 1;", "Cannot find a definition: its exports (a) are none"],
    [
      "a wrong option",
      'import { defineController } from "binnacle";\nexport default defineController({ reconcile() {} } as never);',
      "DIR/m.ts:2:16: Cannot define a controller: option 'for' is missing",
    ],
    [
      "a load that never ends",
      "await new Promise(() => {}); export default 1;",
      "its top-level code did not end within 0.2 s",
    ],
  ];
  test.each(broken)("explains %s", async (_, source, message) => {
    write({ "m.ts": source });
    expect(await load()).toStartWith(message);
  });

  const lacking: readonly [how: string, line: string, message: string][] = [
    [
      "by name",
      'import { gone } from "./_lib.ts"; export default gone;',
      "DIR/m.ts:2:10: Cannot import 'gone': 'DIR/_lib.ts'",
    ],
    [
      "under another name",
      'import { gone as g } from "./_lib.ts"; export default g;',
      "DIR/m.ts:2:10: Cannot import 'gone'",
    ],
    [
      "as the default",
      'import gone from "./_lib.ts"; export default gone;',
      "DIR/m.ts:2:8: Cannot import 'default': 'DIR/_lib.ts'",
    ],
    [
      "as the default beside a name",
      'import gone, { there } from "./_lib.ts"; export default [gone, there];',
      "DIR/m.ts:2:8: Cannot import 'default': 'DIR/_lib.ts'",
    ],
    [
      "as the default of one name",
      'import one from "./_one.ts"; export default one;',
      "DIR/m.ts:2:8: Cannot import 'default'",
    ],
    ["in passing on", 'export { gone } from "./_lib.ts";', "DIR/m.ts:2:10: Cannot export 'gone': './_lib.ts'"],
    [
      "through a star",
      'import { gone } from "./_star.ts"; export default gone;',
      "DIR/m.ts:2:10: Cannot import 'gone': 'DIR/_star.ts'",
    ],
    [
      "in a helper of the helper",
      'import { far } from "./_far.ts"; export default far;',
      "DIR/_far.ts:1:10: Cannot import 'gone'",
    ],
    ["that is a type", 'import { Type } from "./_lib.ts"; export default Type;', "DIR/m.ts:2:10: Cannot import 'Type'"],
    [
      "of CommonJS",
      'import { gone } from "./_common.cjs"; export default gone;',
      "DIR/m.ts:2:10: Cannot import 'gone'",
    ],
    ["of JSON", 'import { gone } from "./_data.json"; export default gone;', "DIR/m.ts:2:10: Cannot import 'gone'"],
  ];
  test.each(lacking)("refuses a name that a helper lacks, %s", async (_, line, message) => {
    write({
      "m.ts": `// A module.\n${line}`,
      "_lib.ts": "export const there = 1; export type Type = string;",
      "_one.ts": "export const one = 1;",
      "_star.ts": 'export * from "./_lib.ts";',
      "_far.ts": 'import { gone } from "./_lib.ts"; export const far = () => gone;',
      "_common.cjs": "module.exports = { there: 1 };",
      "_data.json": '{ "there": 1 }',
    });
    const told = await load();
    expect(told).toStartWith(message);
    expect(told).toContain("does not export it");
  });

  test("refuses a module that changes what all modules share, and puts it back", async () => {
    const { map } = Array.prototype;
    write({
      "m.ts": `import "./_patch.ts"; ${controller("m")}`,
      "_patch.ts": "Array.prototype.map = () => []; Object.prototype.polluted = true; Array.prototype['a(*'] = 1;",
      "slow.ts": `await new Promise((resolve) => setTimeout(resolve, 50)); ${controller("slow")}`,
      "late.ts": `await new Promise((resolve) => setTimeout(resolve, 20)); JSON.parse = () => 1;
        await new Promise((resolve) => setTimeout(resolve, 100)); ${controller("late")}`,
      "fails.ts": 'Object.keys = () => []; throw new Error("boom");',
    });
    const names = ["fails.ts", "late.ts", "m.ts", "slow.ts"];
    const loading = loadAll(
      names.map((name) => ({ name, file: join(folder, name) })),
      { offered, onError: () => {} },
    );
    const told = (await Promise.all(loading)).map(({ result }) => ("broken" in result ? result.broken : "fine"));
    expect(told).toEqual([
      expect.stringMatching(/^it changes Object\.keys, .*; it failed with: .*fails\.ts:1:3[15]: boom$/),
      expect.stringMatching(/^it changes JSON\.parse, which all modules and the SDK share/),
      expect.stringMatching(
        /^it changes Array\.prototype\.map, Object\.prototype\.polluted, Array\.prototype\.a\(\*, /,
      ),
      "fine",
    ]);
    expect(Array.prototype.map).toBe(map);
    expect("polluted" in {}).toBe(false);
    expect(Object.keys({ a: 1 })).toEqual(["a"]);
  });

  test("loads a module beside one that changes what all modules share", async () => {
    write({
      "a.ts": controller("a"),
      "b.ts": `JSON.stringify = () => "nonsense"; Array.prototype.map = () => []; ${controller("b")}`,
      "c.ts": controller("c"),
    });
    const found = ["a.ts", "b.ts", "c.ts"].map((name) => ({ name, file: join(folder, name) }));
    const loaded = await Promise.all(loadAll(found, { offered, onError: () => {} }));
    const told = loaded.map(({ result }) => ("broken" in result ? result.broken : "fine"));
    expect(told).toEqual([
      "fine",
      expect.stringMatching(/^it changes Array\.prototype\.map, JSON\.stringify, which/),
      "fine",
    ]);
    expect(told[1]).not.toContain("nonsense");
  });

  test("refuses a module that ends the process while it loads", async () => {
    write({ "m.ts": "\nprocess.exit(3);" });
    expect(await load()).toBe(
      "DIR/m.ts:2:9: Cannot end the process with process.exit: other modules run in it too. Throw an error instead",
    );
  });

  test("shows the line of a syntax error, also of a file that the module imports", async () => {
    write({ "m.ts": 'import "./_lib.ts";', "_lib.ts": "\nconst x = ;\n" });
    expect(await load()).toMatch(/^DIR\/_lib\.ts:2:\d+: .*\n {4}const x = ;$/);
  });

  test("shows nothing of a file in another place that a link leads to", async () => {
    write({ shadow: "root:$6$hunter2:19000:0:99999:7:::\n", "deep/controllers/n.ts": 'import "./_lib.ts";' });
    const [entry, imported] = [join(folder, "deep/controllers/m.ts"), join(folder, "deep/controllers/_lib.ts")];
    for (const link of [entry, imported]) symlinkSync(join(folder, "shadow"), link);
    for (const name of ["deep/controllers/m.ts", "deep/controllers/n.ts"]) {
      expect(await load(name)).toMatch(
        /^DIR\/.*: it is not TypeScript, and is not shown, because it is in another place$/,
      );
    }
    write({ "deep/shared.ts": "const x = ;" });
    rmSync(entry);
    symlinkSync(join(folder, "deep/shared.ts"), entry);
    expect(await load("deep/controllers/m.ts")).toContain("const x = ;");
  });

  // Deno takes an addon for a script as soon as somebody looks at what it loads.
  test.skipIf(!IS_BUN)("says of a native addon that it cannot be loaded, and what to do instead", async () => {
    const advice =
      "; an addon is made for one machine: install it for this one, or use a package without an addon, which can also be built into an image";
    write({
      "m.ts": 'import addon from "metal"; void addon;',
      "node_modules/metal/index.js": 'require("./metal.node")',
    });
    write({ "node_modules/metal/package.json": "{}", "node_modules/metal/metal.node": "none" });
    const failed = await load();
    expect(failed).toStartWith("Cannot load the native addon 'DIR/node_modules/metal/metal.node': ");
    expect(failed).toEndWith(advice);
    write({ "m.ts": 'import addon from "./metal.node"; void addon;', "metal.node": "none" });
    expect(await load()).toMatch(
      /Cannot load (a native addon: an `import` loads none|the native addon 'DIR\/metal\.node')/,
    );
    expect(await load()).toEndWith(advice);
  });

  test("says of a link that it leads nowhere", async () => {
    symlinkSync(join(folder, "gone.ts"), join(folder, "m.ts"));
    expect(await load()).toBe("DIR/m.ts is a link that leads nowhere: mend or remove it");
  });

  test("reads nothing that is no file, neither as a module nor for one, and says what it is", async () => {
    symlinkSync("/dev/zero", join(folder, "zero.ts"));
    symlinkSync("loop.ts", join(folder, "loop.ts"));
    spawnSync("mkfifo", [join(folder, "pipe.ts")]);
    mkdirSync(join(folder, "shop"));
    symlinkSync("index.ts", join(folder, "shop/index.ts"));
    write({ "m.ts": 'import "./zero.ts"; export default 1;', "n.ts": 'import x from "/dev/zero"; export default x;' });
    expect(await load("zero.ts")).toBe("DIR/zero.ts is a device, and no file");
    expect(await load("pipe.ts")).toBe("DIR/pipe.ts is a pipe, and no file");
    expect(await load("loop.ts")).toBe("DIR/loop.ts is a link that leads in a circle: mend or remove it");
    expect(await load("shop/index.ts")).toBe("DIR/shop/index.ts is a link that leads in a circle: mend or remove it");
    expect(await load("m.ts")).toBe("/dev/zero is a device, and no file");
    expect(await load("n.ts")).toMatch(
      /^(DIR\/n\.ts:1:15: Cannot find the file '\/dev\/zero'|\/dev\/zero is a device, and no file)$/,
    );
  });

  test("refuses files that are larger than any module", async () => {
    write({ "m.ts": 'import data from "./big.json"; export default data;' });
    spawnSync("truncate", ["-s", "100M", join(folder, "big.json")]);
    expect(await load()).toBe("DIR/big.json is larger than 64 MiB, and no module");
  });

  test("refuses a name that cannot be shown", async () => {
    write({ "new\nline.ts": controller("x") });
    expect(await load("new\nline.ts")).toBe(
      String.raw`its name 'new\nline.ts' has characters that cannot be shown: rename it`,
    );
  });

  test("offers exact names only", async () => {
    write({ "m.ts": 'import x from "binnacle/nope"; export default x;' });
    expect(await load()).toContain("Cannot find 'binnacle/nope': the binary offers 'binnacle', 'binnacle/resources'");
  });

  test("loads what is on disk now, not what was loaded before", async () => {
    write({
      "m.ts":
        'import { name } from "./_name.ts"; import { defineKeyController } from "binnacle"; export default defineKeyController({ name, async reconcile() {} });',
      "_name.ts": 'export const name = "one";',
    });
    const first = await load();
    write({ "_name.ts": 'export const name = "two";' });
    const second = await load();
    if (typeof first === "string" || typeof second === "string") throw new Error("broken");
    expect([first, second].map(({ definitions }) => definitions.controllers[0]!.name)).toEqual(["one", "two"]);
  });

  test("a rejection and a timer's exception of a module reach onError, when called through invoke", async () => {
    write({
      "m.ts": `${controller("x")}
      export const list = [{ fail() { void Promise.reject(new Error("rejected")); setTimeout(() => { throw new Error("thrown"); }, 1); } }];`,
    });
    const errors: unknown[] = [];
    const found = { name: "m.ts", file: join(folder, "m.ts") };
    const { loadGraph } = await import("#runtime/module-host");
    const graph = await loadGraph(found.file, { onError: (error) => errors.push(error) });
    const [{ fail }] = graph.exports["list"] as [{ fail: () => void }];
    graph.run(fail);
    await sleep(20);
    expect(errors.map(String).sort()).toEqual(["Error: rejected", "Error: thrown"]);
    graph.dispose();
  });

  test("what the SDK opens for a module outlives it", async () => {
    write({ "m.ts": "export function call(fn) { return fn(); }" });
    const { loadGraph } = await import("#runtime/module-host");
    const graph = await loadGraph(join(folder, "m.ts"), { onError: () => {} });
    const call = graph.exports["call"] as (fn: () => void) => void;
    const fired: string[] = [];
    graph.run(() =>
      call(() => {
        hostBound(systemClock).setTimeout(() => fired.push("of the host"), 20);
        systemClock.setTimeout(() => fired.push("of the module"), 20);
      }),
    );
    graph.dispose();
    await sleep(50);
    expect(fired).toEqual(["of the host"]);
  });

  test("what a service opens belongs to the module that provides it, whoever calls it", async () => {
    write({
      "provider.ts":
        "export class Bell { #rings = 0; ring(tell) { return setTimeout(() => tell(++this.#rings), 20); } }",
      "user.ts": "export function use(bell, tell) { bell.ring(tell); setTimeout(() => tell('of the user'), 20); }",
    });
    const { loadGraph } = await import("#runtime/module-host");
    const provider = await loadGraph(join(folder, "provider.ts"), { onError: () => {} });
    const user = await loadGraph(join(folder, "user.ts"), { onError: () => {} });
    const services = new Services();
    const instance = new (provider.exports["Bell"] as new () => object)();
    services.set(new Map([["bells/bell", { instance, call: (work) => provider.run(work) }]]));
    const told: unknown[] = [];
    const use = user.exports["use"] as (bell: object, tell: (what: unknown) => void) => void;
    user.run(() => use(services.use(service("bells/bell")), (what) => told.push(what)));
    user.dispose();
    await sleep(50);
    expect(told).toEqual([1]);
    provider.dispose();
  });

  test("a broken module comes back with a hash of its files", async () => {
    write({ "m.ts": "export const a = 1;", "n.ts": "export const a = 1;" });
    const load = (name: string) => loadModule({ name, file: join(folder, name) }, { offered, onError: () => {} });
    const first = await load("m.ts");
    write({ "m.ts": "export const a = 2;" });
    expect((await load("m.ts")).hash).not.toBe(first.hash);
  });
});

describe("packages", () => {
  const packageFiles = (version: string, peer?: string): Readonly<Record<string, string>> => ({
    "node_modules/@acme/tracing/package.json": JSON.stringify({
      name: "@acme/tracing",
      version,
      type: "module",
      exports: { ".": "./dist/index.js" },
      ...(peer !== undefined && { peerDependencies: { binnacle: peer } }),
    }),
    "node_modules/@acme/tracing/dist/index.js": `import { definePlugin } from "binnacle";
      export const tracing = definePlugin({ name: "tracing", setup() {} });`,
  });
  const loadFrom = async (text: string) => {
    write({ "controllers/m.ts": text });
    const found = { name: "m.ts", file: join(folder, "controllers/m.ts") };
    const [loaded] = loadAll([found], { offered, version: "1.4.0+abc", onError: () => {} });
    const { result } = await loaded!;
    return "broken" in result ? result.broken.replaceAll(folder, "DIR") : result.module.definitions.plugins[0]?.name;
  };
  const passedOn = `// a plugin from npm\nexport { tracing } from "@acme/tracing";`;

  test("a plugin of a package beside the controllers folder is the module's, with the binary's SDK", async () => {
    write({ ...packageFiles("2.0.1", "^1.2.0"), "node_modules/binnacle/index.js": "throw new Error('not this one')" });
    expect(await loadFrom(passedOn)).toBe("tracing");
    write(packageFiles("2.0.1"));
    expect(await loadFrom(passedOn)).toBe("tracing");
  });

  test("a package for another binnacle is refused, with the place of its import", async () => {
    write(packageFiles("2.0.1", "^2.0.0"));
    expect(await loadFrom(passedOn)).toBe(
      "DIR/controllers/m.ts:2:25: Cannot use the package '@acme/tracing' 2.0.1: it is made for binnacle ^2.0.0, and this is " +
        "1.4.0; install a version of it for this binnacle, or take such a binnacle",
    );
  });

  test("a definition that another SDK has made is refused by its contract version", async () => {
    write({
      "node_modules/old/index.js": `export const old = Object.freeze({ type: "plugin", [Symbol.for("binnacle.definition")]: 0 });`,
    });
    expect(await loadFrom(`export { old } from "old";`)).toContain(
      "export 'old': Cannot use a definition of contract version 0: this binnacle has 1; import its SDK from 'binnacle'",
    );
  });
});
