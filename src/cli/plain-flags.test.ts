import { array, assert, asyncProperty, constantFrom } from "fast-check";
import { expect, test } from "bun:test";
import type { Option } from "../settings/option.ts";
import { parseFlags } from "./parse-flags.ts";
import { plainFlags } from "./plain-flags.ts";

const options: readonly Option[] = [
  { name: "controllers", type: "list", describe: "" },
  { name: "log-level", type: "string", describe: "" },
  { name: "concurrency", type: "number", describe: "" },
  { name: "grace-period", type: "duration", describe: "" },
  { name: "watch", type: "boolean", describe: "" },
  { name: "maybe", type: "string", bare: "yes", describe: "" },
];

test("what is read plainly is what the parser makes of it", async () => {
  const flags = options.map(({ name }) => `--${name}`);
  const values = [
    "a",
    "1",
    "30s",
    "true",
    "false",
    ":8080",
    "0",
    "a=b",
    "a b",
    "-1",
    "--",
    "",
    '"q"',
    "--unknown",
    "-x",
  ];
  const words = constantFrom(
    ...flags,
    ...values,
    ...flags.flatMap((flag) => values.map((value) => `${flag}=${value}`)),
  );
  let plain = 0;
  await assert(
    asyncProperty(array(words, { maxLength: 6 }), async (args) => {
      const found = plainFlags(args, options);
      if (found === undefined) return;
      plain++;
      expect(found as object).toEqual(await parseFlags(args, { options }));
    }),
    { numRuns: 3_000 },
  );
  expect(plain).toBeGreaterThan(100);
});

test("the flags of every day are read plainly, and whatever else is left to the parser", () => {
  const args = ["--controllers", "a", "--log-level=warn", "--watch", "--controllers", "b", "--grace-period", "30s"];
  expect(plainFlags(args, options)).toEqual({
    controllers: ["a", "b"],
    "log-level": "warn",
    watch: true,
    "grace-period": "30s",
  });
  for (const other of [
    ["--log-level"],
    ["--no-watch"],
    ["--watch", "false"],
    ["x"],
    ["--maybe"],
    ["--log-level", "-x"],
  ]) {
    expect(plainFlags(other, options)).toBeUndefined();
  }
});
