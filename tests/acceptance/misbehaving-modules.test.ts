/** Tests modules that do what they should not: their errors are reported under their names, and the others keep running. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { Bench } from "../support/binary.ts";
import { until } from "../support/until.ts";

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
    const matching = () => this.log.findLast((line) => Bun.deepMatch(fields, line));
    return until(matching, { within: 90_000, what: () => `${JSON.stringify(fields)}:\n${this.err}` });
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
    await using dev = new Dev("--as-admin"); // none of the modules declares what it requests
    for (const [index, name] of names.entries()) {
      await dev.says({ msg: `ran c${index}` });
      const entry = await dev.says({ msg: "A module failed: code outside of a run", module: `m${index}.ts` });
      expect([name, JSON.stringify(entry["error"])]).toEqual([name, expect.stringMatching(forgotten[name]![1])]);
    }
    expect(dev.log.filter(({ msg }) => msg === "Unhandled rejection" || msg === "Uncaught exception")).toEqual([]);
    expect(await dev.end()).toBe(0);
  }, 180_000);
});

describe("a module that would harm others", () => {
  test("cannot end the process, in a run, in a timer or while it loads; the others go on", async () => {
    await bench.write("controllers/_helper.ts", "export const helper = 1;");
    await bench.write("controllers/ends.ts", reconciling("ends", "process.exit(3);"));
    await bench.write("controllers/later.ts", reconciling("later", "setTimeout(() => process.abort(), 1);"));
    await bench.write("controllers/loading.ts", "process.exit(0);");
    await bench.write("controllers/fine.ts", reconciling("fine", ""));
    const { code, stderr } = await bench.exec("check", "--no-types");
    expect(code).toBe(1);
    expect(stderr).toContain("controllers/loading.ts:1:9: Cannot end the process with process.exit");
    await using dev = new Dev();
    await dev.says({ msg: "ran fine" });
    await dev.says({ msg: "Cannot load a module", module: "loading.ts" });
    const failed = await dev.says({ msg: "Reconcile failed", module: "ends.ts" });
    expect(JSON.stringify(failed)).toContain("Cannot end the process with process.exit: other modules run in it too");
    const late = await dev.says({ msg: "A module failed: code outside of a run", module: "later.ts" });
    expect(JSON.stringify(late)).toContain("Cannot end the process with process.abort");
    expect(dev.child.exitCode).toBeNull();
    expect(await dev.end()).toBe(0);
  }, 180_000);

  test("is named when it blocks the event loop, and the process ends when that lasts too long", async () => {
    await bench.write("controllers/_helper.ts", "export const helper = 1;");
    await bench.write("controllers/fine.ts", reconciling("fine", ""));
    await bench.write("controllers/loops.ts", reconciling("loops", "for (;;);"));
    // On a busy machine the start itself may count as a stall of some seconds, of which the run is then a part.
    await using dev = new Dev("--stall-timeout", "8s");
    const run = { module: "loops.ts", controller: "loops", key: "default/kube-root-ca.crt" };
    await dev.says({ level: "error", msg: "The event loop is blocked", ...run });
    await dev.says({ level: "error", msg: "The event loop is blocked for too long: the process ends", ...run });
    expect(await dev.child.exited).toBe(1);
  }, 180_000);

  test("cannot change the built-in objects of all modules while it loads", async () => {
    await bench.write("controllers/_helper.ts", "export const helper = 1;");
    await bench.write("controllers/fine.ts", reconciling("fine", ""));
    await bench.write(
      "controllers/patches.ts",
      reconciling("patches", "", "JSON.stringify = () => 'nonsense'; Array.prototype.map = () => [];"),
    );
    await using dev = new Dev();
    await dev.says({ msg: "ran fine" });
    const broken = await dev.says({ msg: "Cannot load a module", module: "patches.ts" });
    expect(broken["reason"]).toStartWith(
      "it changes Array.prototype.map, JSON.stringify, which all modules and the SDK share",
    );
    expect(await dev.end()).toBe(0);
  }, 180_000);
});

test("a module that changes built-in objects in a run harms itself alone", async () => {
  await bench.write("controllers/_helper.ts", "export const helper = 1;");
  const patches = {
    promises: "Promise.prototype.then = () => { throw new Error('patched'); };",
    json: "JSON.stringify = () => 'nonsense';",
    timers: "globalThis.setTimeout = () => { throw new Error('patched'); };",
    pollutes: "Object.prototype.polluted = true;",
  };
  for (const [name, body] of Object.entries(patches))
    await bench.write(`controllers/${name}.ts`, reconciling(name, body));
  await bench.write("controllers/extends.ts", reconciling("extends", "Array.prototype.last = () => 1;"));
  await bench.write(
    "controllers/fine.ts",
    reconciling("fine", "await new Promise((resolve) => setTimeout(resolve, 1));"),
  );
  await using dev = new Dev();
  for (const name of Object.keys(patches)) {
    const failed = await dev.says({ msg: "Reconcile failed", module: `${name}.ts` });
    expect(JSON.stringify(failed["error"])).toMatch(/read ?only property|not extensible/);
  }
  await dev.says({
    msg: "Code of a module has changed built-in objects, which all modules share: they are restored",
    changed: ["Array.prototype.last"],
  });
  await bench.write("controllers/fine.ts", reconciling("fine", "log.info('again');"));
  await dev.says({ msg: "again" });
  expect(await dev.end()).toBe(0);
}, 180_000);

test("what cannot be read, or shown, is one broken module, and the others run", async () => {
  await bench.write("controllers/_helper.ts", "export const helper = 1;");
  await bench.write("controllers/fine.ts", reconciling("fine", ""));
  await bench.write("controllers/esc\u001b[31m.ts", reconciling("red", ""));
  const links = { "loop.ts": "loop.ts", "zero.ts": "/dev/zero", "zero.test.ts": "/dev/zero", loop: "loop" };
  for (const [name, target] of Object.entries(links)) symlinkSync(target, join(bench.dir, "controllers", name));
  const { code, stderr, stdout } = await bench.exec("check");
  expect(code).toBe(1);
  expect(stdout).toContain("controller fine");
  expect(stderr.split("\n").filter((line) => line.startsWith("error: "))).toEqual([
    String.raw`error: controllers/esc\u001b[31m.ts: its name 'esc\u001b[31m.ts' has characters that cannot be shown: rename it`,
    "error: controllers/loop.ts is a link that leads in a circle: mend or remove it",
    "error: controllers/zero.ts is a device, and no file",
  ]);
  expect(stdout + stderr).not.toContain("\u001b");
  await using dev = new Dev();
  await dev.says({ msg: "ran fine" });
  await dev.says({ msg: "Cannot load a module", module: "zero.ts" });
  await bench.write("controllers/fine.ts", reconciling("fine", "log.info('again');"));
  await dev.says({ msg: "again" });
  expect(await dev.end()).toBe(0);
}, 180_000);
