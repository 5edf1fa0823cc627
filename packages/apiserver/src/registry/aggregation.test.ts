import { expect, test } from "bun:test";
import type { KubeObject } from "../hooks.ts";
import { type ApiServer, createApiServer } from "../server.ts";

const roles = "/apis/rbac.authorization.k8s.io/v1/clusterroles";

async function rulesOf(server: ApiServer, name: string): Promise<readonly object[]> {
  const answer = await server.fetch(new Request(`http://server${roles}/${name}`));
  return (((await answer.json()) as KubeObject)["rules"] ?? []) as readonly object[];
}

async function send(server: ApiServer, method: string, path: string, body?: object): Promise<void> {
  const type = method === "PATCH" ? "application/merge-patch+json" : "application/json";
  const init = { method, headers: { "content-type": type }, ...(body && { body: JSON.stringify(body) }) };
  expect((await server.fetch(new Request(`http://server${path}`, init))).ok).toBe(true);
}

test("default roles have what they gather from the first moment, and a new one adds to them", async () => {
  await using server = await createApiServer({ aggregatesRoles: true });
  const [view, edit, admin] = await Promise.all(["view", "edit", "admin"].map((name) => rulesOf(server, name)));
  expect(view!.length).toBeGreaterThan(5);
  expect(edit!.length).toBeGreaterThan(view!.length);
  expect(admin!.length).toBeGreaterThan(edit!.length);
  const rule = { verbs: ["get"], apiGroups: ["zoo.example.test"], resources: ["tigers"] };
  const labels = { "rbac.authorization.k8s.io/aggregate-to-view": "true" };
  await send(server, "POST", roles, { metadata: { name: "tigers", labels }, rules: [rule] });
  const until = async (has: boolean): Promise<void> => {
    for (const name of ["view", "edit", "admin"]) {
      while (JSON.stringify(await rulesOf(server, name)).includes("tigers") !== has) await Bun.sleep(1);
    }
  };
  await until(true);
  await send(server, "DELETE", `${roles}/tigers`);
  await until(false);
  expect(await rulesOf(server, "view")).toEqual(view!);
});

test("an API server by itself gathers nothing, as kube-apiserver", async () => {
  await using server = await createApiServer();
  expect(await rulesOf(server, "view")).toEqual([]);
});
