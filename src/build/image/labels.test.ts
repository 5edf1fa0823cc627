import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { labelsOf } from "./labels.ts";
import { parseReference, type Reference } from "./reference.ts";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "binnacle-labels-"));
  await mkdir(join(folder, "controllers"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function labels(project: object): Promise<Readonly<Record<string, string>>> {
  await writeFile(join(folder, "package.json"), JSON.stringify({ name: "hello", ...project }));
  const reference = parseReference("registry.example.com/hello:1") as Reference;
  const about = { title: undefined, folder: join(folder, "controllers"), reference, created: 0, flags: [] };
  return labelsOf({ ...about, base: undefined });
}

test.each([
  ["git+https://jane:hunter2@git.example.com/a/b.git", "https://git.example.com/a/b"],
  ["https://token@git.example.com/a/b", "https://git.example.com/a/b"],
  ["ssh://git@git.example.com:22/a/b.git", "ssh://git.example.com:22/a/b"],
  ["https://git.example.com/@scope/b", "https://git.example.com/@scope/b"],
  ["git@git.example.com:a/b.git", "git@git.example.com:a/b"],
  ["github:a/b", "github:a/b"],
])("the source of %s is told as %s", async (url, shown) => {
  expect((await labels({ repository: { url } }))["org.opencontainers.image.source"]).toBe(shown);
});

test.each(["https:/", "https:", String.raw`https:\\`, "git+https:/", "//", ""])(
  "no label repeats the password of an address that begins with '%s'",
  async (begin) => {
    const address = `${begin}jane:hunter2@git.example.com/a`;
    expect(JSON.stringify(await labels({ homepage: address, repository: { url: address } }))).not.toContain("hunter2");
  },
);

test("no label repeats a password of package.json", async () => {
  const homepage = "https://jane:hun/ter2@example.com/";
  const repository = "https://jane:p@ss@example.com/a";
  const all = await labels({ homepage: "https://jane:hunter2@example.com/", repository });
  expect(JSON.stringify(all)).not.toMatch(/hunter2|p@ss|ss@/);
  expect(JSON.stringify(await labels({ homepage }))).not.toContain("ter2");
});
