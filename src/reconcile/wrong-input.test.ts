/** What the types refuse, and what a module meets all the same that runs without a type check. */
import { type ObjectContext, of } from "binnacle";
import { ConfigMap } from "binnacle/resources";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { Behaviours, boxController, BOXES, type BoxShape, Lab } from "../../tests/support/integration/lab.ts";
import type { ShapeOf } from "../controller/definition.ts";

type Context = ObjectContext<BoxShape, ShapeOf<typeof ConfigMap>>;
type Sync = (desired: unknown, options?: object) => Promise<unknown>;

const MAPS = "/api/v1/namespaces/default/configmaps";
const map = (name: string, metadata: object = {}) => of(ConfigMap, { metadata: { name, ...metadata } });

describe("what a reconciler gives", () => {
  const behaviours = new Behaviours();
  let lab: Lab;
  let boxes = 0;

  beforeAll(async () => {
    const controller = boxController(behaviours, { owns: [ConfigMap], retry: { first: "1h", max: "1h" } });
    lab = await Lab.start(behaviours, [controller], { server: "embedded" });
  });
  afterAll(async () => await lab?.[Symbol.asyncDispose]());

  async function failure(code: (context: Context) => unknown): Promise<string> {
    const name = `wrong-${boxes++}`;
    await lab.box(name, async (_, context) => void (await code(context)));
    return behaviours.failure(name);
  }
  const syncing = (desired: unknown, options?: object) =>
    failure(({ children }) => (children.sync as unknown as Sync)(desired, options));

  test("children.sync says which child is none", async () => {
    expect(await syncing({ a: null })).toContain("'a' is null; give an object, several in an array, or undefined");
    expect(await syncing({ a: [map("a"), false] })).toContain("'a' is false; give an object");
    expect(await syncing({ a: "x" })).toContain("'a' is 'x'");
    expect(await syncing({ a: { metadata: { name: "a" } } })).toContain("'a' has no apiVersion or no kind; `of(Kind");
    expect(await syncing({ a: { apiVersion: "v1", kind: "ConfigMap" } })).toContain("(ConfigMap) has no metadata.name");
    const generated = { apiVersion: "v1", kind: "ConfigMap", metadata: { generateName: "a-" } };
    expect(await syncing({ a: generated })).toContain("has generateName, and children go by their names");
    expect(await lab.cluster.get(`${MAPS}/a`)).toBeUndefined();
  });

  test("children.sync refuses what is no set, and options that are none", async () => {
    expect(await syncing([map("b")])).toContain("gives each child a name, got an array");
    expect(await syncing(undefined)).toContain("gives each child a name, got undefined");
    expect(await syncing({ b: map("b") }, { keeps: ["b"] })).toContain("there is no option 'keeps', only after, keep,");
    expect(await lab.cluster.get(`${MAPS}/b`)).toBeUndefined();
  });

  test("children.sync refuses the metadata of an object that was read", async () => {
    const said = await syncing({ c: map("c", { uid: "1", resourceVersion: "2" }) });
    expect(said).toContain("'c' (ConfigMap) has metadata.uid of an object that was read");
    expect(await syncing({ c: map("c", { managedFields: [] }) })).toContain("has metadata.managedFields");
  });

  test("children.sync keeps other owners that a child is given, unless one is to control it", async () => {
    const { metadata } = await lab.cluster.send("POST", MAPS, { body: { metadata: { name: "owner" } } });
    const { name, uid } = metadata;
    const owner = { apiVersion: "v1", kind: "ConfigMap", name, uid };
    await lab.box("owners", async (_, { children }) => {
      await children.sync({ d: map("d", { ownerReferences: [owner] }) });
    });
    expect(behaviours.failure("owners")).toBe("");
    const { uid: box } = (await lab.get("owners")).metadata;
    const references = (await lab.cluster.exists(`${MAPS}/d`)).metadata as { ownerReferences?: { uid: string }[] };
    expect(references.ownerReferences?.map((reference) => reference.uid)).toEqual([uid, box]);
    const said = await syncing({ e: map("e", { ownerReferences: [{ ...owner, controller: true }] }) });
    expect(said).toContain("ConfigMap default/e names ConfigMap owner as its controller, and that is Box");
  });

  test("children.sync takes no child from another owner, also where that is known by a label", async () => {
    const metadata = {
      name: "labelled",
      labels: { "binnacle.dev/owner-uid": "another" },
      annotations: { "binnacle.dev/owner": "default/another" },
    };
    await lab.cluster.send("POST", MAPS, { body: { metadata, data: { theirs: "1" } } });
    const said = await syncing({ f: map("labelled") }, { adopt: true });
    expect(said).toStartWith("AlreadyOwned: Cannot take over ConfigMap default/labelled: by its label");
    expect(said).toContain("it is a child of default/another");
    expect((await lab.cluster.exists(`${MAPS}/labelled`)).metadata).not.toHaveProperty("ownerReferences");
  });

  test("children.sync says that a child is still that of an earlier object of the name", async () => {
    const earlier = { apiVersion: "lab.binnacle.dev/v1", kind: "Box", name: "again", uid: "earlier", controller: true };
    await lab.cluster.send("POST", MAPS, { body: { metadata: { name: "again", ownerReferences: [earlier] } } });
    await lab.box("again", async (_, { children }) => void (await children.sync({ g: map("again") })));
    expect(behaviours.failure("again")).toContain("it is controlled by an earlier Box again, and will be collected");
  });

  test("status.condition takes the API's words for no truth values", async () => {
    for (const status of ["False", "True", undefined, 1]) {
      const condition = { type: "Ready", status, reason: "A" } as never;
      expect(await failure((context) => context.status.condition(condition))).toContain(
        'Cannot set condition Ready: expected the status true, false or "Unknown"',
      );
    }
    const all = (await lab.cluster.exists(BOXES)).items!;
    expect(all.every(({ status }) => status?.conditions === undefined)).toBe(true);
  });
});
