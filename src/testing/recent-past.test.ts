import { afterEach, expect, test } from "bun:test";
import { eventually } from "./eventually.ts";
import { Journal } from "./journal.ts";
import { follow, keepRecentPast, recentPast, unfollow } from "./recent-past.ts";

keepRecentPast();
let journal: Journal;
afterEach(() => {
  unfollow(journal);
  recentPast();
});

function begin(): void {
  // A wait of another test file in this process may have failed, and its time would count.
  recentPast();
  journal = new Journal();
  follow(journal);
}

function post(name: string): void {
  const answer = JSON.stringify({ kind: "ConfigMap", metadata: { name, uid: name } });
  journal.note({ method: "POST", path: `/api/v1/${name}`, by: "test", code: 201, answer });
}

test("recentPast tells of the last second, and not of what was before", async () => {
  begin();
  post("old");
  await Bun.sleep(1_050);
  post("new");
  const text = recentPast()!;
  expect(text).toStartWith("Requests and events of the last second:");
  expect(text).toContain("POST /api/v1/new by test: 201");
  expect(text).not.toContain("old");
});

test("recentPast spans the time of an `eventually` that failed, and of none before", async () => {
  begin();
  await eventually(() => true);
  post("early");
  await Bun.sleep(1_100);
  const waiting = eventually(() => false, { within: 1_300 }).catch(() => "failed");
  post("begin");
  expect(await waiting).toBe("failed");
  const text = recentPast()!;
  expect(text).toMatch(/^Requests and events of the last 1\.\d s:/);
  expect(text).toContain("/begin");
  expect(text).not.toContain("/early");
  await Bun.sleep(10);
  expect(recentPast()).toBeUndefined();
});

test("recentPast of a cluster that was stopped after the failure spans it too", async () => {
  begin();
  const waiting = eventually(() => false, { within: 1_200 }).catch(() => {});
  post("begin");
  await waiting;
  unfollow(journal);
  expect(recentPast()).toContain("/begin");
});

test("recentPast shows the begin and the end of a long story", () => {
  begin();
  for (let number = 0; number < 100; number++) post(`item-${number}-`);
  const text = recentPast()!;
  expect(text).toContain("item-0-");
  expect(text).toContain("item-19-");
  expect(text).toContain("\n  40 more\n");
  expect(text).not.toContain("/item-20-");
  expect(text).toContain("/item-60-");
});

test("recentPast leaves out what a module does to register webhooks, unless it fails", () => {
  begin();
  post("new");
  const note = (path: string, by: string, code: number, answer: object): void =>
    journal.note({ method: "PATCH", path, by, code, answer: JSON.stringify(answer) });
  note("/apis/apiextensions.k8s.io/v1/customresourcedefinitions/reports.shop", "binnacle-gives-back", 200, {});
  const hooks = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/binnacle-test-1a2b";
  const configuration = {
    kind: "MutatingWebhookConfiguration",
    metadata: { name: "binnacle-test-1a2b", uid: "hooks" },
  };
  note(hooks, "binnacle", 200, configuration);
  note(hooks, "binnacle", 200, { kind: "Status" });
  note(hooks, "binnacle", 403, { kind: "Status", message: "not allowed" });
  const text = recentPast()!;
  expect(text.split("\n").filter((line) => / ms {2}/.test(line))).toEqual([
    expect.stringContaining("POST /api/v1/new by test: 201"),
    expect.stringContaining("by binnacle: 403 not allowed"),
  ]);
  expect(text).not.toContain("kind: MutatingWebhookConfiguration");
});
