/** The flags of kube-apiserver: what they change is the same on the real program and on that of `binnacle envtest`. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readlink } from "node:fs/promises";
import { join } from "node:path";
import { Bench } from "../support/binary.ts";
import { available } from "../support/cluster.ts";
import { assets } from "../support/control-plane.ts";
import { EnvtestPlane } from "../support/envtest-plane.ts";
import { until } from "../support/until.ts";

type Flags = Readonly<Record<string, string | undefined>>;
type Send = (method: string, path: string, body?: object, as?: string) => Promise<Record<string, unknown>>;

const CORE = "/api/v1/namespaces/default";
const RBAC = "/apis/rbac.authorization.k8s.io/v1/namespaces/default";
const REVIEWS = "/apis/authorization.k8s.io/v1";

const core = (kind: string, name: string, more: object = {}) => ({
  apiVersion: "v1",
  kind,
  metadata: { name },
  ...more,
});
const pod = (name: string, spec: object = {}, container: object = {}) =>
  core("Pod", name, { spec: { containers: [{ name: "a", image: "a:1", ...container }], ...spec } });
const service = (name: string, spec: object = {}) =>
  core("Service", name, { spec: { ports: [{ port: 80 }], ...spec } });
const owner = (name: string, more: object) => ({ apiVersion: "v1", kind: "ConfigMap", name, uid: "u", ...more });
const owned = (name: string, ...ownerReferences: object[]) => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name, ownerReferences },
});

interface Case {
  readonly name: string;
  readonly flags: Flags;
  /**
   * Sends requests.
   *
   * @param status returns the status of a request whose answer is not compared
   * @returns what must be equal beside the answers
   */
  readonly play: (send: Send, status: (path: string, as: string) => Promise<number>) => Promise<unknown>;
}

const cases: readonly Case[] = [
  {
    name: "admission plugins that are enabled",
    flags: {
      "enable-admission-plugins":
        "AlwaysPullImages,DenyServiceExternalIPs,OwnerReferencesPermissionEnforcement,ServiceAccount",
      "disable-admission-plugins": "NamespaceLifecycle,DefaultTolerationSeconds,Priority",
    },
    async play(send, status) {
      await send("POST", "/api/v1/namespaces/absent/configmaps", core("ConfigMap", "a"));
      await send("POST", `${CORE}/services`, service("a", { externalIPs: ["1.2.3.4"] }));
      await send("POST", `${CORE}/pods`, pod("a"));
      await send(
        "POST",
        `${CORE}/serviceaccounts`,
        core("ServiceAccount", "default", { imagePullSecrets: [{ name: "s" }] }),
      );
      await send(
        "POST",
        `${CORE}/serviceaccounts`,
        core("ServiceAccount", "mute", { automountServiceAccountToken: false }),
      );
      const plain = await send("POST", `${CORE}/pods`, pod("a"));
      const mute = await send(
        "POST",
        `${CORE}/pods`,
        pod("b", { serviceAccountName: "mute" }, { imagePullPolicy: "Never" }),
      );
      await send("POST", `${RBAC}/roles`, {
        apiVersion: "rbac.authorization.k8s.io/v1",
        kind: "Role",
        metadata: { name: "writer" },
        rules: [{ apiGroups: [""], resources: ["configmaps"], verbs: ["create", "update", "get"] }],
      });
      await send("POST", `${RBAC}/rolebindings`, {
        apiVersion: "rbac.authorization.k8s.io/v1",
        kind: "RoleBinding",
        metadata: { name: "writer" },
        roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: "writer" },
        subjects: [{ apiGroup: "rbac.authorization.k8s.io", kind: "User", name: "jane" }],
      });
      const maps = `${CORE}/configmaps`;
      // The real one learns of roles a moment after it has stored them.
      await until(async () => (await status(`${maps}/none`, "jane")) === 404);
      await send("POST", maps, owned("free", owner("x", {})), "jane");
      await send("POST", maps, owned("blocking", owner("x", { blockOwnerDeletion: true })), "jane");
      await send("POST", maps, owned("odd", { ...owner("x", { blockOwnerDeletion: true }), kind: "Odd" }), "jane");
      await send("PUT", `${maps}/free`, owned("free", owner("y", {})), "jane");
      await send("PUT", `${maps}/free`, owned("free", owner("x", {})), "jane");
      await send("PUT", `${maps}/free`, owned("free", owner("x", { blockOwnerDeletion: true })));
      return [plain["spec"], mute["spec"]];
    },
  },
  {
    name: "privileged containers, addresses and node ports",
    flags: {
      "allow-privileged": undefined,
      "service-cluster-ip-range": "10.7.0.0/29",
      "service-node-port-range": "31000-31001",
    },
    async play(send) {
      await send("POST", `${CORE}/pods`, pod("a", {}, { securityContext: { privileged: true } }));
      const containers = [{ name: "a", image: "a:1", securityContext: { privileged: true } }];
      const template = { metadata: { labels: { a: "b" } }, spec: { containers } };
      const spec = { selector: { matchLabels: { a: "b" } }, template };
      const workload = { apiVersion: "apps/v1", kind: "Deployment", metadata: { name: "a" }, spec };
      await send("POST", "/apis/apps/v1/namespaces/default/deployments", workload);
      const own = await send("GET", `${CORE}/services/kubernetes`);
      await send("POST", `${CORE}/services`, service("outside", { clusterIP: "10.8.0.1" }));
      await send(
        "POST",
        `${CORE}/services`,
        service("outside", { type: "NodePort", ports: [{ port: 80, nodePort: 30000 }] }),
      );
      for (const name of ["a", "b"]) await send("POST", `${CORE}/services`, service(name, { type: "NodePort" }));
      await send("POST", `${CORE}/services`, service("c", { type: "NodePort" }));
      for (const name of ["d", "e", "f", "g"]) await send("POST", `${CORE}/services`, service(name));
      const ranges = await send("GET", "/apis/networking.k8s.io/v1/servicecidrs/kubernetes");
      return [(own["spec"] as { clusterIP: string }).clusterIP, ranges["spec"] as object];
    },
  },
  {
    name: "authorization by two modes",
    flags: { "authorization-mode": "AlwaysDeny,RBAC" },
    async play(send) {
      await send("GET", `${CORE}/configmaps`, undefined, "jane");
      const review = {
        apiVersion: "authorization.k8s.io/v1",
        kind: "SelfSubjectRulesReview",
        spec: { namespace: "default" },
      };
      await send("POST", `${REVIEWS}/selfsubjectrulesreviews`, review, "jane");
      await send("GET", `${CORE}/configmaps`);
      return undefined;
    },
  },
];

/** Plays all cases on one control plane, because a real one takes seconds to start. @returns what was answered, without what differs by chance */
async function transcript(folder: string): Promise<readonly unknown[]> {
  await using plane = await EnvtestPlane.create(folder);
  await plane.start(Object.assign({}, ...cases.map(({ flags }) => flags)) as Flags);
  // The real one creates it a moment after it has begun to answer.
  await until(async () => (await plane.send("GET", `${CORE}/services/kubernetes`)).status === 200);
  const all: unknown[] = [];
  for (const { name, play } of cases) {
    const answers: unknown[] = [];
    const acting = (as: string | undefined) => ({ headers: as === undefined ? {} : { "impersonate-user": as } });
    const send: Send = async (method, path, body, as) => {
      const { status, body: answer } = await plane.send(method, path, { ...acting(as), ...(body && { body }) });
      answers.push([method, path, status, answer["reason"], answer["message"]]);
      return answer;
    };
    const outcome = await play(send, async (path, as) => (await plane.send("GET", path, acting(as))).status);
    all.push({ name, answers, outcome });
  }
  return JSON.parse(JSON.stringify(all).replaceAll(/kube-api-access-\w+/g, "kube-api-access-…")) as unknown[];
}

describe.skipIf(!available)("flags of kube-apiserver", () => {
  let bench: Bench;

  beforeAll(async () => {
    bench = await Bench.create();
    await bench.exec("envtest", join(bench.dir, "assets"));
  });

  afterAll(async () => {
    await bench?.[Symbol.asyncDispose]();
  });

  test("what they change is the same on both", async () => {
    const [real, own] = await Promise.all([transcript((await assets()) ?? ""), transcript(join(bench.dir, "assets"))]);
    expect(own).toHaveLength(cases.length);
    expect(own).toEqual(real);
  }, 60_000);

  test("kubectl is linked from PATH, and works with a certificate", async () => {
    const real = (await assets()) ?? "";
    const folder = join(bench.dir, "with-kubectl");
    await Bun.$`${join(bench.dir, "binnacle")} envtest ${folder}`
      .env({ HOME: bench.dir, PATH: `/nowhere:${real}` })
      .quiet();
    expect(await readlink(join(folder, "kubectl"))).toBe(join(real, "kubectl"));
    await using plane = await EnvtestPlane.create(folder);
    await plane.start();
    const file = await bench.write("kubeconfig", plane.kubeconfig());
    const kubectl = (...args: string[]) => Bun.$`${join(folder, "kubectl")} --kubeconfig ${file} ${args}`.text();
    expect(await kubectl("create", "configmap", "a", "--from-literal=b=c")).toBe("configmap/a created\n");
    expect(await kubectl("get", "configmap", "a", "-o", "jsonpath={.data.b}")).toBe("c");
    expect(await kubectl("auth", "whoami", "-o", "jsonpath={.status.userInfo.groups}")).toBe(
      '["system:masters","system:authenticated"]',
    );
  });
});
