/** Modules that do what they should not: what becomes of it is told under their names, and the others go on. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { Bench, until } from "./binary.ts";

let bench: Bench;
beforeEach(async () => void (bench = await Bench.create()));
afterEach(() => bench?.[Symbol.asyncDispose]());

/** A running `binnacle dev`. */
class Dev implements AsyncDisposable {
  readonly child: Bun.Subprocess<"ignore", "pipe", "pipe">;
  err = "";

  constructor(...args: string[]) {
    this.child = Bun.spawn([join(bench.dir, "binnacle"), "dev", "--log-format", "json", ...args], {
      cwd: bench.dir,
      env: { PATH: join(bench.dir, "nothing"), HOME: bench.dir },
      stdout: "pipe",
      stderr: "pipe",
    });
    void this.#read();
  }

  async #read(): Promise<void> {
    const decoder = new TextDecoder();
    for await (const chunk of this.child.stderr) this.err += decoder.decode(chunk, { stream: true });
  }

  get log(): readonly Readonly<Record<string, unknown>>[] {
    return this.err
      .split("\n")
      .filter((line) => line.startsWith("{") && line.endsWith("}"))
      .map((line) => JSON.parse(line));
  }

  says(fields: Readonly<Record<string, unknown>>) {
    const found = () => this.log.findLast((line) => Bun.deepMatch(fields, line));
    return until(found, { within: 30_000, what: () => `${JSON.stringify(fields)}:\n${this.err}` });
  }

  async end(): Promise<number> {
    this.child.kill("SIGTERM");
    return this.child.exited;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.child.exitCode === null) await this.end();
  }
}

/** A module that reconciles one ConfigMap of each cluster in its own way. */
const reconciling = (name: string, body: string, top = ""): string => `
import { defineController, watch } from "binnacle";
import { ConfigMap, Secret } from "binnacle/resources";
import { helper } from "./_helper.ts";
${top}
export const controller = defineController({
  name: "${name}",
  for: watch(ConfigMap, { namespaces: ["default"], fields: "metadata.name=kube-root-ca.crt" }),
  async reconcile(object, { client, children, status, signal, log }) {
    ${body}
    log.info("ran ${name}", { helper: typeof helper });
  },
});`;

describe("a rejection that nobody handles is told under its module's name", () => {
  const forgotten: Readonly<Record<string, readonly [code: string, error: RegExp]>> = {
    "a request": ['void client.get(Secret, { namespace: "default", name: "gone" });', /gone.*not found/],
    "a live request": ['void client.live.get(Secret, { namespace: "default", name: "gone" });', /gone.*not found/],
    "a wrong call": ['void client.get(Secret, { namespace: "default" });', /the key has no name/],
    "a request that is passed on": [
      'void client.get(Secret, { namespace: "default", name: "gone" }).then((x) => x);',
      /gone.*not found/,
    ],
    "a write": [
      'void client.create(Secret, { metadata: { namespace: "default", name: "A B" } });',
      /Invalid value|the run is over/,
    ],
    "a list": ['void client.list(Secret, { namespace: "none", labels: "a b c" });', /selector|parse/],
    children: ["void children.sync({}).then((x) => x);", /declares no `owns`/],
    "a function of a helper": ["helper(client, Secret);", /gone.*not found/],
    "an own promise": ['void Promise.reject(new Error("own"));', /own/],
    "a value that is no error": ['void Promise.reject("text");', /text/],
    "a timer": ['setTimeout(() => { throw new Error("later"); }, 1);', /later/],
  };

  test("in every way that we know of", async () => {
    await bench.write(
      "controllers/_helper.ts",
      'export const helper = (client, Secret) => void client.get(Secret, { namespace: "default", name: "gone" });',
    );
    const names = Object.keys(forgotten);
    for (const [index, name] of names.entries()) {
      await bench.write(`controllers/m${index}.ts`, reconciling(`c${index}`, forgotten[name]![0]));
    }
    await using dev = new Dev();
    for (const [index, name] of names.entries()) {
      await dev.says({ msg: `ran c${index}` });
      const told = await dev.says({ msg: "A module failed: code outside of a run", module: `m${index}.ts` });
      expect([name, JSON.stringify(told["error"])]).toEqual([name, expect.stringMatching(forgotten[name]![1])]);
    }
    expect(dev.log.filter(({ msg }) => msg === "Unhandled rejection" || msg === "Uncaught exception")).toEqual([]);
    expect(await dev.end()).toBe(0);
  }, 60_000);
});
