/** A plugin from npm: a package in `node_modules` beside the controllers folder, in the compiled binary. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { Bench } from "../support/binary.ts";

let bench: Bench;
beforeAll(async () => {
  bench = await Bench.create();
}, 180_000);
afterAll(() => bench?.[Symbol.asyncDispose]());

const PACKAGE = "node_modules/@acme/binnacle-tracing";
const about = (version: string, binnacle: string): string =>
  JSON.stringify({
    name: "@acme/binnacle-tracing",
    version,
    type: "module",
    exports: { ".": "./dist/index.js" },
    peerDependencies: { binnacle },
  });

test("is a module's as it is passed on, with the binary's SDK and packages of its own, and says for which binnacle it is made", async () => {
  await bench.write("controllers/tracing.ts", `export { tracing } from "@acme/binnacle-tracing";\n`);
  await bench.write(`${PACKAGE}/package.json`, about("3.1.0", ">=0.1.0 <100"));
  await bench.write(
    `${PACKAGE}/dist/index.js`,
    `import { allow, definePlugin } from "binnacle";
     import { ConfigMap } from "binnacle/resources";
     import { name } from "own-helper";
     export const tracing = definePlugin({ name, uses: [allow(ConfigMap, "get")], setup() {} });`,
  );
  await bench.write(`${PACKAGE}/node_modules/own-helper/package.json`, `{ "name": "own-helper", "main": "main.cjs" }`);
  await bench.write(`${PACKAGE}/node_modules/own-helper/main.cjs`, `exports.name = "tracing";`);
  // What stands here under the SDK's own name is not what it gets.
  await bench.write("node_modules/binnacle/index.js", `throw new Error("not this one");`);
  const right = await bench.exec("check", "--no-types");
  expect(right).toMatchObject({ code: 0, stderr: "" });
  expect(right.stdout).toContain("  plugin tracing\n    permissions configmaps: get\n");

  await bench.write(`${PACKAGE}/package.json`, about("4.0.0", ">=100.0.0"));
  const wrong = await bench.exec("check", "--no-types");
  expect(wrong.code).toBe(1);
  expect(wrong.stderr).toMatch(
    /^error: controllers\/tracing\.ts:1:25: Cannot use the package '@acme\/binnacle-tracing' 4\.0\.0: it is made for binnacle >=100\.0\.0, and this is \d+\.\d+\.\d+; /,
  );
});
