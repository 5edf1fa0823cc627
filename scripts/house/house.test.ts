import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { checkEntries } from "./check-entries.ts";
import { checkExports } from "./check-exports.ts";
import { checkImports } from "./check-imports.ts";
import { checkLines } from "./check-lines.ts";
import { checkLinks } from "./check-links.ts";
import { checkMetrics } from "./check-metrics.ts";
import { checkPicture } from "./check-picture.ts";
import { checkPlatform } from "./check-platform.ts";
import { checkPatterns, slowTextOf } from "./check-patterns.ts";
import { blocksOf, checkReadme } from "./check-readme.ts";
import { checkLock, checkPaths } from "./check-repository.ts";
import { checkShape } from "./check-shape.ts";
import { checkThreats } from "./check-threats.ts";
import type { Check } from "./finding.ts";
import { parseModule } from "./module.ts";
import { tokens } from "./tokens.ts";

const roots: string[] = [];
afterAll(() => roots.forEach((root) => rmSync(root, { recursive: true, force: true })));

/** Makes a project of these files, and returns what the check finds: `file:line what`. */
async function found(check: Check, files: Record<string, string>): Promise<string[]> {
  const root = join(mkdtempSync(join(tmpdir(), "binnacle-house-")), "project");
  roots.push(join(root, ".."));
  const all = {
    "package.json": JSON.stringify({ exports: { ".": "./src/index.ts" }, scripts: { test: "x" } }),
    ...files,
  };
  for (const [name, text] of Object.entries(all)) await Bun.write(join(root, name), text.replaceAll("ROOT", root));
  Bun.spawnSync(["git", "init", "-q"], { cwd: root });
  return (await check(root)).map(({ file, line, what }) => `${file}:${line} ${what.replaceAll(root, "ROOT")}`);
}

test("checkImports lets imports point down and within a folder", async () => {
  const files = {
    "src/cache/list.ts": `import { pods } from "../resource/pods.ts";\nimport { page } from "./page.ts";`,
    "src/cache/page.ts": `import { log } from "../observe/log.ts";\nimport { z } from "zod";`,
    "src/cache/list.test.ts": `import { run } from "../cli/run.ts";`,
    "src/main.ts": `import { run } from "./cli/run.ts";\nimport { start } from "./program.ts";\nimport("../dist/sdk.json.zst");`,
    "src/program.ts": `import("./index.ts");`,
  };
  expect(await found(checkImports, files)).toEqual([]);
});

test("checkImports names imports up, aside, outside and of index.ts", async () => {
  const files = {
    "src/kube/a.ts": `// one\nimport type { Manager } from "../manager/manager.ts";`,
    "src/controller/b.ts": `export { serve } from "../server/serve.ts";`,
    "src/cache/c.ts": `await import("../../scripts/x.ts");`,
    "src/cli/d.ts": `import { z } from "../index.ts";`,
    "packages/apiserver/src/e.ts": `import { q } from "../../../src/kube/errors/q.ts";`,
    "src/odd/f.ts": `const x = 1;`,
  };
  expect(await found(checkImports, files)).toEqual([
    "src/cache/c.ts:1 imports scripts/x.ts, outside src",
    "src/cli/d.ts:1 cli imports index.ts: only cluster, testing, program.ts may",
    "src/controller/b.ts:1 controller imports server, which stands beside it",
    "src/kube/a.ts:2 kube imports manager, which stands above it",
    "src/odd/f.ts:1 odd has no level",
    "packages/apiserver/src/e.ts:1 imports src/kube/errors/q.ts, outside its package",
  ]);
});

test("checkImports names rooms of a folder that import one beside or above them", async () => {
  const files = {
    "src/kube/errors/a.ts": `import { watch } from "../api/watch.ts";`,
    "src/kube/encoding/b.ts": `import { config } from "../config/c.ts";\nimport { a } from "../errors/a.ts";`,
    "src/kube/attic/d.ts": `import { a } from "../errors/a.ts";`,
  };
  expect(await found(checkImports, files)).toEqual([
    "src/kube/attic/d.ts:1 kube/attic has no level in kube",
    "src/kube/encoding/b.ts:1 kube/encoding imports kube/config, which does not stand below it",
    "src/kube/errors/a.ts:1 kube/errors imports kube/api, which does not stand below it",
  ]);
});

test("checkImports names what enters a folder past its door, in tests too", async () => {
  const files = {
    "src/cluster/index.ts": `export { a } from "./a.ts";`,
    "packages/apiserver/src/a.ts": `import { b } from "./b.ts";`,
    "src/testing/c.ts": `import { a } from "binnacle-apiserver";\nimport type { b } from "../../packages/apiserver/src/b.ts";`,
    "src/kube/d.test.ts": `await import("../cluster/e.ts");`,
  };
  expect(await found(checkImports, files)).toEqual([
    "src/kube/d.test.ts:1 imports src/cluster/e.ts, past the door src/cluster/index.ts",
    "src/testing/c.ts:2 imports packages/apiserver/src/b.ts, past the door packages/apiserver/src/index.ts",
  ]);
});

test("checkImports names what the command that runs controllers loads of a folder with a door, types and lazy imports aside", async () => {
  const files = {
    "src/cluster/index.ts": "",
    "src/main.ts": `import { cli } from "./cli/cli.ts";\nimport("./testing/index.ts");`,
    "src/testing/index.ts": `import { a } from "../cluster/index.ts";`,
    "src/cli/cli.ts": `import type { B } from "../cluster/index.ts";\nimport("./dev.ts");`,
    "src/cli/dev.ts": `import { a } from "../cluster/index.ts";`,
    "src/cli/run.ts": `import { c } from "./c.ts";`,
    "src/cli/c.ts": `import { a } from "../cluster/index.ts";`,
  };
  expect(await found(checkImports, files)).toEqual([
    "src/cli/c.ts:1 is loaded to run: src/cli/run.ts → src/cli/c.ts → src/cluster/index.ts",
  ]);
});

test("checkImports names costly modules that the command that runs controllers loads", async () => {
  const files = {
    "src/main.ts": `import { cli } from "./cli/cli.ts";`,
    "src/cli/cli.ts": `import("./dev.ts");`,
    "src/cli/dev.ts": `import { createHash } from "node:crypto";`,
    "src/cli/run.ts": `import { name } from "../election/name.ts";\nimport { join } from "node:path";`,
    "src/election/name.ts": `import type { Hash } from "node:crypto";\nimport { createHash } from "node:crypto";`,
  };
  expect(await found(checkImports, files)).toEqual([
    "src/election/name.ts:2 loads node:crypto to run: src/cli/run.ts → src/election/name.ts",
  ]);
});

test("checkImports names tests that import from scripts", async () => {
  const files = {
    "src/cache/a.test.ts": `import { until } from "../../tests/support/until.ts";\nimport { x } from "../../scripts/x.ts";`,
  };
  expect(await found(checkImports, files)).toEqual(["src/cache/a.test.ts:2 imports scripts/x.ts"]);
});

test("checkImports names a circle once", async () => {
  const files = {
    "src/cache/a.ts": `import "./b.ts";`,
    "src/cache/b.ts": `import type { C } from "./c.ts";`,
    "src/cache/c.ts": `import "./b.ts";`,
  };
  expect(await found(checkImports, files)).toEqual([
    "src/cache/b.ts:1 imports itself in a circle: src/cache/b.ts → src/cache/c.ts → src/cache/b.ts",
  ]);
});

test("checkPlatform names runtimes outside of their own folders, not in comments, strings and tests", async () => {
  const files = {
    "src/kube/a.ts": `// Bun.sleep\nconst s = "Bun.sleep";\nawait Bun.sleep(1);\nimport { Database } from "bun:sqlite";`,
    "src/kube/b.ts": "/* Bun */ const t = `Bun ${Bun.version}`;\nconst r = /Bun/;\nx.Bun();",
    "src/cli/c.ts": `Deno.exit(1);\nDeno.exit;\nconst options = { Deno: 1 };\nconst tail = x.Deno;`,
    "src/platform/a.ts": `Bun.sleep(1);`,
    "src/platform/bun/a.ts": `Bun.sleep(1);\nDeno.exit(1);`,
    "src/platform/deno/a.ts": `Deno.exit(1);\nimport "bun";`,
    "src/kube/a.test.ts": `import { test } from "bun:test";`,
  };
  expect(await found(checkPlatform, files)).toEqual([
    "src/cli/c.ts:1 uses Deno",
    "src/cli/c.ts:2 uses Deno",
    "src/kube/a.ts:3 uses Bun",
    "src/kube/a.ts:4 uses bun:sqlite",
    "src/kube/b.ts:1 uses Bun",
    "src/platform/a.ts:1 uses Bun",
    "src/platform/bun/a.ts:2 uses Deno",
    "src/platform/deno/a.ts:2 uses bun",
  ]);
});

test("checkPicture compares arrows with imports, and dotted ones with interfaces that both ends know", async () => {
  const files = {
    "docs/event-path.md": `a["kube/a.ts"]\nb["cache/b.ts"]\nc["cache/c.ts"]\nd["cache/gone.ts"]\nb --> a\na --> b\na -.->|Options| b\nb -.->|Options| c\na ~~~ c`,
    "src/kube/a.ts": `export interface Options {}`,
    "src/cache/b.ts": `import type { Options } from "../kube/a.ts";`,
    "src/cache/c.ts": ``,
  };
  expect(await found(checkPicture, files)).toEqual([
    "docs/event-path.md:4 there is no src/cache/gone.ts",
    "docs/event-path.md:6 src/kube/a.ts does not import src/cache/b.ts",
    "docs/event-path.md:8 src/cache/b.ts and src/cache/c.ts do not share Options",
  ]);
  expect(await found(checkPicture, {})).toEqual([]);
});

test("checkExports names what only tests use, not what the package exports or a signature needs", async () => {
  const files = {
    "src/index.ts": `export { a } from "./x/a.ts";\nexport const own = 1;`,
    "src/x/a.ts": `export const a = 1;\nexport function lonely() {}\nexport interface Options { b: number }\nexport class B { constructor(o: Options) {} }`,
    "src/x/c.ts": `import * as all from "./d.ts";\nimport { B } from "./a.ts";`,
    "src/x/d.ts": `export default 1;`,
    "src/x/e.ts": `export type { Options as Renamed };`,
    "src/x/a.test.ts": `import { lonely } from "./a.ts";\nimport { clock } from "../testing/clock.ts";`,
    "src/testing/clock.ts": `export const clock = 1;\nexport const spare = 2;`,
  };
  expect(await found(checkExports, files)).toEqual([
    "src/testing/clock.ts:2 exports spare, which nobody uses",
    "src/x/a.ts:2 exports lonely, which nobody uses",
    "src/x/e.ts:1 exports Renamed, which nobody uses",
  ]);
});

test("checkEntries names entries that only one of the two knows", async () => {
  const tsconfig = (paths: object) => JSON.stringify({ compilerOptions: { paths } });
  const manifest = JSON.stringify({ name: "b", exports: { ".": "./src/index.ts", "./c": "./src/c.ts" } });
  const right = tsconfig({ b: ["./src/index.ts"], "b/c": ["./src/c.ts"] });
  expect(await found(checkEntries, { "package.json": manifest, "tsconfig.json": right })).toEqual([]);
  const wrong = tsconfig({ b: ["./src/main.ts"], "b/d": ["./src/d.ts"] });
  expect(await found(checkEntries, { "package.json": manifest, "tsconfig.json": wrong })).toEqual([
    'tsconfig.json:1 "b" is ./src/main.ts here and ./src/index.ts in package.json',
    'tsconfig.json:1 "b/c" is nothing here and ./src/c.ts in package.json',
    'tsconfig.json:1 "b/d" is ./src/d.ts here and nothing in package.json',
  ]);
});

test("checkShape names heaps, and what is left open", async () => {
  const [open, focused] = [["TO", "DO"].join(""), ["test", "only("].join(".")];
  const files = {
    "src/kube/utils.ts": "",
    "scripts/b.ts": `\n// ${open} later\n${focused}"x")`,
  };
  expect(await found(checkShape, files)).toEqual([
    `scripts/b.ts:2 says ${open}`,
    `scripts/b.ts:3 says ${focused}`,
    "src/kube/utils.ts:1 has a name that tells nothing",
  ]);
});

test("checkLock names addresses", async () => {
  expect(await found(checkLock, { "bun.lock": `{\n"a": ["a@1", ""],\n"b": ["https://r.test/b.tgz"]}` })).toEqual([
    "bun.lock:3 names https://r.test/b.tgz",
  ]);
});

test("checkPaths names the checkout's folder and home folders", async () => {
  const home = ["", "home", "jane", "notes.txt"].join("/");
  const files = { "a.md": `see ROOT/x and\n${home}`, "b.md": `/usr/bin/env, a/home/page and $HOME/x` };
  expect(await found(checkPaths, files)).toEqual(["a.md:1 names ROOT/x", `a.md:2 names ${home}`]);
});

test("checkLines names long lines of documents and comments, and leaves code alone", async () => {
  const long = "x ".repeat(101);
  const files = {
    "README.md": `${"x".repeat(200)}\n${long}\n\`\`\`\n${long}\n\`\`\``,
    "docs/a.md": `| ${long} |`,
    "CHANGELOG.md": long,
    "src/a.ts": `const text = "${long}";\n  // ${long}\n/** ${long} */\n * ${long}`,
  };
  expect(await found(checkLines, files)).toEqual([
    "README.md:2 has 202 characters",
    "docs/a.md:1 has 206 characters",
    "src/a.ts:2 has 207 characters",
    "src/a.ts:3 has 209 characters",
    "src/a.ts:4 has 205 characters",
  ]);
});

test("checkLinks names links and files of designs that lead nowhere", async () => {
  const files = {
    "README.md": "[a](docs/a.md#part) [b](docs/b.md) [c](https://example.com/c.md)",
    "docs/a.md": "[up](../README.md) [gone](README.md)\n```\n[in code](x.md)\n```",
    "designs/1.md": "`cache/feed.ts` and `cache/store.ts`",
    "src/cache/store.ts": "",
  };
  expect(await found(checkLinks, files)).toEqual([
    "README.md:1 leads to docs/b.md, which is not there",
    "designs/1.md:1 names cache/feed.ts, which is not there",
    "docs/a.md:1 leads to docs/README.md, which is not there",
  ]);
});

test("checkReadme compiles TypeScript and looks for commands and files", async () => {
  const readme = [
    "```sh",
    "npm test",
    "npm start",
    "bun run lint",
    "node scripts/gone.mjs",
    "```",
    "```ts",
    'import { size } from "binnacle";',
    "const wide: string = size;",
    "```",
  ];
  const files = {
    "README.md": readme.join("\n"),
    "src/index.ts": "export const size = 1;",
    "tsconfig.json": JSON.stringify({ compilerOptions: { strict: true, paths: { binnacle: ["./src/index.ts"] } } }),
  };
  expect(await found(checkReadme, files)).toEqual([
    'README.md:3 package.json has no script "start"',
    'README.md:4 package.json has no script "lint"',
    "README.md:5 there is no scripts/gone.mjs",
    "README.md:9 TS2322: Type 'number' is not assignable to type 'string'.",
  ]);
  expect(await found(checkReadme, {})).toEqual(["README.md:1 is missing"]);
});

test("checkMetrics compares the metrics of the program with the reference", async () => {
  const files = {
    "docs/reference.md":
      "| `workqueue_depth` | gauge |\n| `binnacle_gone_total`, `binnacle_queue_parked` |\n`process_*`",
    "src/observe/queue.ts": `const a = "workqueue_depth";\nconst b = ["binnacle_queue_parked", "binnacle_new_total"];`,
    "src/observe/queue.test.ts": `const c = "binnacle_of_a_test";`,
  };
  expect(await found(checkMetrics, files)).toEqual([
    "docs/reference.md:2 no file makes binnacle_gone_total",
    "src/observe/queue.ts:2 binnacle_new_total is not in docs/reference.md",
  ]);
  expect(await found(checkMetrics, {})).toEqual([]);
});

test("checkPatterns names patterns that are slow for long texts: literal, in a split, inserted and built", async () => {
  const files = {
    "src/a.ts": "const fine = /^\\s*x$/;\nconst slow = /\\s*\\n\\s*/g;\n// /a+$/\nconst text = '/a+$/';",
    "src/a.test.ts": "const slow = /a+$/;",
    "src/b.ts":
      "const f = (text: string) => text.split(/a+b/);\nfunction g(name: string) {\n  return new RegExp(`^${name}\\\\d+\\\\d+$`);\n}",
    "src/c.ts": 'const digits = "\\\\d+";\nexport const built = new RegExp(`^${digits}${digits}$`);',
  };
  expect(await found(checkPatterns, files)).toEqual([
    String.raw`src/a.ts:2 /\s*\n\s*/g is slow for "\t" again and again`,
    `src/b.ts:1 /a+b/g is slow for "a" again and again`,
    String.raw`src/b.ts:3 /^\d+\d+$/ is slow for "0" again and again + "\u0000"`,
    String.raw`src/c.ts:2 /^\d+\d+$/ is slow for "0" again and again + "\u0000"`,
  ]);
});

test.each([
  [/a+$/, /(?<!a)a+$/],
  [/^(a+)+$/, /^a+$/],
  [/^(?:a|a)*$/, /^(?:a|b)*$/],
  [/^(\w+\s?)*$/, /^\w+(\s\w+)*$/],
  [/^\d+\.?\d*x/, /^\d+(?:\.\d*)?x/],
  [/<[^>]*>/g, /<[^<>]*>/g],
  [/^(.*),(.*),(.*)x$/, /^([^,]*),([^,]*),([^,]*)x$/],
  [/BEGIN[^]*?END/g, /BEGIN[^B]*?END/g],
  [/key=\s*\s*"/i, /key=\s*"/i],
  [/(?<x>[\p{L}-]+)-+\d/u, /(?<!\p{L}|-)\p{L}+\d/u],
  [/x{2,}y/, /x{2,5}y/],
  [/\b(One|Other)[\w.]*\s*\{/, /(?<![\w.])(?=[\w.]*\b(?:One|Other))[\w.]+\s*\{/],
  [/^([^/]*)\/?(.*)$/, /^([^/]*)\/?(.*)$/s],
  [/(?=[a-z]*\d)[a-z]*!/g, /(?=[a-z]{2}\d)[a-z]!/g],
])("slowTextOf finds a text for %p, and none for %p", (slow, fine) => {
  expect(slowTextOf(slow)).toBeDefined();
  expect(slowTextOf(fine)).toBeUndefined();
});

test("blocksOf keeps the line of each block", () => {
  expect(blocksOf("a\n```ts\nx\ny\n```\n```\nz\n```")).toEqual([
    { language: "ts", line: 3, text: "x\ny" },
    { language: "", line: 7, text: "z" },
  ]);
});

test("parseModule reads every form of import and export", () => {
  const { imports, exports } = parseModule(`
    import "a";
    import b, { c as d, type E } from "b";
    import type { type, F as G } from "f";
    import * as h from "h";
    export * from "i";
    export * as j from "j";
    export { k as l, type M } from "k";
    export async function* n() { await import("o"); import.meta.url; }
    export abstract class P {}
    export const q = \`\${(() => { return "import { x } from 'y'"; })()}\`, r = 1;
    export type S = typeof import("t").u;
    export declare const T: number;
    export default q;
  `);
  expect(imports.map(({ from, names }) => `${from}: ${names.join(",")}`)).toEqual([
    "a: ",
    "b: default,c,E",
    "f: type,F",
    "h: *",
    "i: *",
    "j: *",
    "k: k,M",
    "o: *",
    "t: *",
  ]);
  expect(exports.map(({ name }) => name)).toEqual(["n", "P", "q", "S", "T", "default"]);
});

test("tokens tells patterns from divisions and counts lines", () => {
  const list = tokens("a = b / c; // d\nreturn /[/'\"]+/g.test(e) /* f\n */\n`g\n${h}` + i");
  expect(list.filter(({ kind }) => kind === "word").map(({ text, line }) => `${text}${line}`)).toEqual([
    "a1",
    "b1",
    "c1",
    "return2",
    "test2",
    "e2",
    "h5",
    "i5",
  ]);
});

test("checkThreats asks each cell for a test, and looks for it", async () => {
  const table = (...rows: string[]) =>
    ["# Security", "## What others could do", "| Who | Can | Cannot |", "| --- | --- | --- |", ...rows, ""].join("\n");
  const note = (id: string, text: string) => `[^${id}]: ${text}`;
  const files = (security: string) => ({
    "SECURITY.md": security,
    "src/a.test.ts": `test("it holds", () => {});\ntest.each([1])(\n  "it holds for %s",\n  () => {},\n);\n// "it does not"`,
  });
  const good = table("| a page | ask[^one] | read[^two] |");
  const both = `${note("one", '`src/a.test.ts`: "it holds", "it holds for %s"')}\n${note("two", '`src/a.test.ts`: "it holds"')}`;
  expect(await found(checkThreats, files(`${good}\n${both}\n## Versions\n| a | b |\n| - | - |\n| 1 | 2 |\n`))).toEqual(
    [],
  );
  const bad = table("| a page | ask[^one] | read |", "| a neighbour | ask[^gone] | read[^two] |");
  const notes = [
    note("one", '`src/a.test.ts`: "it does not"'),
    note("two", '`src/b.test.ts`: "it holds"'),
    note("three", "nobody knows"),
  ];
  expect((await found(checkThreats, files(`${bad}\n${notes.join("\n")}`))).sort()).toEqual([
    "SECURITY.md:10 nothing refers to the note three",
    "SECURITY.md:10 the note three names no test",
    "SECURITY.md:5 a cell of 'a page' refers to no note",
    "SECURITY.md:6 there is no note gone",
    'SECURITY.md:8 src/a.test.ts has no test "it does not"',
    "SECURITY.md:9 there is no src/b.test.ts",
  ]);
  expect(await found(checkThreats, files("# Security"))).toEqual([
    "SECURITY.md:1 there is no table below '## What others could do'",
  ]);
});
