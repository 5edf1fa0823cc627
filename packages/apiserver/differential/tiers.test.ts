import { expect, test } from "bun:test";
import { compareCases } from "./compare.ts";
import type { CaseRecord } from "./case.ts";
import { comparedPart, type Tier, tierOf } from "./tiers.ts";

test.each<[string, Tier]>([
  ["/api/v1/namespaces/n/pods/p/status?dryRun=All", "words"],
  ["/api/v1/namespaces/n", "words"],
  ["/api/v1/nodes/n", "outcome"],
  ["/api/v1/namespaces/n/events", "outcome"],
  ["/apis/apps/v1/deployments", "words"],
  ["/apis/storage.k8s.io/v1/storageclasses/c", "outcome"],
  ["/apis/example.test/v1/namespaces/n/gadgets", "words"],
  ["/apis/storage.k8s.io/v1", "words"],
  ["/openapi/v3", "words"],
  ["/flagz", "outcome"],
])("tierOf %s", (path, tier) => expect(tierOf(path)).toBe(tier));

function refusal(
  message: string,
  { code = 422, field = "spec.a", reason = "Invalid", path = "/apis/node.k8s.io/v1/runtimeclasses" } = {},
): CaseRecord {
  const details = { causes: [{ field, reason: "FieldValueInvalid", message }] };
  const body = { kind: "Status", status: "Failure", code, reason, message, details };
  const answer = { status: code, headers: { warning: message }, body };
  return { name: "c", exchanges: [{ label: "l", call: { method: "POST", path }, answer }] };
}

test("compareCases finds another status, reason or field where words are free, and no other words", () => {
  expect(compareCases(refusal("one"), refusal("other"))).toEqual([]);
  for (const other of [{ code: 403 }, { reason: "Forbidden" }, { field: "spec.b" }])
    expect(compareCases(refusal("one"), refusal("one", other))).toHaveLength(1);
});

test("compareCases finds other words where the case says that they count", () => {
  const differences = compareCases(refusal("one"), { ...refusal("other"), tier: "words" })[0]?.differences;
  expect(differences?.map(({ field }) => field)).toEqual(["(header).warning", "message", "details.causes[0].message"]);
});

test("comparedPart leaves out what Go's libraries say in both tiers", () => {
  const messageOf = (message: string, code = 422): unknown => {
    const { answer } = refusal(message, { code }).exchanges[0]!;
    return (comparedPart(answer, { tier: "words" }).body as { readonly message?: string }).message;
  };
  expect(messageOf('a: Invalid value: {"A":"}"}: no, b: Invalid value: [{}]: no')).toBe(
    "a: Invalid value: <object>: no, b: Invalid value: <object>: no",
  );
  expect(messageOf("spec: Forbidden: pod updates\n{Volumes:nil}\n")).toBe("spec: Forbidden: pod updates<difference>");
  expect(messageOf(".spec: expected map, got &{1}")).toBe(".spec: expected map, got <value>");
  expect(messageOf("json: cannot unmarshal", 400)).toBeUndefined();
  expect(messageOf('strict decoding error: unknown field "a"', 400)).toContain("unknown field");
});

test("compareCases leaves out what kube-apiserver finds invalid of kinds that are hardly validated here", () => {
  const path = "/apis/storage.k8s.io/v1/csidrivers";
  expect(compareCases(refusal("one", { path }), refusal("one", { path, code: 201 }))).toEqual([]);
  expect(compareCases(refusal("one", { path, code: 403 }), refusal("one", { path, code: 201 }))).toHaveLength(1);
});
