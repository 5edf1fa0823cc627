import { afterEach, beforeEach, expect, test } from "bun:test";
import {
  chmodSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { pack, unpack } from "./unpack.ts";

const files = { "lib/deep/a.js": "export const a = 1;", "lib/b.js": "", "index.js": "export {};" };

let folder: string;
let asset: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "binnacle-unpack-"));
  asset = join(folder, "sdk.json.zst");
  writeFileSync(asset, pack(files));
});
afterEach(() => rmSync(folder, { recursive: true }));

const unpacked = () => unpack(asset, { XDG_CACHE_HOME: join(folder, "cache") });

function contents(at: string): Record<string, string> {
  const names = [...new Bun.Glob("**/*").scanSync({ cwd: at, dot: true, onlyFiles: true })].sort();
  return Object.fromEntries(names.map((name) => [name, readFileSync(join(at, name), "utf8")]));
}

test("unpack writes the files once, into a folder that is ours alone", async () => {
  const at = await unpacked();
  expect(contents(at)).toEqual(files);
  const { ino, mode } = statSync(at);
  expect(mode & 0o077).toBe(0);
  expect(await unpacked()).toBe(at);
  expect(statSync(at).ino).toBe(ino);
});

const tampering: Readonly<Record<string, (at: string) => void>> = {
  "a file with other content": (at) => writeFileSync(join(at, "lib/deep/a.js"), "export const a = 666;"),
  "a file of the same length": (at) => writeFileSync(join(at, "lib/deep/a.js"), "export const a = 2;"),
  "a file that is missing": (at) => rmSync(join(at, "lib/b.js")),
  "a file too many": (at) => writeFileSync(join(at, "lib/package.json"), "{}"),
  "a hidden file too many": (at) => writeFileSync(join(at, ".npmrc"), ""),
  "a link in the place of a file": (at) => {
    renameSync(join(at, "index.js"), join(dirname(at), "elsewhere.js"));
    symlinkSync("../elsewhere.js", join(at, "index.js"));
  },
  "a link in the place of a folder": (at) => {
    renameSync(join(at, "lib"), join(dirname(at), "elsewhere"));
    symlinkSync("../elsewhere", join(at, "lib"));
  },
  "a link in the place of all": (at) => {
    renameSync(at, `${at}-moved`);
    symlinkSync(`${at}-moved`, at);
  },
  "a file in the place of all": (at) => {
    rmSync(at, { recursive: true });
    writeFileSync(at, "");
  },
  "a folder that others may write to": (at) => chmodSync(at, 0o777),
};
for (const [what, tamper] of Object.entries(tampering)) {
  test(`unpack does not hand out ${what}`, async () => {
    const at = await unpacked();
    tamper(at);
    expect(await unpacked()).toBe(at);
    expect(contents(at)).toEqual(files);
    expect(statSync(at).mode & 0o077).toBe(0);
    expect(contents(at)).toEqual(files);
  });
}

test("unpack by several at once gives all of them the files", async () => {
  const all = await Promise.all(Array.from({ length: 8 }, unpacked));
  expect(new Set(all).size).toBe(1);
  expect(contents(all[0]!)).toEqual(files);
  expect([...new Bun.Glob("*").scanSync({ cwd: dirname(all[0]!), onlyFiles: false })]).toHaveLength(1);
});
