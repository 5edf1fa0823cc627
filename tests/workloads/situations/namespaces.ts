/** Namespaces: what each has, and how one goes. What is found outside of the stage is noted in a ConfigMap on it. */
import type { Loose } from "../recorder.ts";
import { type Situation, situation } from "../situation.ts";
import type { Stage } from "../stage.ts";

const configMap = (name: string, metadata: Loose = {}): Loose => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name, ...metadata },
});

const held = { finalizers: ["situations.binnacle.dev/held"] };

/** A namespace besides the stage's. */
async function another(stage: Stage, name = "other"): Promise<Namespace> {
  const namespace = `${stage.namespace}-${name}`;
  const path = `/api/v1/namespaces/${namespace}`;
  await stage.send("POST", "/api/v1/namespaces", {
    apiVersion: "v1",
    kind: "Namespace",
    metadata: { name: namespace },
  });
  const find = (at = ""): Promise<Loose> => stage.send("GET", `${path}${at}`).catch(() => undefined);
  return {
    path,
    find,
    async until(what, at, holds) {
      for (const deadline = performance.now() + 40_000; performance.now() < deadline; await Bun.sleep(50)) {
        if (holds(await find(at))) return;
      }
      throw new Error(`${stage.side.name}: not within 40 s: ${what}: ${JSON.stringify(await find(at))}`);
    },
    note: (name, found) =>
      stage.apply({ ...configMap(name), data: { found: JSON.stringify(found).replaceAll(namespace, "<other>") } }),
  };
}

interface Namespace {
  readonly path: string;
  /** The namespace, or what is at a path in it; `undefined` when there is nothing. */
  find(at?: string): Promise<Loose>;
  until(what: string, at: string, holds: (found: Loose) => boolean): Promise<void>;
  note(name: string, found: unknown): Promise<void>;
}

const conditionsOf = (namespace: Loose): unknown =>
  namespace?.status?.conditions
    ?.map(({ type, status, reason, message }: Loose) => [type, status, reason, message])
    .sort((a: string[], b: string[]) => (a[0]! < b[0]! ? -1 : 1));

const isRemaining = (object: Loose): boolean =>
  object?.status?.conditions?.some(
    ({ type, status }: Loose) => type === "NamespaceContentRemaining" && status === "True",
  );

const summary = ({ kind, metadata, data, type }: Loose): unknown => ({
  kind,
  name: metadata.name,
  annotations: Object.keys(metadata.annotations ?? {}).sort(),
  data: Object.keys(data ?? {}).sort(),
  type,
});

export const namespaces: readonly Situation[] = [
  situation("namespace: an empty one goes", async (stage) => {
    const other = await another(stage);
    await stage.send("DELETE", other.path);
    await other.until("gone", "", (found) => found === undefined);
    await stage.settle("done");
  }),
  situation("namespace: one with content goes", async (stage) => {
    const other = await another(stage);
    await stage.send("POST", `${other.path}/configmaps`, configMap("one"));
    await stage.send("POST", `${other.path}/pods`, {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name: "pod" },
      spec: { containers: [{ name: "web", image: "web:1" }] },
    });
    await other.until("a pod runs", "/pods/pod", (found) => found?.status?.phase === "Running");
    await stage.send("DELETE", other.path);
    await other.until("gone", "", (found) => found === undefined);
    await stage.settle("done");
  }),
  situation("namespace: content that is held", async (stage) => {
    const other = await another(stage);
    await stage.send("POST", `${other.path}/configmaps`, configMap("one", held));
    await stage.send("POST", `${other.path}/secrets`, { ...configMap("two", held), kind: "Secret" });
    await stage.send("DELETE", other.path);
    await other.until("content remains", "", isRemaining);
    const remains = await other.find();
    await other.note("waiting", { phase: remains.status.phase, conditions: conditionsOf(remains) });
    const refused = await stage
      .send("POST", `${other.path}/configmaps`, configMap("late"))
      .catch((error: unknown) => String(error).replace(/^.*: /s, ""));
    await other.note("refused", refused);
    for (const path of ["/configmaps/one", "/secrets/two"]) {
      const body = { metadata: { finalizers: null } };
      await stage.send("PATCH", `${other.path}${path}`, body, "application/merge-patch+json");
    }
    await other.until("gone", "", (namespace) => namespace === undefined);
    await stage.settle("done");
  }),
  situation("namespace: pods go first", async (stage) => {
    const other = await another(stage);
    await stage.send("POST", `${other.path}/configmaps`, configMap("one"));
    await stage.send("POST", `${other.path}/pods`, {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name: "pod", ...held },
      spec: { terminationGracePeriodSeconds: 1, containers: [{ name: "web", image: "web:1" }] },
    });
    await other.until("a pod runs", "/pods/pod", (found) => found?.status?.phase === "Running");
    await stage.send("DELETE", other.path);
    await other.until("the pod leaves", "/pods/pod", (found) => found?.metadata.deletionTimestamp !== undefined);
    await Bun.sleep(1_000);
    await other.note("still-there", summary(await other.find("/configmaps/one")));
    const body = { metadata: { finalizers: null } };
    await stage.send("PATCH", `${other.path}/pods/pod`, body, "application/merge-patch+json");
    await other.until("gone", "", (found) => found === undefined);
    await stage.settle("done");
  }),
  situation("namespace: custom objects inside", async (stage) => {
    const group = `${stage.namespace}.binnacle.dev`;
    await stage.send("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", {
      apiVersion: "apiextensions.k8s.io/v1",
      kind: "CustomResourceDefinition",
      metadata: { name: `things.${group}` },
      spec: {
        group,
        scope: "Namespaced",
        names: { plural: "things", kind: "Thing" },
        versions: [
          {
            name: "v1",
            served: true,
            storage: true,
            schema: { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } },
          },
        ],
      },
    });
    const other = await another(stage);
    const namespace = other.path.split("/").at(-1);
    const things = `/apis/${group}/v1/namespaces/${namespace}/things`;
    const thing = { apiVersion: `${group}/v1`, kind: "Thing", metadata: { name: "thing", ...held } };
    for (let attempt = 1; ; attempt++) {
      const created = await stage.send("POST", things, thing).catch((error: unknown) => {
        if (attempt === 50) throw error;
        return undefined;
      });
      if (created !== undefined) break;
      await Bun.sleep(100);
    }
    await stage.send("DELETE", other.path);
    await other.until("content remains", "", isRemaining);
    await other.note("waiting", conditionsOf(await other.find()));
    const body = { metadata: { finalizers: null } };
    await stage.send("PATCH", `${things}/thing`, body, "application/merge-patch+json");
    await other.until("gone", "", (found) => found === undefined);
    await stage.settle("done");
  }),
  situation("namespace: a finalizer of its own outlasts its content", async (stage) => {
    const other = await another(stage);
    const body = { metadata: held };
    await stage.send("PATCH", other.path, body, "application/merge-patch+json");
    await stage.send("POST", `${other.path}/configmaps`, configMap("one"));
    await stage.send("DELETE", other.path);
    await other.until("it is empty", "/configmaps/one", (found) => found === undefined);
    await other.until("finalized", "", (found) => (found?.spec.finalizers ?? []).length === 0);
    const remains = await other.find();
    await other.note("finalized", {
      spec: remains.spec,
      phase: remains.status.phase,
      conditions: conditionsOf(remains),
    });
    await stage.send("PATCH", other.path, { metadata: { finalizers: null } }, "application/merge-patch+json");
    await other.until("gone", "", (namespace) => namespace === undefined);
    await stage.settle("done");
  }),
  situation("service account: made, and made again", async (stage) => {
    const other = await another(stage);
    const at = "/serviceaccounts/default";
    await other.until("there", at, (found) => found !== undefined);
    const first = await other.find(at);
    await other.note("account", summary(first));
    await stage.send("DELETE", `${other.path}${at}`);
    await other.until("there again", at, (found) => found !== undefined && found.metadata.uid !== first.metadata.uid);
    await stage.settle("done");
  }),
  situation("service account: the root certificate, deleted and changed", async (stage) => {
    const other = await another(stage);
    const at = "/configmaps/kube-root-ca.crt";
    const isWhole = (object: Loose): boolean =>
      object?.data?.["ca.crt"]?.startsWith("-----BEGIN CERTIFICATE-----") && Object.keys(object.data).length === 1;
    await other.until("there", at, isWhole);
    const first = await other.find(at);
    await other.note("made", { ...(summary(first) as object), text: first.metadata.annotations });
    const body = { data: { "ca.crt": "nothing", more: "of it" } };
    await stage.send("PATCH", `${other.path}${at}`, body, "application/merge-patch+json");
    await other.until("restored", at, isWhole);
    await stage.send("DELETE", `${other.path}${at}`);
    await other.until("made again", at, (found) => isWhole(found) && found.metadata.uid !== first.metadata.uid);
    await other.note("again", summary(await other.find(at)));
    await stage.settle("done");
  }),
  situation("service account: a secret with a token", async (stage) => {
    const other = await another(stage);
    await other.until("an account", "/serviceaccounts/default", (found) => found !== undefined);
    await stage.send("POST", `${other.path}/secrets`, {
      ...configMap("token", { annotations: { "kubernetes.io/service-account.name": "default" } }),
      kind: "Secret",
      type: "kubernetes.io/service-account-token",
    });
    await other.until("filled", "/secrets/token", (found) => found?.data?.token !== undefined);
    await other.note("filled", summary(await other.find("/secrets/token")));
    await stage.send("DELETE", `${other.path}/serviceaccounts/default`);
    await other.until("gone with its account", "/secrets/token", (found) => found === undefined);
    await stage.settle("done");
  }),
];
