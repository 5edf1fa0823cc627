import { expect, test } from "bun:test";
import { type Option, resolveOptions } from "./option.ts";

const options = [
  { name: "folder", type: "list", default: ["./x"], describe: "" },
  { name: "grace-period", type: "duration", default: "30s", describe: "" },
  { name: "level", type: "string", choices: ["info", "warn"], describe: "" },
  { name: "strict", type: "boolean", default: false, describe: "" },
  { name: "concurrency", type: "number", describe: "" },
] as const satisfies readonly Option[];

function resolve(flags: object, env: object = {}, values?: Readonly<Record<string, unknown>>) {
  const config = values === undefined ? undefined : { file: "c.yaml", values };
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

const wrong: readonly [object, object, Readonly<Record<string, unknown>> | undefined, string][] = [
  [{ level: "loud" }, {}, undefined, "--level is 'loud': expected info, warn"],
  [{ level: ["info", "warn"] }, {}, undefined, "--level is given more than once"],
  [
    { "grace-period": "soon" },
    {},
    undefined,
    "--grace-period is 'soon': expected a duration such as 500ms, 30s or 1m30s",
  ],
  [
    {},
    { BINNACLE_CONCURRENCY: "many" },
    undefined,
    "BINNACLE_CONCURRENCY is 'many': expected a whole number of at least 1",
  ],
  [{}, { BINNACLE_STRICT: "maybe" }, undefined, "BINNACLE_STRICT is 'maybe': expected true or false"],
  [{}, {}, { concurency: 1 }, "Unknown option 'concurency' in c.yaml, did you mean 'concurrency'?"],
  [{}, {}, { level: { a: 1 } }, "'level' in c.yaml: expected a single value"],
];
test.each(wrong)("resolveOptions refuses %j %j %j", (flags, env, config, message) => {
  expect(() => resolve(flags, env, config)).toThrow(message);
});
