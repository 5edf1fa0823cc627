/** Tests what `binnacle dev` reports about types, and what it writes for editors. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, symlinkSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Bench } from "../support/binary.ts";
import { isOnDeno } from "../support/program.ts";
import { until } from "../support/until.ts";

const MODULE = `import { defineController } from "binnacle";
import { ConfigMap } from "binnacle/resources";
import { size } from "./_size.ts";

export const configs = defineController({
  for: ConfigMap,
  async reconcile({ metadata }, { log }) {
    log.debug(\`\${metadata.name} \${size.toFixed(1)}\`);
  },
});
`;

let bench: Bench;
beforeEach(async () => {
  bench = await Bench.create();
  await bench.write("controllers/configs.ts", MODULE);
  await bench.write("controllers/_size.ts", "export const size = 1;\n");
});
afterEach(() => bench?.[Symbol.asyncDispose]());

/** A running `binnacle dev` and its standard error. */
class Dev implements AsyncDisposable {
  readonly #child: Bun.Subprocess<"ignore", "pipe", "pipe">;
  err = "";

  constructor(...args: string[]) {
    this.#child = Bun.spawn([join(bench.dir, "binnacle"), "dev", "--log-format", "json", ...args], {
      cwd: bench.dir,
      env: { PATH: join(bench.dir, "nothing"), HOME: bench.dir },
      stdout: "pipe",
      stderr: "pipe",
    });
    void this.#read();
  }

  async #read(): Promise<void> {
    const decoder = new TextDecoder();
    for await (const chunk of this.#child.stderr) this.err += decoder.decode(chunk, { stream: true });
  }

  get log(): readonly Readonly<Record<string, unknown>>[] {
    return this.err
      .split("\n")
      .filter((line) => line.startsWith("{") && line.endsWith("}"))
      .map((line) => JSON.parse(line));
  }

  says(msg: string, fields: Readonly<Record<string, unknown>> = {}) {
    const matching = () => this.log.findLast((line) => line["msg"] === msg && Bun.deepMatch(fields, line));
    return until(matching, { within: 90_000, what: () => `${msg}:\n${this.err}` });
  }

  async end(): Promise<number> {
    this.#child.kill("SIGTERM");
    return this.#child.exited;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#child.exitCode === null) await this.end();
  }
}

describe("types in binnacle dev", () => {
  test("errors are told at the start and at each save, of modules, their files and their tests", async () => {
    await bench.write("controllers/_size.ts", 'export const size: number = "one";\n');
    await using dev = new Dev();
    await dev.says("Type error", {
      file: "controllers/_size.ts:1:14",
      reason: "TS2322: Type 'string' is not assignable to type 'number'.",
    });
    const began = performance.now();
    await bench.write("controllers/_size.ts", "export const size = 1;\n");
    await dev.says("No type errors");
    console.log(`binnacle dev: types checked ${Math.round(performance.now() - began)} ms after the save`);
    await bench.write("controllers/configs.ts", MODULE.replace("metadata.name", "metadata.nam"));
    await dev.says("Type error", { file: "controllers/configs.ts:8:27" });
    await bench.write("controllers/configs.ts", MODULE);
    await bench.write(
      "controllers/configs.test.ts",
      'import { nothing } from "./_size.ts";\nexport const x = nothing;\n',
    );
    await dev.says("Type error", {
      file: "controllers/configs.test.ts:1:10",
      reason: `TS2305: Module '"${isOnDeno ? "controllers" : "."}/_size.ts"' has no exported member 'nothing'.`,
    });
    // A module that cannot be loaded is reported as such, and only once.
    const before = dev.log.length;
    await bench.write("controllers/notes.md", "nothing that is checked");
    await Bun.sleep(400);
    expect(dev.log.slice(before).filter(({ msg }) => msg === "Type error")).toEqual([]);
    expect(await dev.end()).toBe(0);
  }, 180_000);

  test("a name that a helper lacks is a load error, also at a save, and the previous version keeps running", async () => {
    await using dev = new Dev();
    await dev.says("Controller runs");
    await bench.write("controllers/_size.ts", "export const other = 1;\n");
    await dev.says("Cannot load a module: the previous version keeps running", {
      module: "configs.ts",
      reason: "controllers/configs.ts:3:10: Cannot import 'size': 'controllers/_size.ts' does not export it",
    });
    await bench.write("controllers/_size.ts", "export default 1;\n");
    await bench.write("controllers/configs.ts", MODULE.replace("{ size }", "size"));
    await dev.says("Module reloaded");
    await bench.write("controllers/_size.ts", "export const size = 1;\n");
    await dev.says("Cannot load a module: the previous version keeps running", {
      reason: "controllers/configs.ts:3:8: Cannot import 'default': 'controllers/_size.ts' does not export it",
    });
  }, 180_000);

  // On Deno editors go by deno.json.
  test.skipIf(isOnDeno)(
    "a tsconfig.json is written where there is none, and editors find the types with it",
    async () => {
      {
        await using dev = new Dev();
        await dev.says("Wrote tsconfig.json, with which editors find the types of binnacle");
      }
      const file = join(bench.dir, "tsconfig.json");
      expect(JSON.parse(await readFile(file, "utf8"))).toEqual({
        extends: "./.binnacle/tsconfig.json",
        include: ["controllers"],
      });
      expect(await typeErrors(file)).toBe("");
      await bench.write("controllers/configs.ts", MODULE.replace("metadata.name", "metadata.nam"));
      expect(await typeErrors(file)).toContain("Property 'nam' does not exist");
      await bench.write("controllers/configs.ts", MODULE);
      await bench.write("controllers/configs.test.ts", 'import { test } from "bun:test";\ntest("runs", () => {});\n');
      expect((await bench.exec("test")).code).toBe(0);
      expect(await bench.exec("check")).toMatchObject({ code: 0, stderr: "" });
      await writeFile(file, '{ "mine": true }');
      await using dev = new Dev();
      await dev.says("Controller runs");
      expect(await readFile(file, "utf8")).toBe('{ "mine": true }');
      expect(dev.err).not.toContain("tsconfig");
    },
    60_000,
  );

  test("a tsconfig.json of the controllers folder is enough, and a link is not followed", async () => {
    await bench.write("controllers/tsconfig.json", "{}");
    {
      await using dev = new Dev();
      await dev.says("Controller runs");
    }
    expect(existsSync(join(bench.dir, "tsconfig.json"))).toBe(false);
    await bench.remove("controllers/tsconfig.json");
    mkdirSync(join(bench.dir, "elsewhere"));
    symlinkSync(join(bench.dir, "elsewhere/victim.json"), join(bench.dir, "tsconfig.json"));
    await using dev = new Dev();
    await dev.says("Controller runs");
    expect(existsSync(join(bench.dir, "elsewhere/victim.json"))).toBe(false);
  }, 180_000);
});

/** Runs an editor's compiler, which sees only the folder's own configuration. */
async function typeErrors(config: string): Promise<string> {
  const child = Bun.spawn([process.execPath, "check", "--no-script", "--no-pretty", "-p", config], {
    cwd: bench.dir,
    env: { HOME: bench.dir, NO_COLOR: "1" },
    stdout: "pipe",
    stderr: "ignore",
  });
  const text = await new Response(child.stdout).text();
  return (await child.exited) === 0 ? "" : text;
}
