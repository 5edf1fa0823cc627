import { expect, test } from "bun:test";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

const root = join(import.meta.dirname, "../..");
/** Longer than anybody reads in an editor. */
const LONGEST = 160;

/** The first line of each error, by line of the program. */
async function errorsOf(program: string): Promise<ReadonlyMap<number, string>> {
  const dir = await mkdtemp(join(tmpdir(), "binnacle-wrong-"));
  try {
    await writeFile(join(dir, "wrong.ts"), program);
    await writeFile(join(dir, "package.json"), '{ "type": "module" }');
    const paths = {
      binnacle: [join(root, "src/index.ts")],
      "binnacle/resources": [join(root, "src/resource/builtin/index.ts")],
      "binnacle/schemas": [join(root, "src/resource/builtin/schemas.ts")],
    };
    const compilerOptions = { typeRoots: [join(root, "node_modules/@types")], paths };
    const config = { extends: join(root, "tsconfig.json"), compilerOptions, files: ["wrong.ts"], include: [] };
    await writeFile(join(dir, "tsconfig.json"), JSON.stringify(config));
    const tsc = join(root, "node_modules/typescript/bin/tsc");
    const child = Bun.spawn([process.execPath, tsc, "-p", dir, "--pretty", "false"], { cwd: dir, stdout: "pipe" });
    const errors = new Map<number, string>();
    for (const line of (await new Response(child.stdout).text()).split("\n")) {
      const [, at, message] = /^wrong\.ts\((\d+),\d+\): error TS\d+: (.*)$/.exec(line) ?? [];
      if (at !== undefined && !errors.has(Number(at))) errors.set(Number(at), message!.slice(0, LONGEST));
    }
    return errors;
  } finally {
    await rm(dir, { recursive: true });
  }
}

test("wrong programs: the marked lines are reported, and no other, in words that a person understands", async () => {
  const program = await readFile(join(import.meta.dirname, "wrong.ts.txt"), "utf8");
  const marks = new Map<number, string>();
  for (const [index, line] of program.split("\n").entries()) {
    const mark = /\/\/ (E\d\d)$/.exec(line)?.[1];
    if (mark !== undefined) marks.set(index + 1, mark);
  }
  const errors = await errorsOf(program);
  expect([...errors.keys()].map((line) => marks.get(line) ?? `line ${line}`)).toEqual([...marks.values()]);
  const messages = [...errors].map(([line, message]) => `${marks.get(line)} ${message}`);
  expect(messages.join("\n")).toMatchSnapshot();
}, 180_000);
