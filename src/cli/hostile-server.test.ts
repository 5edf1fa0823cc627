/** What a hostile API server, or file, says is printed so that a terminal acts on nothing of it. */
import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { cli } from "./cli.ts";

const ESCAPE = "\u001b[2J\u202e\rowned";
const folder = mkdtempSync(join(tmpdir(), "binnacle-hostile-"));
const CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

const definition = (group: string) => ({
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: `gates.${group}`, uid: "1", resourceVersion: "1", generation: 1 },
  spec: {
    group,
    scope: "Namespaced",
    names: { kind: "Gate", plural: "gates" },
    versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema: { type: "object" } } }],
  },
});

const server = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  fetch({ url, method }) {
    const { pathname } = new URL(url);
    if (pathname === CRDS) return Response.json({ kind: "List", metadata: {}, items: [definition("a.b")] });
    const item = { metadata: { name: `one${ESCAPE}`, namespace: "default", uid: "2", resourceVersion: "3" } };
    const list = {
      apiVersion: "meta.k8s.io/v1",
      kind: "PartialObjectMetadataList",
      metadata: { resourceVersion: "4" },
    };
    if (method === "GET" && pathname === "/apis/a.b/v1/gates") return Response.json({ ...list, items: [item] });
    const status = { kind: "Status", apiVersion: "v1", status: "Failure", reason: "Invalid", code: 422 };
    return Response.json({ ...status, message: `refused ${ESCAPE}` }, { status: 422 });
  },
});
writeFileSync(
  join(folder, "kubeconfig"),
  JSON.stringify({
    clusters: [{ name: "c", cluster: { server: `http://127.0.0.1:${server.port}` } }],
    contexts: [{ name: "c", context: { cluster: "c", user: "u" } }],
    users: [{ name: "u", user: {} }],
    "current-context": "c",
  }),
);
const named = (name: string, text: string): string => {
  writeFileSync(join(folder, name), text);
  return join(folder, name);
};
const hostileGroup = named("group.json", JSON.stringify(definition(`../../${ESCAPE}/esc`)));
const notCurrent = named("old.json", JSON.stringify({ ...definition("a.b"), apiVersion: `v1beta1${ESCAPE}` }));
afterAll(async () => {
  await server.stop(true);
  rmSync(folder, { recursive: true, force: true });
});

async function said(...args: readonly string[]): Promise<string> {
  const texts: string[] = [];
  const say = (text: string) => void texts.push(text);
  const embedded = { version: "1.2.3", offered: async () => ({}), sdk: async () => undefined, source: undefined };
  const status = await cli([...args, "--kubeconfig", join(folder, "kubeconfig")], {
    embedded,
    env: {},
    out: say,
    err: say,
  });
  expect(status).toBe(1);
  return texts.join("");
}

test.each([
  ["migrate", ["migrate", "Gate"], String.raw`refused \u001b[2J\u202e\rowned`],
  ["migrate of what is not there", ["migrate", `gates.a.c`], String.raw`refused \u001b[2J\u202e\rowned`],
  [
    "types of a kind that the server is to describe",
    ["types", "other.a.b"],
    String.raw`refused \u001b[2J\u202e\rowned`,
  ],
  [
    "types of a definition with such a group",
    ["types", hostileGroup, "--output", join(folder, "out")],
    "no API server accepts the group",
  ],
  [
    "types of a definition with such a version",
    ["types", notCurrent, "--output", join(folder, "out")],
    String.raw`v1beta1\u001b[2J`,
  ],
])("%s prints nothing on which a terminal acts", async (_, args, expected) => {
  const text = await said(...args);
  expect(text).toContain(expected);
  // oxlint-disable-next-line no-control-regex -- this is what must not be there
  expect(text).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/);
  expect(readdirSync(folder).sort()).toEqual(["group.json", "kubeconfig", "old.json"]);
});
