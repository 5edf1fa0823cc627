import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { closureOf } from "../../loader/closure.ts";
import { scanFolders } from "../../loader/scan.ts";
import { bundleModules } from "./bundle-modules.ts";

let folder: string;
const offered = { binnacle: { defineController() {} }, zod: {} };

beforeAll(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), "binnacle-modules-")));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function write(path: string, text: string): Promise<void> {
  const file = join(folder, path);
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, text);
}

function bundle(...names: string[]) {
  const folders = names.map((name) => join(folder, name));
  return bundleModules(scanFolders(folders), { offered, destination: "/controllers/" });
}

test("bundleModules makes one file of a module and its packages, and leaves what the binary offers outside", async () => {
  await write(
    "one/a.ts",
    `import { z } from "zod"; import { x } from "pack"; import t from "./t.txt"; import { y } from "./_y.ts";
import f from "./f.bin" with { type: "file" };
export const all = [z, x, t, y, f, process.env.NODE_ENV];
export function fails(): never { throw new Error("here"); }`,
  );
  await write("one/_y.ts", "interface Y { a: string }\nexport const y: Y = { a: 'y' };");
  await write("one/t.txt", "a text");
  await write("one/f.bin", "a file");
  await write("one/b/index.ts", "export const b = 1;");
  await write("node_modules/pack/package.json", JSON.stringify({ name: "pack", version: "1.0.0", license: "MIT" }));
  await write("node_modules/pack/index.js", "exports.x = 'from the package';");
  const [a, b] = await bundle("one");
  expect([a?.name, b?.name]).toEqual(["a.ts", "b"]);
  expect(a!.code).toMatch(/from ?"zod"/);
  expect(a!.code).toContain("from the package");
  expect(a!.code).toContain("a text");
  // The variable is asked for where the module runs, and not where it is built.
  expect(a!.code).toContain("process.env.NODE_ENV");
  const [asset] = a!.assets.keys();
  expect(a!.code).toContain(`"/controllers/a.ts/${asset}"`);
  expect(a!.packages).toEqual([
    { name: "pack", version: "1.0.0", license: "MIT", folder: join(folder, "node_modules/pack") },
  ]);
  expect(a!.code).not.toContain(folder);

  await write("image/a.ts/index.js", a!.code);
  const { origins } = closureOf(join(folder, "image/a.ts/index.js"));
  expect(origins).toContain(join(folder, "image/a.ts"));
  expect(origins).toContain(join(folder, "image/_y.ts"));
  expect(origins).toContain(join(folder, "image/node_modules/pack/index.js"));
});

test("bundleModules refuses native addons, and packages that load one", async () => {
  await write("native/a.ts", `import "./thing.node";`);
  await write("native/thing.node", "ELF");
  await expect(bundle("native")).rejects.toThrow("it imports 'thing.node', a native addon");
  await write("gyp/a.ts", `import "fast";`);
  await write("node_modules/fast/package.json", JSON.stringify({ name: "fast", version: "1.0.0", gypfile: true }));
  await write("node_modules/fast/index.js", "");
  await expect(bundle("gyp")).rejects.toThrow("it imports the package 'fast', a native addon");
});

test("bundleModules says where an import leads nowhere, and which modules have one name", async () => {
  await write("wrong/a.ts", `export const a = 1;\nimport "./gone.ts";`);
  await expect(bundle("wrong")).rejects.toThrow(
    /^Cannot build: .*wrong\/a\.ts:2:\d+: Cannot find the file '\.\/gone\.ts'$/,
  );
  await write("x/same.ts", "export const a = 1;");
  await write("y/same.ts", "export const a = 1;");
  await expect(bundle("x", "y")).rejects.toThrow("would both be the module 'same.ts'; rename one");
});
