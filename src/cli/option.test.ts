import { expect, test } from "bun:test";
import type { Option } from "../settings/option.ts";
import { resolveOptions } from "./option.ts";

const options = [
  { name: "folder", type: "list", default: ["./x"], describe: "" },
  { name: "grace-period", type: "duration", default: "30s", describe: "" },
  { name: "level", type: "string", choices: ["info", "warn"], describe: "" },
  { name: "strict", type: "boolean", default: false, describe: "" },
  { name: "concurrency", type: "number", describe: "" },
  { name: "name", type: "string", describe: "" },
  { name: "memory", type: "bytes", describe: "" },
] as const satisfies readonly Option[];

function resolve(flags: object, env: object = {}, values?: Readonly<Record<string, unknown>>) {
  const config =
    values === undefined
      ? undefined
      : { file: "c.yaml", values, command: "run", elsewhere: ["data", "dev", "apiserver"] };
  return resolveOptions(options, { flags: flags as never, env: env as never, config });
}

test("resolveOptions: flags win over the environment, that over the file, that over defaults", () => {
  expect(resolve({})).toEqual({ folder: ["./x"], "grace-period": 30_000, strict: false });
  const file = { "grace-period": "1s" };
  const env = { BINNACLE_GRACE_PERIOD: "2s" };
  expect(resolve({}, {}, file)["grace-period"]).toBe(1000);
  expect(resolve({}, env, file)["grace-period"]).toBe(2000);
  expect(resolve({ "grace-period": "3s" }, env, file)["grace-period"]).toBe(3000);
  expect(resolve({}, { BINNACLE_GRACE_PERIOD: "" }, file)["grace-period"]).toBe(1000);
});

test("resolveOptions reads each type from each place", () => {
  expect(resolve({ folder: ["a", "b"] })["folder"]).toEqual(["a", "b"]);
  expect(resolve({}, { BINNACLE_FOLDER: "a,b" })["folder"]).toEqual(["a", "b"]);
  expect(resolve({}, {}, { folder: ["a"], strict: true, concurrency: 3 })).toMatchObject({
    folder: ["a"],
    strict: true,
    concurrency: 3,
  });
  expect(resolve({}, { BINNACLE_STRICT: "true", BINNACLE_CONCURRENCY: "8" })).toMatchObject({
    strict: true,
    concurrency: 8,
  });
});

test("resolveOptions takes the options of other commands in the file for theirs", () => {
  expect(resolve({}, {}, { data: true, strict: true })).toMatchObject({ strict: true });
});

test("resolveOptions reads bytes as a quantity, or as a number", () => {
  expect(resolve({ memory: "0.5Ki" })["memory"]).toBe(512);
  expect(resolve({ memory: "0" })["memory"]).toBe(0);
  expect(resolve({}, { BINNACLE_MEMORY: "256Mi" })["memory"]).toBe(256 * 2 ** 20);
  expect(resolve({}, {}, { memory: 4096 })["memory"]).toBe(4096);
  expect(resolve({ memory: "0.7Gi" })["memory"]).toBe(Math.floor(0.7 * 2 ** 30));
});

test("resolveOptions lets what the file says for this command win over what it says for all", () => {
  expect(resolve({}, {}, { concurrency: 2, run: { concurrency: 3 }, dev: { concurrency: 4 } })["concurrency"]).toBe(3);
  expect(resolve({}, {}, { concurrency: 2, run: null })["concurrency"]).toBe(2);
});

const wrong: readonly [object, object, Readonly<Record<string, unknown>> | undefined, string][] = [
  [{ level: "loud" }, {}, undefined, "--level is 'loud': expected info, warn"],
  [{ level: ["info", "warn"] }, {}, undefined, "--level is given more than once"],
  [
    { "grace-period": "soon" },
    {},
    undefined,
    "--grace-period is 'soon': expected a duration such as 500ms, 30s or 1m30s",
  ],
  [{ memory: "much" }, {}, undefined, "--memory is 'much': expected a quantity such as 256Mi, or 0 for no limit"],
  [{ memory: "100m" }, {}, undefined, "--memory is '100m': expected a quantity such as 256Mi, or 0 for no limit"],
  [{ memory: "" }, {}, undefined, "--memory needs a value"],
  [{}, {}, { memory: true }, "'memory' in c.yaml is 'true': expected a text"],
  [
    {},
    { BINNACLE_CONCURRENCY: "many" },
    undefined,
    "BINNACLE_CONCURRENCY is 'many': expected a whole number of at least 1",
  ],
  [{}, { BINNACLE_STRICT: "maybe" }, undefined, "BINNACLE_STRICT is 'maybe': expected true or false"],
  [{}, {}, { concurency: 1 }, "Unknown option 'concurency' in c.yaml, did you mean 'concurrency'?"],
  [{}, {}, { level: { a: 1 } }, "'level' in c.yaml: expected a single value"],
  [{}, {}, { run: { concurency: 1 } }, "Unknown option 'run.concurency' in c.yaml, did you mean 'run.concurrency'?"],
  [{}, {}, { run: { data: 1 } }, "Unknown option 'run.data' in c.yaml"],
  [{}, {}, { run: 3 }, "'run' in c.yaml: expected options by name"],
  [{}, {}, { name: true }, "'name' in c.yaml is 'true': expected a text"],
];
test.each(wrong)("resolveOptions refuses %j %j %j", (flags, env, config, message) => {
  expect(() => resolve(flags, env, config)).toThrow(message);
});
