/** Modules with a configuration, loaded from files with values from files. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { LoadedModule } from "../module/loaded-module.ts";
import { createLog } from "../observe/log.ts";
import { watchedFoldersOf } from "./config-files.ts";
import { ConfigFollower } from "./config-follower.ts";
import { findModules, loadAll } from "./load-all.ts";
import { configFaults, loadConfigOf, readSources } from "./module-config.ts";
import { ModuleWatcher } from "./module-watcher.ts";
import { readSteady } from "./read-steady.ts";

const offered = { binnacle: await import("../index.ts") };
let folder: string;
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "binnacle-config-")));
});
afterEach(() => rmSync(folder, { recursive: true }));

function write(files: Readonly<Record<string, string>>): void {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
}

/** The controller is called like the value of `mode`. */
const module = (fields: string, more = "") => `
  import { config, defineKeyController, z } from "binnacle"; ${more}
  export const settings = config(z.object({ ${fields} }));
  export default defineKeyController({ name: settings.mode, async reconcile() {} });`;

async function loaded({ env = {}, paths = [] as string[] } = {}) {
  const found = findModules([join(folder, "modules")]);
  const places = paths.map((path) => join(folder, path));
  const origin = { env, paths: places };
  const sources = await readSources(origin);
  const options = { offered, onError: () => {} };
  const all = await Promise.all(loadAll(found, { ...options, config: loadConfigOf(sources, found) }));
  return { all, sources, origin, options };
}

/** Makes what the kubelet makes of a ConfigMap: links through `..data`, which another call replaces as a whole. */
function mount(path: string, texts: Readonly<Record<string, string>>, version: string): void {
  const own = join(folder, path);
  for (const [name, text] of Object.entries(texts)) write({ [`${path}/..${version}/${name}`]: text });
  symlinkSync(`..${version}`, join(own, "..data_tmp"));
  renameSync(join(own, "..data_tmp"), join(own, "..data"));
  for (const name of Object.keys(texts)) {
    const [top] = name.split("/") as [string];
    rmSync(join(own, top), { force: true });
    symlinkSync(join("..data", top), join(own, top));
  }
}

test("values are there while the module loads, and a file that several import has one name", async () => {
  write({
    "modules/shop.ts": module("mode: z.string()"),
    "modules/other.ts": `import { settings } from "./shop.ts"; import { defineKeyController } from "binnacle";
      await Promise.resolve();
      export default defineKeyController({ name: "other-" + settings.mode, async reconcile() {} });`,
    "modules/folder/index.ts": `import { settings } from "./_settings.ts"; import { defineKeyController } from "binnacle";
      export default defineKeyController({ name: settings.mode, async reconcile() {} });`,
    "modules/folder/_settings.ts": `import { config, z } from "binnacle";
      export const settings = config(z.object({ mode: z.string().default("plain") }));`,
    "modules/named.ts": `import { settings } from "./_common.ts"; import { defineKeyController } from "binnacle";
      export default defineKeyController({ name: settings.mode, async reconcile() {} });`,
    "modules/_common.ts": `import { config, z } from "binnacle";
      export const settings = config(z.object({ mode: z.string() }), { name: "common" });`,
  });
  const { all, sources } = await loaded({ env: { SHOP_MODE: "fast", FOLDER_MODE: "slow", COMMON_MODE: "even" } });
  expect(configFaults(all, sources, { isComplete: true })).toEqual([]);
  const names = all.map(({ result }) => "module" in result && result.module.definitions.controllers[0]!.name);
  expect(names).toEqual(["slow", "even", "other-fast", "fast"]);
});

test("all faults of all modules and files are found at once", async () => {
  write({
    "modules/a.ts": module("mode: z.string()"),
    "modules/b.ts": module('mode: z.string().default("b"), count: z.coerce.number()'),
    "modules/c.ts": "export const x = ;",
    "values.yaml": "a: { mood: x }\nb: { count: many }\nc: { any: 1 }\nd: {}\n",
  });
  const { all, sources } = await loaded({ paths: ["values.yaml"] });
  const faults = configFaults(all, sources, { isComplete: true });
  const file = join(folder, "values.yaml");
  expect(faults).toEqual([
    `a.ts: mode is missing: set A_MODE, or write 'a.mode' into ${file}`,
    `b.ts: count is "many" in ${file}: expected number`,
    `unknown 'a.mood' in ${file}, did you mean 'mode'?`,
    `unknown 'd' in ${file}, did you mean 'a'?`,
  ]);
  expect(configFaults(all, sources, { isComplete: false })).toHaveLength(3);
});

test("a file that cannot be read is named, without a word of what is in it", async () => {
  write({ "bad.yaml": "a: [hunter2", "list.json": "[]", "text.yaml": "a: hunter2" });
  const read = (name: string) => readSources({ env: {}, paths: [join(folder, name)] });
  await expect(read("gone.yaml")).rejects.toThrow(
    `Cannot read --module-config '${join(folder, "gone.yaml")}': there is no such file`,
  );
  await expect(read("bad.yaml")).rejects.toThrow(
    /^Cannot read --module-config '.*bad.yaml': it is not YAML \(line 1, column \d+\)$/,
  );
  await expect(read("list.json")).rejects.toThrow("expected values by module, such as `guestbook: { replicas: 3 }`");
  await expect(read("text.yaml")).rejects.toThrow("'a': expected values by name, such as `replicas: 3`");
});

test("what is mounted is read as it is at one time, folders inside it and mounts in it too", async () => {
  mount("mount", { "a.mode": "one\n", "sub/mode": "two" }, "1");
  mount("mount/other", { mode: "three" }, "1");
  write({ "mount/.hidden": "x" });
  const { places } = await readSources({ env: {}, paths: [join(folder, "mount")] });
  const [place] = places;
  expect(place?.kind === "folder" && [...place.texts].map(([key, { text, file }]) => [key, text, file])).toEqual([
    ["a.mode", "one", join(folder, "mount/a.mode")],
    ["sub.mode", "two", join(folder, "mount/sub/mode")],
    ["other.mode", "three", join(folder, "mount/other/mode")],
  ]);
});

test("values of two versions of a mount are never mixed", async () => {
  mount("mount", { "a.mode": "one", "a.name": "one" }, "1");
  // What a reader of the version before finds once the kubelet has swapped the link and has begun to remove that
  // version.
  write({ "later/a.mode": "two", "later/sub/mode": "two" });
  rmSync(join(folder, "mount/..1/a.mode"));
  symlinkSync("removed", join(folder, "mount/..1/a.mode"));
  rmSync(join(folder, "mount/a.mode"));
  symlinkSync("../later/a.mode", join(folder, "mount/a.mode"));
  const read = readSources({ env: {}, paths: [join(folder, "mount")] });
  await expect(read).rejects.toThrow("Cannot read --module-config");
  rmSync(join(folder, "mount/..1/a.mode"));
  symlinkSync("../later/sub", join(folder, "mount/sub"));
  const { places } = await readSources({ env: {}, paths: [join(folder, "mount")] });
  expect(places.map((place) => place.kind === "folder" && [...place.texts.keys()])).toEqual([["a.name"]]);
});

test("a mount that is replaced while it is read is read again, three times at most", () => {
  const path = join(folder, "mount");
  let version = 0;
  /** A reader whose version the kubelet removes while it reads, for the first so many times. */
  const read = (at: string, replaced: number) => {
    let times = 0;
    const begin = (): string => {
      const data = realpathSync(join(path, at, "..data"));
      if (times++ < replaced) {
        mount(`mount/${at}`, { mode: `v${++version}` }, `v${version}`);
        rmSync(data, { recursive: true });
      }
      return readFileSync(join(data, "mode"), "utf8");
    };
    try {
      return [readSteady(path, begin), times];
    } catch (error) {
      return [(error as NodeJS.ErrnoException).code, times];
    }
  };
  mount("mount", { mode: "v0" }, "v0");
  mount("mount/other", { mode: "v0" }, "v0");
  expect(read(".", 0)).toEqual(["v0", 1]);
  expect(read(".", 1)).toEqual(["v1", 2]);
  expect(read("other", 3)).toEqual(["v4", 4]);
  expect(read(".", 4)).toEqual(["ENOENT", 4]);
  // What cannot be read although nothing has changed is not tried again.
  rmSync(realpathSync(join(path, "..data", "mode")));
  expect(read(".", 0)).toEqual(["ENOENT", 1]);
});

test("a mount is watched although a link in it leads nowhere, as that of a key that has just been removed", () => {
  mount("mount", { "a.mode": "one", "sub/mode": "two" }, "1");
  symlinkSync("..data/gone", join(folder, "mount/gone"));
  const path = join(folder, "mount");
  expect(watchedFoldersOf([path])).toEqual([path, join(path, "sub")]);
});

test("config cannot be called once the module has been loaded", async () => {
  write({
    "modules/late.ts": `import { config, defineKeyController, z } from "binnacle";
      export default defineKeyController({ name: "late", async reconcile() { config(z.object({})); } });`,
  });
  const { all } = await loaded();
  const { module: late } = all[0]!.result as { module: LoadedModule };
  const [controller] = late.definitions.controllers;
  await expect(late.invoke(() => controller!.reconcile(undefined as never, undefined as never))).rejects.toThrow(
    "Cannot call config: the module has been loaded",
  );
});

/** Records what happens to modules. */
class Target {
  readonly events: string[] = [];
  readonly #running = new Map<string, LoadedModule>();
  readonly modules = {
    has: (name: string) => this.#running.has(name),
    markBroken: (_: string, { message }: { readonly message: string }) => void this.events.push(`broken: ${message}`),
  };

  add(module: LoadedModule): Promise<void> {
    this.#running.get(module.name)?.dispose();
    this.#running.set(module.name, module);
    this.events.push(`${module.name} ${module.definitions.controllers[0]!.name}`);
    return Promise.resolve();
  }

  replace(module: LoadedModule): Promise<void> {
    return this.add(module);
  }

  remove(): Promise<void> {
    return Promise.resolve();
  }

  async until(last: RegExp | string): Promise<void> {
    const deadline = Date.now() + 15_000;
    while (!this.events.some((one) => (typeof last === "string" ? one === last : last.test(one)))) {
      if (Date.now() > deadline) throw new Error(`${String(last)} did not happen: ${this.events.join(", ")}`);
      await Bun.sleep(5);
    }
  }
}

async function follow(target: Target, given: Awaited<ReturnType<typeof loaded>>, folders: readonly string[] = []) {
  for (const { result } of given.all) if ("module" in result) await target.add(result.module);
  const log = createLog({ level: "info", format: "json", write: (line) => void target.events.push(line.trim()) });
  const config = new ConfigFollower(given.origin, { sources: given.sources, log });
  return new ModuleWatcher(folders, { ...given.options, log, target, loaded: given.all, config });
}

test("a mount that is swapped reloads the modules that it concerns, and a bad value leaves them as they are", async () => {
  write({ "modules/a.ts": module("mode: z.string().max(9)"), "modules/b.ts": module('mode: z.string().default("b")') });
  mount("mount", { "a.mode": "one\n" }, "1");
  const given = await loaded({ paths: ["mount"] });
  const target = new Target();
  await using _watcher = await follow(target, given);
  mount("mount", { "a.mode": "two" }, "2");
  await target.until("a.ts two");
  mount("mount", { "a.mode": "much-too-long" }, "3");
  await target.until(/^broken: its configuration has a fault: a\.ts: mode is "much-too-long" in .*\/mount\/a\.mode/);
  mount("mount", { "a.mode": "four" }, "4");
  await target.until("a.ts four");
  expect(target.events.filter((one) => one.startsWith("b.ts"))).toEqual(["b.ts b"]);
});

test("a file that becomes unreadable or has an unknown name changes nothing until it is right again", async () => {
  write({ "modules/a.ts": module("mode: z.string()"), "values.yaml": "a: { mode: one }" });
  const given = await loaded({ paths: ["values.yaml"] });
  const target = new Target();
  await using _watcher = await follow(target, given);
  write({ "values.yaml": "a: [" });
  await target.until(/Cannot use the changed configuration of modules: the values before stay.*it is not YAML/);
  write({ "values.yaml": "a: { mood: two }" });
  await target.until(/unknown 'a.mood' in .*did you mean 'mode'/);
  write({ "values.yaml": "a: { mode: three }" });
  await target.until("a.ts three");
  expect(target.events.filter((one) => one.startsWith("a.ts"))).toEqual(["a.ts one", "a.ts three"]);
});

test("what is read and is the same as before is no change", async () => {
  write({ "modules/a.ts": module("mode: z.string()"), "values.yaml": "a: { mode: one }" });
  const { origin, sources } = await loaded({ paths: ["values.yaml"] });
  const log = createLog({ level: "error", format: "json", write: () => {} });
  const follower = new ConfigFollower(origin, { sources, log });
  const known = { configs: [], unknown: ["a"] };
  await follower.read(known);
  expect(follower.sources).toBe(sources);
  write({ "values.yaml": "# the same\na: { mode: one }" });
  await follower.read(known);
  expect(follower.sources).toBe(sources);
  write({ "values.yaml": "a: { mode: two }" });
  await follower.read(known);
  expect(follower.sources).not.toBe(sources);
});

test("without --watch, a module whose file has changed too is not loaded anew", async () => {
  write({ "modules/a.ts": module("mode: z.string()"), "values.yaml": "a: { mode: one }" });
  const given = await loaded({ paths: ["values.yaml"] });
  const target = new Target();
  await using _watcher = await follow(target, given);
  write({ "modules/a.ts": module('mode: z.string(), more: z.string().default("")') });
  write({ "values.yaml": "a: { mode: two }" });
  await target.until(/^broken: its configuration has changed, and so have its files/);
});

test("with --watch, a new field and its value may come in any order", async () => {
  write({ "modules/a.ts": module("mode: z.string()"), "values.yaml": "a: { mode: one }" });
  const given = await loaded({ paths: ["values.yaml"] });
  const target = new Target();
  await using _watcher = await follow(target, given, [join(folder, "modules")]);
  write({ "values.yaml": "a: { mode: two, more: here }" });
  await target.until(/unknown 'a.more'/);
  write({ "modules/a.ts": module("mode: z.string(), more: z.string()") });
  await target.until("a.ts two");
});

test("the log repeats no secret, and shows a configuration without any", async () => {
  const lines: string[] = [];
  write({ "modules/a.ts": module("mode: z.string(), apiToken: z.string()") });
  const { all } = await loaded({ env: { A_MODE: "one", A_API_TOKEN: "the-token-of-a" } });
  const { module: one } = all[0]!.result as { module: LoadedModule };
  const log = createLog({ level: "info", format: "json", write: (line) => void lines.push(line) });
  log.info("refused by the-token-of-a", { error: new Error("Bearer the-token-of-a") });
  expect(lines.join("")).not.toContain("the-token-of-a");
  expect(lines[0]).toContain("refused by [redacted]");
  one.dispose();
  log.info("the-token-of-a");
  expect(lines.at(-1)).toContain("the-token-of-a");
});
