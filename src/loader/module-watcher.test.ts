import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdtempSync, realpathSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { LoadedModule } from "../module/loaded-module.ts";
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

/** Where modules go here: what happened, in order. */
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
    this.#running.set(module.name, module);
    this.events.push(`add ${module.name} ${module.definitions.controllers[0]!.name}`);
  }

  async replace(module: LoadedModule): Promise<void> {
    this.#running.get(module.name)?.dispose();
    this.#running.set(module.name, module);
    this.events.push(`replace ${module.name} ${module.definitions.controllers[0]!.name}`);
  }

  async until(last: string): Promise<void> {
    const deadline = Date.now() + 3000;
    while (this.events.at(-1) !== last) {
      if (Date.now() > deadline) throw new Error(`${last} did not happen: ${this.events.join(", ")}`);
      await Bun.sleep(2);
    }
  }
}

async function watching(target: Target): Promise<ModuleWatcher> {
  const options = { offered, onError: () => {} };
  const loaded = await Promise.all(loadAll(scanFolders([folder]), options));
  for (const { result } of loaded) if ("module" in result) await target.add(result.module);
  return new ModuleWatcher([folder], { ...options, log, target, loaded });
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
