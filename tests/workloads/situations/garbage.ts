/** Owners and dependents: what goes with an owner, what holds it back, and what stays. */
import type { Loose } from "../recorder.ts";
import { type Situation, situation } from "../situation.ts";
import type { Stage, Until } from "../stage.ts";

interface Owning {
  readonly blocks?: boolean;
  readonly over?: Loose;
}

const referenceTo = (owner: Loose, { blocks, over }: Owning = {}): Loose => ({
  apiVersion: owner.apiVersion ?? "v1",
  kind: owner.kind ?? "ConfigMap",
  name: owner.metadata.name,
  uid: owner.metadata.uid,
  ...(blocks === undefined ? {} : { blockOwnerDeletion: blocks }),
  ...over,
});

/** A ConfigMap, which does nothing by itself. */
const make = (stage: Stage, name: string, metadata: Loose = {}): Promise<Loose> =>
  stage.create({ apiVersion: "v1", kind: "ConfigMap", metadata: { name, ...metadata } });

/** `a` owns `b`, and `b` owns `c`. */
async function threeLevels(stage: Stage, owning?: Owning): Promise<void> {
  const a = await make(stage, "a");
  const b = await make(stage, "b", { ownerReferences: [referenceTo(a, owning)] });
  await make(stage, "c", { ownerReferences: [referenceTo(b, owning)] });
  await stage.settle("made", has("a", "b", "c"));
}

const has =
  (...names: readonly string[]): Until =>
  (stage) =>
    names.every((name) => stage.find("ConfigMap", name) !== undefined);

const hasNot =
  (...names: readonly string[]): Until =>
  (stage) =>
    names.every((name) => stage.find("ConfigMap", name) === undefined);

const isLeaving =
  (name: string): Until =>
  (stage) =>
    stage.find("ConfigMap", name)?.metadata.deletionTimestamp !== undefined;

const ownersOf = (stage: Stage, name: string): readonly Loose[] =>
  stage.find("ConfigMap", name)?.metadata.ownerReferences ?? [];

const letGo = (stage: Stage, name: string): Promise<Loose> =>
  stage.patch("ConfigMap", name, { metadata: { finalizers: null } });

const nobody = "00000000-0000-4000-8000-000000000000";
const held = { finalizers: ["situations.binnacle.dev/held"] };

export const garbage: readonly Situation[] = [
  situation(
    "garbage: in the background over two levels",
    async (stage) => {
      await threeLevels(stage);
      await stage.delete("ConfigMap", "a", { propagation: "Background" });
      await stage.settle("gone", hasNot("a", "b", "c"));
    },
    { order: true },
  ),
  situation(
    "garbage: in the foreground over two levels that block",
    async (stage) => {
      await threeLevels(stage, { blocks: true });
      await stage.delete("ConfigMap", "a", { propagation: "Foreground" });
      await stage.settle("gone", hasNot("a", "b", "c"));
    },
    { order: true },
  ),
  situation("garbage: in the foreground over two levels that do not block", async (stage) => {
    await threeLevels(stage, { blocks: false });
    await stage.delete("ConfigMap", "a", { propagation: "Foreground" });
    await stage.settle("gone", hasNot("a", "b", "c"));
  }),
  situation("garbage: orphans stay and go on owning", async (stage) => {
    await threeLevels(stage, { blocks: true });
    await stage.delete("ConfigMap", "a", { propagation: "Orphan" });
    await stage.settle("alone", (now) => hasNot("a")(now) && ownersOf(now, "b").length === 0);
    await stage.delete("ConfigMap", "b");
    await stage.settle("gone", hasNot("b", "c"));
  }),
  situation("garbage: a dependent that is held holds its owner", async (stage) => {
    const owner = await make(stage, "owner");
    await make(stage, "dependent", { ...held, ownerReferences: [referenceTo(owner, { blocks: true })] });
    await stage.delete("ConfigMap", "owner", { propagation: "Foreground" });
    await stage.settle("both wait", (now) => isLeaving("owner")(now) && isLeaving("dependent")(now));
    await letGo(stage, "dependent");
    await stage.settle("gone", hasNot("owner", "dependent"));
  }),
  situation("garbage: a held dependent that does not block", async (stage) => {
    const owner = await make(stage, "owner");
    await make(stage, "dependent", { ...held, ownerReferences: [referenceTo(owner, { blocks: false })] });
    await stage.delete("ConfigMap", "owner", { propagation: "Foreground" });
    await stage.settle("the owner is gone", (now) => hasNot("owner")(now) && isLeaving("dependent")(now));
    await letGo(stage, "dependent");
    await stage.settle("gone", hasNot("dependent"));
  }),
  situation("garbage: a dependent that stops to block lets its owner go", async (stage) => {
    const owner = await make(stage, "owner");
    await make(stage, "dependent", { ...held, ownerReferences: [referenceTo(owner, { blocks: true })] });
    await stage.delete("ConfigMap", "owner", { propagation: "Foreground" });
    await stage.settle("both wait", (now) => isLeaving("owner")(now) && isLeaving("dependent")(now));
    const ownerReferences = [referenceTo(owner, { blocks: false })];
    await stage.patch("ConfigMap", "dependent", { metadata: { ownerReferences } });
    await stage.settle("the owner is gone", hasNot("owner"));
    await letGo(stage, "dependent");
    await stage.settle("gone", hasNot("dependent"));
  }),
  situation("garbage: one of two owners goes", async (stage) => {
    const [one, other] = [await make(stage, "one"), await make(stage, "other")];
    await make(stage, "dependent", { ownerReferences: [referenceTo(one), referenceTo(other)] });
    await stage.delete("ConfigMap", "one");
    await stage.settle("one is left", (now) => ownersOf(now, "dependent").length === 1);
    await stage.delete("ConfigMap", "other");
    await stage.settle("gone", hasNot("dependent"));
  }),
  situation("garbage: one of two owners waits in the foreground", async (stage) => {
    const [one, other] = [await make(stage, "one"), await make(stage, "other")];
    const owning = { blocks: true };
    await make(stage, "dependent", { ownerReferences: [referenceTo(one, owning), referenceTo(other, owning)] });
    await stage.delete("ConfigMap", "one", { propagation: "Foreground" });
    await stage.settle("one is left", (now) => hasNot("one")(now) && ownersOf(now, "dependent").length === 1);
  }),
  situation("garbage: an owner that never was", async (stage) => {
    const never = { metadata: { name: "never", uid: nobody } };
    await make(stage, "dependent", { ownerReferences: [referenceTo(never)] });
    await stage.settle("gone", hasNot("dependent"));
  }),
  situation("garbage: an owner of a kind that is not served", async (stage) => {
    const over = { apiVersion: "situations.binnacle.dev/v1", kind: "Nothing", name: "never", uid: nobody };
    await make(stage, "dependent", { ownerReferences: [over] });
    await stage.settle("it stays", has("dependent"), { quiet: 1_500 });
  }),
  situation("garbage: an owner that came again under its name", async (stage) => {
    const owner = await make(stage, "owner");
    await stage.delete("ConfigMap", "owner");
    await make(stage, "owner");
    await make(stage, "dependent", { ownerReferences: [referenceTo(owner)] });
    await stage.settle("of the first one", hasNot("dependent"));
  }),
  situation("garbage: an owner under another name", async (stage) => {
    const owner = await make(stage, "owner");
    await make(stage, "right", { ownerReferences: [referenceTo(owner)] });
    await make(stage, "wrong", { ownerReferences: [referenceTo(owner, { over: { name: "somebody" } })] });
    await stage.settle("the wrong one is gone", (now) => hasNot("wrong")(now) && has("owner", "right")(now));
  }),
  situation("garbage: an owner by another version of its kind", async (stage) => {
    const owner = await stage.create({
      apiVersion: "batch/v1",
      kind: "CronJob",
      metadata: { name: "owner" },
      spec: {
        schedule: "0 0 1 1 *",
        suspend: true,
        jobTemplate: {
          spec: { template: { spec: { restartPolicy: "Never", containers: [{ name: "web", image: "web:1" }] } } },
        },
      },
    });
    const over = { apiVersion: "batch/v1", kind: "CronJob" };
    await make(stage, "dependent", { ownerReferences: [referenceTo(owner, { over })] });
    await stage.settle("made", has("dependent"), { quiet: 800 });
    await stage.delete("CronJob", "owner");
    await stage.settle("gone", hasNot("dependent"));
  }),
  situation(
    "garbage: an owner in another namespace",
    async (stage) => {
      const elsewhere = `${stage.namespace}-other`;
      await stage.send("POST", "/api/v1/namespaces", {
        apiVersion: "v1",
        kind: "Namespace",
        metadata: { name: elsewhere },
      });
      const path = `/api/v1/namespaces/${elsewhere}/configmaps`;
      const owner = await stage.send("POST", path, {
        apiVersion: "v1",
        kind: "ConfigMap",
        metadata: { name: "owner" },
      });
      await Bun.sleep(300);
      await make(stage, "dependent", { ownerReferences: [referenceTo(owner)] });
      await stage.settle("gone", hasNot("dependent"), { quiet: 800 });
    },
    { events: "reasons" },
  ),
  situation("garbage: a cluster-scoped owner", async (stage) => {
    const name = `${stage.namespace}-class`;
    const path = "/apis/scheduling.k8s.io/v1/priorityclasses";
    const apiVersion = "scheduling.k8s.io/v1";
    const created = await stage.send("POST", path, {
      apiVersion,
      kind: "PriorityClass",
      metadata: { name },
      value: 5,
    });
    const over = { apiVersion, kind: "PriorityClass" };
    await make(stage, "dependent", { ownerReferences: [referenceTo(created, { over })] });
    await stage.settle("made", has("dependent"), { quiet: 800 });
    await stage.send("DELETE", `${path}/${name}`);
    await stage.settle("gone", hasNot("dependent"));
  }),
  situation("garbage: two that own each other", async (stage) => {
    const one = await make(stage, "one");
    const other = await make(stage, "other", { ownerReferences: [referenceTo(one, { blocks: true })] });
    const ownerReferences = [referenceTo(other, { blocks: true })];
    await stage.patch("ConfigMap", "one", { metadata: { ownerReferences } });
    await stage.delete("ConfigMap", "one", { propagation: "Foreground" });
    await stage.settle("gone", hasNot("one", "other"));
  }),
  situation("garbage: an orphan finds a new owner while its old one goes", async (stage) => {
    const [old, next] = [await make(stage, "old", held), await make(stage, "next")];
    await make(stage, "dependent", { ownerReferences: [referenceTo(old)] });
    await stage.delete("ConfigMap", "old");
    const ownerReferences = [referenceTo(old), referenceTo(next)];
    await stage.patch("ConfigMap", "dependent", { metadata: { ownerReferences } });
    await letGo(stage, "old");
    await stage.settle("of the new one", (now) => hasNot("old")(now) && ownersOf(now, "dependent").length === 1);
  }),
  situation("garbage: a dependent that is deleted as an orphan keeps its own", async (stage) => {
    const owner = await make(stage, "owner");
    const dependent = await make(stage, "dependent", {
      ownerReferences: [referenceTo(owner)],
      finalizers: ["orphan"],
    });
    await make(stage, "grandchild", { ownerReferences: [referenceTo(dependent)] });
    await stage.delete("ConfigMap", "owner");
    await stage.settle("alone", (now) => hasNot("owner", "dependent")(now) && ownersOf(now, "grandchild").length === 0);
  }),
  situation("garbage: custom objects", async (stage) => {
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
    const path = `/apis/${group}/v1/namespaces/${stage.namespace}/things`;
    const apiVersion = `${group}/v1`;
    const create = (name: string, metadata: Loose = {}): Promise<Loose> =>
      retried(() => stage.send("POST", path, { apiVersion, kind: "Thing", metadata: { name, ...metadata } }));
    const owner = await create("owner");
    const over = { apiVersion, kind: "Thing" };
    await make(stage, "dependent", { ownerReferences: [referenceTo(owner, { over })] });
    // Until the garbage collector of a real cluster has found the kind.
    await stage.settle("made", has("dependent"), { quiet: 800 });
    await stage.send("DELETE", `${path}/owner`);
    await stage.settle("gone", hasNot("dependent"), { within: 60_000 });
  }),
];

/** A kind is served a moment after it is defined. */
async function retried(send: () => Promise<Loose>): Promise<Loose> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await send();
    } catch (error) {
      if (attempt === 50) throw error;
      await Bun.sleep(100);
    }
  }
}
