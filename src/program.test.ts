import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

let folder: string;
beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), "binnacle-program-"))));
afterEach(() => rmSync(folder, { recursive: true }));

/** Runs `check` from the sources on a folder with one module. */
async function check(source: string): Promise<{ readonly status: number; readonly out: string; readonly err: string }> {
  writeFileSync(join(folder, "page.ts"), source);
  const args = [join(import.meta.dirname, "main.ts"), "check", "--no-types", "--controllers", folder];
  const child = Bun.spawn([process.execPath, ...args], { stdout: "pipe", stderr: "pipe" });
  const [out, err] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
  return { status: await child.exited, out, err };
}

test("the sources offer hono/jsx to modules as the executable does", async () => {
  const names = ["hono/jsx", "hono/jsx/jsx-runtime", "hono/jsx/jsx-dev-runtime"];
  const imports = names.map((name, index) => `import * as part${index} from "${name}";`).join("\n");
  const result = await check(`${imports}
import { definePlugin } from "binnacle";
export const pages = definePlugin({ name: "pages", setup() {} });
console.log(typeof part0.jsx, typeof part1.jsx, typeof part2.jsxDEV);
`);
  expect(result.err).toBe("");
  expect(result.out).toContain("function function function");
  expect(result.status).toBe(0);
});

test("the sources say what is wrong with a module that is no code", async () => {
  const { status, err } = await check("this is no code at all (\n");
  expect(err).toContain(`${join(folder, "page.ts")}:1:6: Expected ";" but found "is"`);
  expect(status).toBe(1);
});
