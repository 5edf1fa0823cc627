import { expect, test } from "bun:test";
import { createApiServer } from "../server.ts";

test("list waits for a version that another write brings", async () => {
  await using server = await createApiServer();
  const maps = "http://server/api/v1/namespaces/default/configmaps";
  const create = async (name: string): Promise<number> => {
    const body = JSON.stringify({ metadata: { name } });
    const headers = { "content-type": "application/json" };
    const made = await server.fetch(new Request(maps, { method: "POST", headers, body }));
    return Number(((await made.json()) as { metadata: { resourceVersion: string } }).metadata.resourceVersion);
  };
  const version = await create("first");
  const query = `resourceVersion=${version + 1}&resourceVersionMatch=NotOlderThan`;
  const listing = server.fetch(new Request(`${maps}?${query}`));
  await create("second");
  const { items } = (await (await listing).json()) as { items: unknown[] };
  expect(items).toHaveLength(2);
});
