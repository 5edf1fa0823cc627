import { expect, test } from "bun:test";
import { eventually } from "./eventually.ts";
import { matchers } from "./matchers.ts";

expect.extend(matchers);

test("eventually looks until the check neither throws nor answers false, and gives its answer", async () => {
  let looks = 0;
  const answer = await eventually(() => {
    looks++;
    if (looks === 1) throw new Error("not yet");
    return looks > 2 && { looks };
  });
  expect(answer).toEqual({ looks: 3 });
});

test("eventually says on failure what it saw last", async () => {
  let looks = 0;
  const never = eventually(() => expect(looks++).toBe(-1), { within: 20 });
  await expect(never).rejects.toThrow(/Expected: -1\nReceived: \d+[^]*not so within 20 ms \(\d+ looks\); above is/);
  await expect(eventually(() => false, { within: 10 })).rejects.toThrow(/not so within 10 ms .* seen last: false/);
});

test("eventually waits as long as a variable says, where it does not say it itself", async () => {
  const before = process.env["BINNACLE_TEST_EVENTUALLY"];
  try {
    process.env["BINNACLE_TEST_EVENTUALLY"] = "20ms";
    await expect(eventually(() => false)).rejects.toThrow("not so within 20 ms");
    await expect(eventually(() => false, { within: 10 })).rejects.toThrow("not so within 10 ms");
    process.env["BINNACLE_TEST_EVENTUALLY"] = "long";
    await expect(eventually(() => false)).rejects.toThrow("$BINNACLE_TEST_EVENTUALLY");
  } finally {
    if (before === undefined) delete process.env["BINNACLE_TEST_EVENTUALLY"];
    else process.env["BINNACLE_TEST_EVENTUALLY"] = before;
  }
});

const object = {
  kind: "Widget",
  metadata: { name: "one", uid: "1", generation: 2 },
  status: {
    conditions: [{ type: "Ready", status: "True", reason: "Done", message: "all is well", observedGeneration: 2 }],
  },
};
const child = (name: string, uid = "1") => ({
  kind: "ConfigMap",
  metadata: { name, ownerReferences: [{ kind: "Widget", name: "one", uid, controller: true }] },
});

test("toHaveCondition compares status, reason, message and generation", () => {
  expect(object).toHaveCondition("Ready");
  expect(object).toHaveCondition("Ready", { status: "True", reason: "Done", message: "well" });
  expect(object).not.toHaveCondition("Ready", { status: "False" });
  expect(object).not.toHaveCondition("Other");
  const newer = { ...object, metadata: { ...object.metadata, generation: 3 } };
  expect(() => expect(newer).toHaveCondition("Ready")).toThrow(
    "expected Widget one to have the condition Ready=True; it has Ready=True Done all is well, of generation 2 and not 3",
  );
});

test("toHaveChildren and toBeControlledBy go by UID", () => {
  expect(object).toHaveChildren([child("b"), child("a"), child("c", "2")], ["ConfigMap a", "ConfigMap b"]);
  expect(child("a")).toBeControlledBy(object);
  expect(() => expect(child("c", "2")).toBeControlledBy(object)).toThrow(
    "it is controlled by Widget one of the UID 2, not 1",
  );
  expect(() => expect(object).toHaveChildren([child("a")], [])).toThrow(
    "expected Widget one to have the children []; it has [ConfigMap a]",
  );
});

test("binnacle/testing exports what is documented", async () => {
  const names = [
    "FakeClock",
    "admit",
    "childrenOf",
    "conditionOf",
    "configure",
    "conversionLosses",
    "convert",
    "eventually",
    "matchers",
    "runModule",
    "startCluster",
  ];
  expect(Object.keys(await import("./index.ts")).sort()).toEqual(names.sort());
});
