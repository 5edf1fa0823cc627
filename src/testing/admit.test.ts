import { expect, expectTypeOf, test } from "bun:test";
import { allow, defineResource, defineWebhook, Denied, z } from "binnacle";
import { ConfigMap, Pod } from "binnacle/resources";
import { admit, runModule, startCluster } from "binnacle/testing";

const Guestbook = defineResource({
  group: "demo.binnacle.dev",
  version: "v1",
  kind: "Guestbook",
  spec: z.object({ message: z.string(), pages: z.array(z.string()).optional() }),
});

const policy = defineWebhook({
  for: Guestbook,
  operations: ["CREATE", "UPDATE", "DELETE"],
  default(draft, { audit }) {
    draft.metadata.labels ??= {};
    draft.metadata.labels["team"] ??= "web";
    draft.spec.pages?.unshift("cover");
    audit("team", draft.metadata.labels["team"]);
  },
  validate(guestbook, { old, operation, user, warn }) {
    expectTypeOf(guestbook.spec.message).toEqualTypeOf<string>();
    if (operation === "DELETE") {
      if (guestbook.metadata.labels?.["keep"] !== undefined) throw new Denied("it is to be kept");
      return;
    }
    if (user.username === "mallory") throw new Denied("not for you", { code: 401, reason: "NotYou" });
    if (guestbook.spec.message === "") warn("it says nothing");
    if (old !== undefined && old.spec.message !== guestbook.spec.message) {
      throw new Denied("it is fixed", { code: 422, fields: { "spec.message": "cannot change" } });
    }
  },
});

const guestbook = (message: string) => ({ metadata: { name: "a", namespace: "default" }, spec: { message } });

test("admit gives the object after default, the patch, warnings and annotations", async () => {
  const answer = await admit(policy, { ...guestbook(""), spec: { message: "", pages: ["one"] } });
  expect(answer).toMatchObject({
    allowed: true,
    object: { kind: "Guestbook", metadata: { labels: { team: "web" } }, spec: { pages: ["cover", "one"] } },
    patch: [
      { op: "add", path: "/metadata/labels", value: { team: "web" } },
      { op: "add", path: "/spec/pages/0", value: "cover" },
    ],
    warnings: ["it says nothing"],
    auditAnnotations: { team: "web" },
  });
  if (answer.allowed) expectTypeOf(answer.object.spec.message).toEqualTypeOf<string>();
});

test("admit tells refusals with code, reason and causes", async () => {
  const changed = await admit(policy, guestbook("b"), { old: guestbook("a") });
  expect(changed).toMatchObject({ allowed: false, code: 422, reason: "Invalid" });
  expect(changed).toMatchObject({
    message: "it is fixed: spec.message: cannot change",
    causes: [{ reason: "FieldValueInvalid", field: "spec.message", message: "cannot change" }],
  });
  const refused = await admit(policy, guestbook("a"), { user: { username: "mallory" } });
  expect(refused).toMatchObject({ allowed: false, code: 401, reason: "NotYou", message: "not for you" });
  const kept = { ...guestbook("a"), metadata: { name: "a", labels: { keep: "" } } };
  expect(await admit(policy, kept, { operation: "DELETE" })).toMatchObject({ allowed: false, code: 403 });
});

test("a Denied with a code that is no refusal is a mistake of its own", () => {
  expect(() => new Denied("no", { code: 200 })).toThrow(
    "Cannot deny with code 200: use a whole number from 400 to 599",
  );
});

test("the client of a webhook reads, writes only where it says so, and nothing after the answer", async () => {
  await using cluster = await startCluster({ pods: false });
  const key = { namespace: "default", name: "limits" };
  const reading = defineWebhook({
    for: Pod,
    reads: [ConfigMap],
    async validate(_, { client }) {
      if ((await client.find(ConfigMap, key)) !== undefined) throw new Denied("there are limits");
    },
  });
  const pod = { metadata: { name: "a" }, spec: { containers: [] } };
  expect(await admit(reading, pod, { client: cluster.client })).toMatchObject({ allowed: true });
  await cluster.client.create(ConfigMap, { metadata: key });
  expect(await admit(reading, pod, { client: cluster.client })).toMatchObject({ message: "there are limits" });
  expect(await admit(reading, pod, { show: "none" })).toMatchObject({ code: 500, allowed: false });
});

test("a call that does not end is given up", async () => {
  const hanging = defineWebhook({
    for: Pod,
    validate: (_, { signal }) => new Promise<void>((_resolve, reject) => signal.addEventListener("abort", reject)),
  });
  const pod = { metadata: { name: "a" }, spec: { containers: [] } };
  expect(await admit(hanging, pod, { timeout: 5, show: "none" })).toMatchObject({ code: 504, reason: "Timeout" });
});

test("a webhook with side effects writes, and reads what it wrote; during a dry run it stores nothing", async () => {
  await using cluster = await startCluster({ pods: false });
  const ledger = { namespace: "default", name: "ledger" };
  const counting = defineWebhook({
    for: Guestbook,
    reads: [ConfigMap],
    uses: [allow(ConfigMap, "create", "patch")],
    sideEffects: "NoneOnDryRun",
    async validate({ metadata }, { client, warn }) {
      await client.apply(ConfigMap, { metadata: ledger, data: { last: metadata.name } });
      warn(`last is ${(await client.find(ConfigMap, ledger))?.data?.["last"] ?? "nobody"}`);
    },
  });
  const silent = defineWebhook({
    for: ConfigMap,
    uses: [allow(ConfigMap, "create")],
    validate: async ({ metadata }, { client }) => {
      if (metadata.name === "asks")
        await client.create(ConfigMap, { metadata: { namespace: "default", name: "made" } });
    },
  });
  await using running = await runModule([Guestbook, counting, silent], cluster, { show: "none" });
  const { client } = cluster;
  const book = (name: string) => ({ metadata: { namespace: "default", name }, spec: { message: "hello" } });
  await client.create(Guestbook, book("tried"), { dryRun: true });
  expect(await client.find(ConfigMap, ledger)).toBeUndefined();
  await client.create(Guestbook, book("first"));
  expect((await client.get(ConfigMap, ledger)).data).toEqual({ last: "first" });
  const asking = client.create(ConfigMap, { metadata: { namespace: "default", name: "asks" } });
  await expect(asking).rejects.toThrow("declares no side effects");
  expect(running.log.some(({ msg }) => msg === "A webhook threw")).toBe(true);
});

test.each([
  ["false", () => false],
  ['{"allowed":false}', () => ({ allowed: false })],
  ["true", async () => true],
  ['"too large"', () => "too large"],
  ["null", async () => null],
  ["Error: no", () => new Error("no")],
])("`validate` that returns %s is an error, because that decides nothing", async (shown, decide) => {
  const object = { metadata: { name: "m", namespace: "default" } };
  const webhook = defineWebhook({ for: ConfigMap, validate: decide as never });
  expect(await admit(webhook, object, { show: "none" })).toMatchObject({
    allowed: false,
    code: 500,
    message: expect.stringContaining(`\`validate\` returned ${shown}, which decides nothing: throw Denied`),
  });
});

test("`validate` may be an arrow function whose expression has a number that nobody wants", async () => {
  const object = { metadata: { name: "m", namespace: "default" } };
  const seen: unknown[] = [];
  const validate: (object: object) => void = (given) => seen.push(given);
  expect(await admit(defineWebhook({ for: ConfigMap, validate }), object)).toMatchObject({ allowed: true });
  expect(seen).toHaveLength(1);
});

test("`default` changes its draft: an object that it returns instead is an error, and any other value is nothing", async () => {
  const object = { metadata: { name: "m", namespace: "default" } };
  // TypeScript lets a function that returns something stand for one that returns nothing.
  const copying: (draft: object) => void = (draft) => ({ ...draft });
  const copied = await admit(defineWebhook({ for: ConfigMap, default: copying }), object);
  expect(copied).toMatchObject({
    allowed: false,
    message: expect.stringContaining("`default` returned an object, which is ignored"),
  });
  const assigning: (draft: { data?: Record<string, string> | undefined }) => void = (draft) =>
    (draft.data = { a: "b" });
  const assigned = await admit(defineWebhook({ for: ConfigMap, default: assigning }), object);
  expect(assigned).toMatchObject({ allowed: true, object: { data: { a: "b" } } });
});
