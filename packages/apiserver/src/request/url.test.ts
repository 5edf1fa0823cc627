import { expect, test } from "bun:test";
import { readUrl } from "./url.ts";

function read(path: string): ReturnType<typeof readUrl> {
  return readUrl(new URL(`https://127.0.0.1${path}`));
}

test.each([
  ["/api/v1/namespaces/a%2Fb", "/api/v1/namespaces/a/b"],
  ["/api/v1/namespaces/%2525", "/api/v1/namespaces/%25"],
  ["//api/v1", "/api/v1"],
])("%s is %s", (path, expected) => {
  expect(read(path)).toMatchObject({ path: expected });
});

test("an escape that is none is answered 400", async () => {
  const answer = read("/api/v1/%zz") as Response;
  expect([answer.status, await answer.text()]).toEqual([400, "400 Bad Request"]);
});

test("a watch of nothing is answered 500", () => {
  expect((read("/apis/apps/v1/watch") as Response).status).toBe(500);
});

test("what cannot be read of a query is left out", () => {
  const { query } = read("/api/v1/nodes?limit=%zz&a=b;c&pretty=1") as Exclude<ReturnType<typeof readUrl>, Response>;
  expect([...query]).toEqual([["pretty", "1"]]);
});
