/** Tests copies in other namespaces: they are kept, and removed when their reason is gone, even while the binary is down. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { Bench, type Operator } from "../support/binary.ts";
import { available, Cluster } from "../support/cluster.ts";

const ANNOTATION = "mirror.binnacle.dev/to";
const secret = (namespace: string, name = "login"): string => `/api/v1/namespaces/${namespace}/secrets/${name}`;

describe.skipIf(!available)("secret-mirror", () => {
  let cluster: Cluster;
  let bench: Bench;
  let operator: Operator;

  beforeAll(async () => {
    [cluster, bench] = await Promise.all([Cluster.start(), Bench.create()]);
    await bench.example("secret-mirror");
    for (const name of ["team-a", "team-b"]) await cluster.kubectl("create", "namespace", name);
    operator = await bench.run({ kubeconfig: cluster.kubeconfig });
    await operator.ready();
  }, 180_000);

  afterAll(async () => {
    await operator?.[Symbol.asyncDispose]();
    await bench?.[Symbol.asyncDispose]();
    await cluster?.[Symbol.asyncDispose]();
  });

  const annotate = (to: string | null) =>
    cluster.patch(secret("default"), { metadata: { annotations: { [ANNOTATION]: to } } });

  test("copies to the namespaces that the annotation names, also to one that comes later", async () => {
    const body = {
      metadata: { name: "login", annotations: { [ANNOTATION]: "team-a, team-c" } },
      data: { user: "bWU=" },
    };
    await cluster.send("POST", "/api/v1/namespaces/default/secrets", { body });
    await cluster.exists(secret("team-a"), ({ data }) => data?.["user"] === "bWU=");
    expect(await cluster.get(secret("team-b"))).toBeUndefined();
    await cluster.kubectl("create", "namespace", "team-c");
    await cluster.exists(secret("team-c"));
  });

  test("follows the source, and mends a copy", async () => {
    await cluster.patch(secret("default"), { data: { user: "eW91" } });
    await cluster.exists(secret("team-a"), ({ data }) => data?.["user"] === "eW91");
    await cluster.patch(secret("team-a"), { data: { user: "bm9ib2R5" } });
    await cluster.exists(secret("team-a"), ({ data }) => data?.["user"] === "eW91");
    await cluster.send("DELETE", secret("team-a"));
    await cluster.exists(secret("team-a"));
  });

  test("removes a copy whose namespace is no longer named", async () => {
    await annotate("team-b");
    await cluster.exists(secret("team-b"));
    await cluster.gone(secret("team-a"));
    await cluster.gone(secret("team-c"));
  });

  test("removes all copies when the annotation goes, and lets the source go", async () => {
    await annotate(null);
    await cluster.gone(secret("team-b"));
    await cluster.exists(secret("default"), ({ metadata }) => metadata.finalizers === undefined);
  });

  test("removes the copies when the source goes", async () => {
    await annotate("team-a,team-b");
    await cluster.exists(secret("team-b"));
    await cluster.send("DELETE", secret("default"));
    await cluster.gone(secret("default"));
    await cluster.gone(secret("team-a"));
    await cluster.gone(secret("team-b"));
  });

  test("does both after having been away", async () => {
    for (const name of ["unnamed", "removed"]) {
      const body = { metadata: { name, annotations: { [ANNOTATION]: "team-a" } }, data: { user: "bWU=" } };
      await cluster.send("POST", "/api/v1/namespaces/default/secrets", { body });
      await cluster.exists(secret("team-a", name));
    }
    expect(await operator.stop()).toBe(0);
    await cluster.patch(secret("default", "unnamed"), { metadata: { annotations: { [ANNOTATION]: null } } });
    await cluster.send("DELETE", secret("default", "removed"));
    operator = await bench.run({ kubeconfig: cluster.kubeconfig });
    await operator.ready();
    for (const name of ["unnamed", "removed"]) await cluster.gone(secret("team-a", name));
    await cluster.gone(secret("default", "removed"));
  });

  test("never writes a Secret's content to the log", () => {
    for (const text of ["bWU=", "eW91"]) expect(operator.text).not.toContain(text);
  });
});
