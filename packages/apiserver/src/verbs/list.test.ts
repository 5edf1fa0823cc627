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

test("continue and resourceVersionMatch=Exact expire after five to ten minutes, and the list can be continued inconsistently", async () => {
  let time = Date.parse("2026-01-01T00:00:00Z");
  await using server = await createApiServer({ now: () => time });
  const maps = "http://server/api/v1/namespaces/default/configmaps";
  for (const name of ["a", "b", "c"]) {
    const body = JSON.stringify({ metadata: { name } });
    await server.fetch(new Request(maps, { method: "POST", headers: { "content-type": "application/json" }, body }));
  }
  interface Page {
    readonly code?: number;
    readonly reason?: string;
    readonly metadata: { readonly resourceVersion: string; readonly continue: string };
    readonly items: readonly { readonly metadata: { readonly name: string } }[];
  }
  const page = async (query: string): Promise<Page> =>
    (await server.fetch(new Request(`${maps}?${query}`))).json() as Promise<Page>;
  const { metadata: first } = await page("limit=1");
  const exact = `resourceVersion=${first.resourceVersion}&resourceVersionMatch=Exact`;
  time += 5 * 60_000;
  expect((await page(`limit=1&continue=${first.continue}`)).items[0]?.metadata.name).toBe("b");
  expect((await page(exact)).items).toHaveLength(3);
  time += 5 * 60_000;
  expect(await page(exact)).toMatchObject({ code: 410, reason: "Expired" });
  const old = await page(`limit=1&continue=${first.continue}`);
  expect(old).toMatchObject({ code: 410, reason: "Expired" });
  const next = await page(`limit=1&continue=${old.metadata.continue}`);
  expect(next.items.map(({ metadata: { name } }) => name)).toEqual(["b"]);
  expect(next.metadata.resourceVersion).not.toBe(first.resourceVersion);
});
