import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { available } from "../../scripts/acceptance/cluster.ts";
import { Behaviours, Box, BOXES, boxController, Lab } from "../../scripts/integration/lab.ts";

describe.skipIf(!available)("update", () => {
  const behaviours = new Behaviours();
  let lab: Lab;

  beforeAll(async () => {
    lab = await Lab.start(behaviours, [boxController(behaviours)]);
  }, 120_000);
  afterAll(async () => await lab?.[Symbol.asyncDispose]());

  test("leaves other managers their fields", async () => {
    const box = { apiVersion: Box.apiVersion, kind: Box.kind, metadata: { name: "shared" }, spec: { turn: 1 } };
    behaviours.set("shared", async ({ metadata: { name, namespace = "" } }, { client, status }) => {
      status.set({ note: "a" }); // the informer keeps this controller's own fields
      await status.flush();
      await client.edit(Box, { name, namespace }, (draft) => {
        draft.metadata.labels = { seen: "yes" };
      });
    });
    const type = "application/apply-patch+yaml";
    await lab.cluster.send("PATCH", `${BOXES}/shared?fieldManager=theirs`, { body: box, type });
    await lab.cluster.exists(`${BOXES}/shared`, ({ metadata }) => metadata.labels?.["seen"] === "yes");
    const { metadata } = (await lab.cluster.get(`${BOXES}/shared`)) as unknown as Box;
    expect(metadata.managedFields?.map(({ manager, operation }) => `${manager} ${operation}`).sort()).toEqual([
      "box Apply",
      "box Update",
      "theirs Apply",
    ]);
  });
});
