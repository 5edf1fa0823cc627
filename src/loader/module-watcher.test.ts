import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, realpathSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { LoadedModule } from "../module/loaded-module.ts";
import { checkConflicts } from "../module/conflicts.ts";
import { createLog } from "../observe/log.ts";
import { loadAll } from "./load-all.ts";
import { ModuleWatcher } from "./module-watcher.ts";
import { scanFolders } from "./scan.ts";

const offered = { binnacle: await import("../index.ts") };
const log = createLog({ level: "error", format: "json", write: () => {} });

let folder: string;
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "binnacle-watch-")));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function write(name: string, controller: string, more = ""): void {
  writeFileSync(
    join(folder, name),
    `import { defineKeyController } from "binnacle"; ${more}
    export default defineKeyController({ name: ${controller}, async reconcile() {} });`,
  );
}

/** Records what happened to modules, in order. */
class Target {
  readonly events: string[] = [];
  readonly #running = new Map<string, LoadedModule>();
  readonly modules = {
    has: (name: string) => this.#running.has(name),
    markBroken: (name: string) => void this.events.push(`broken ${name}`),
  };

  async remove(name: string): Promise<void> {
    this.#running.get(name)?.dispose();
    this.#running.delete(name);
    this.events.push(`remove ${name}`);
  }

  async add(module: LoadedModule): Promise<void> {
    checkConflicts([...this.#running.values(), module]);
    this.#running.set(module.name, module);
    this.events.push(`add ${module.name} ${module.definitions.controllers[0]!.name}`);
  }

  async replace(module: LoadedModule): Promise<void> {
    checkConflicts([...this.#running.values().filter(({ name }) => name !== module.name), module]);
    this.#running.get(module.name)?.dispose();
    this.#running.set(module.name, module);
    this.events.push(`replace ${module.name} ${module.definitions.controllers[0]!.name}`);
  }

  async until(last: string): Promise<void> {
    const deadline = Date.now() + 15_000;
    while (this.events.at(-1) !== last) {
      if (Date.now() > deadline) throw new Error(`${last} did not happen: ${this.events.join(", ")}`);
      await Bun.sleep(2);
    }
  }
}

async function watching(target: Target, goneAfter?: number): Promise<ModuleWatcher> {
  const options = { offered, onError: () => {} };
  const loaded = await Promise.all(loadAll(scanFolders([folder]), options));
  for (const { result } of loaded) if ("module" in result) await target.add(result.module);
  return new ModuleWatcher([folder], { ...options, log, target, loaded, goneAfter });
}

test("ModuleWatcher adds, reloads, keeps the old when the new is broken, and removes", async () => {
  write("a.ts", '"one"');
  const target = new Target();
  await using _watcher = await watching(target);
  write("b.ts", '"b"');
  await target.until("add b.ts b");
  write("a.ts", '"two"');
  await target.until("replace a.ts two");
  writeFileSync(join(folder, "a.ts"), "export default {{");
  await target.until("broken a.ts");
  expect(target.modules.has("a.ts")).toBe(true);
  write("new.tmp", '"three"');
  renameSync(join(folder, "new.tmp"), join(folder, "a.ts"));
  await target.until("replace a.ts three");
  rmSync(join(folder, "b.ts"));
  await target.until("remove b.ts");
  expect(target.events).toEqual([
    "add a.ts one",
    "add b.ts b",
    "replace a.ts two",
    "broken a.ts",
    "replace a.ts three",
    "remove b.ts",
  ]);
});

test("ModuleWatcher reloads the modules whose files changed, and no other", async () => {
  writeFileSync(join(folder, "_shared.ts"), 'export const name = "one";');
  write("a.ts", "name", 'import { name } from "./_shared.ts";');
  write("b.ts", '"b"');
  const target = new Target();
  await using _watcher = await watching(target);
  writeFileSync(join(folder, "_shared.ts"), 'export const name = "two";');
  await target.until("replace a.ts two");
  writeFileSync(join(folder, "notes.md"), "nothing");
  await Bun.sleep(60);
  expect(target.events).toEqual(["add a.ts one", "add b.ts b", "replace a.ts two"]);
});

test("ModuleWatcher reloads for a file outside of the folder, also for one that was missing", async () => {
  const outside = realpathSync(mkdtempSync(join(tmpdir(), "binnacle-outside-")));
  try {
    mkdirSync(join(outside, "lib"));
    writeFileSync(join(outside, "lib", "name.ts"), 'export const name = "one";');
    write("a.ts", "name", `import { name } from "${join(outside, "lib", "name.ts")}";`);
    write("b.ts", "name", `import { name } from "${join(outside, "missing.ts")}";`);
    const target = new Target();
    await using _watcher = await watching(target);
    writeFileSync(join(outside, "lib", "name.ts"), 'export const name = "two";');
    await target.until("replace a.ts two");
    writeFileSync(join(outside, "missing.ts"), 'export const name = "three";');
    await target.until("add b.ts three");
    expect(target.events).toEqual(["add a.ts one", "replace a.ts two", "add b.ts three"]);
  } finally {
    rmSync(outside, { recursive: true, force: true });
  }
});

test("a mount of a ConfigMap is swapped: what did not change is not reloaded, unless it looks at its own place", async () => {
  const swap = (version: number, name: string): void => {
    const data = `..2026_${version}`;
    mkdirSync(join(folder, data));
    const keyed = (controller: string, more = "") =>
      `import { defineKeyController } from "binnacle"; ${more}
       export default defineKeyController({ name: "${controller}", async reconcile() {} });`;
    writeFileSync(join(folder, data, "a.ts"), keyed(name));
    writeFileSync(join(folder, data, "b.ts"), keyed("b"));
    writeFileSync(join(folder, data, "placed.ts"), keyed("placed", "export const here = import.meta.dir;"));
    symlinkSync(data, join(folder, "..data_tmp"));
    renameSync(join(folder, "..data_tmp"), join(folder, "..data"));
    if (version > 0) rmSync(join(folder, `..2026_${version - 1}`), { recursive: true });
  };
  swap(0, "v0");
  for (const name of ["a.ts", "b.ts", "placed.ts"]) symlinkSync(`..data/${name}`, join(folder, name));
  const target = new Target();
  await using _watcher = await watching(target);
  target.events.length = 0;
  for (let version = 1; version <= 20; version++) {
    swap(version, `v${version}`);
    await target.until("replace placed.ts placed");
    expect(target.events.splice(0)).toEqual([`replace a.ts v${version}`, "replace placed.ts placed"]);
  }
});

test("several changes in one save: a name that moves to a module that comes earlier, and one that others were waiting for", async () => {
  write("a.ts", '"a"');
  write("b.ts", '"moves"');
  const target = new Target();
  await using _watcher = await watching(target);
  write("a.ts", '"moves"');
  write("b.ts", '"b"');
  await target.until("replace a.ts moves");
  expect(target.events.slice(2)).toEqual(["replace b.ts b", "replace a.ts moves"]);
  write("c.ts", '"b"');
  await target.until("broken c.ts");
  write("b.ts", '"other"');
  await target.until("add c.ts b");
  expect(target.events.slice(4)).toEqual(["broken c.ts", "replace b.ts other", "add c.ts b"]);
});

test("a module that never finishes loading holds nobody back, and a newer version of it takes its place", async () => {
  write("a.ts", '"a"');
  write("b.ts", '"b"');
  const target = new Target();
  await using _watcher = await watching(target);
  write("a.ts", '"a2"', "await new Promise(() => {});");
  write("b.ts", '"b2"');
  await target.until("replace b.ts b2");
  write("b.ts", '"b3"');
  await target.until("replace b.ts b3");
  write("a.ts", '"a3"');
  await target.until("replace a.ts a3");
  expect(target.events.slice(2)).toEqual(["replace b.ts b2", "replace b.ts b3", "replace a.ts a3"]);
});

test("a file that is deleted and written anew a moment later was never gone", async () => {
  write("a.ts", '"one"');
  const target = new Target();
  await using _watcher = await watching(target, 60_000);
  rmSync(join(folder, "a.ts"));
  await Bun.sleep(60);
  write("a.ts", '"two"');
  await target.until("replace a.ts two");
  expect(target.events).toEqual(["add a.ts one", "replace a.ts two"]);
});

test("a file that is renamed is another module, and a folder with an index is one too", async () => {
  write("a.ts", '"two"');
  const target = new Target();
  await using _watcher = await watching(target);
  renameSync(join(folder, "a.ts"), join(folder, "b.ts"));
  await target.until("add b.ts two");
  mkdirSync(join(folder, "c"));
  renameSync(join(folder, "b.ts"), join(folder, "c", "index.ts"));
  await target.until("add c two");
  rmSync(join(folder, "c"), { recursive: true });
  await target.until("remove c");
  expect(target.events).toEqual([
    "add a.ts two",
    "remove a.ts",
    "add b.ts two",
    "remove b.ts",
    "add c two",
    "remove c",
  ]);
});

test("files that are half written, that do not parse, and that import each other in a circle", async () => {
  write("a.ts", '"one"');
  const target = new Target();
  await using _watcher = await watching(target);
  for (const half of ["", "import { defineKeyController } fr", "export default defineKeyController({ name: 'x'"]) {
    writeFileSync(join(folder, "a.ts"), half);
    await target.until("broken a.ts");
    target.events.push("mended");
  }
  writeFileSync(
    join(folder, "_x.ts"),
    'import { y } from "./_y.ts"; export const x = () => y(); export const name = "circle";',
  );
  writeFileSync(join(folder, "_y.ts"), 'import { x } from "./_x.ts"; export const y = () => x;');
  write("a.ts", "name", 'import { name } from "./_x.ts";');
  await target.until("replace a.ts circle");
  writeFileSync(join(folder, "_y.ts"), 'import { name } from "./_x.ts"; export const y = name;');
  await target.until("broken a.ts");
  expect(target.modules.has("a.ts")).toBe(true);
});

test("a module is reloaded although events of another file in its folder never cease", async () => {
  write("a.ts", '"one"');
  const target = new Target();
  await using _watcher = await watching(target);
  const log = join(folder, "some.log");
  const writing = setInterval(() => writeFileSync(log, "line"), 1);
  try {
    await Bun.sleep(50);
    write("a.ts", '"two"');
    await target.until("replace a.ts two");
  } finally {
    clearInterval(writing);
  }
});
