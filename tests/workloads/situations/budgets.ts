/** Disruption budgets: how many pods may be evicted. */
import type { Loose } from "../recorder.ts";
import { type Situation, situation } from "../situation.ts";
import type { Stage, Until } from "../stage.ts";
import { deployment, isComplete, pod } from "../workloads.ts";

const budget = (spec: Loose): Loose => ({
  apiVersion: "policy/v1",
  kind: "PodDisruptionBudget",
  metadata: { name: "web" },
  spec: { selector: { matchLabels: { app: "web" } }, ...spec },
});

const allows =
  (disruptionsAllowed: number, currentHealthy: number): Until =>
  (stage) => {
    const { status } = stage.find("PodDisruptionBudget", "web") ?? {};
    return status?.disruptionsAllowed === disruptionsAllowed && status.currentHealthy === currentHealthy;
  };

async function evict(stage: Stage, name: string): Promise<string> {
  const path = `/api/v1/namespaces/${stage.namespace}/pods/${name}/eviction`;
  const body = { apiVersion: "policy/v1", kind: "Eviction", metadata: { name } };
  return stage.send("POST", path, body).then(
    () => "evicted",
    (error: unknown) => String(error).replace(/^.*?: POST [^ ]* /s, ""),
  );
}

const note = (stage: Stage, name: string, found: string): Promise<void> =>
  stage.apply({ apiVersion: "v1", kind: "ConfigMap", metadata: { name }, data: { found } });

/** How often a run tells that there are no pods, and which counts it sees, depends on when it comes. */
const options = { sequence: false, events: false } as const;

export const budgets: readonly Situation[] = [
  situation(
    "budget: without pods",
    async (stage) => {
      await stage.apply(budget({ minAvailable: 1 }));
      await stage.settle("counted", allows(0, 0));
    },
    { sequence: false },
  ),
  situation(
    "budget: a least number",
    async (stage) => {
      await stage.apply(deployment("web", { replicas: 3 }), budget({ minAvailable: 2 }));
      await stage.settle("one may go", (now) => isComplete("web")(now) && allows(1, 3)(now));
      await stage.patch("Deployment", "web", { spec: { replicas: 2 } }, { subresource: "scale" });
      await stage.settle("none may go", (now) => isComplete("web")(now) && allows(0, 2)(now));
      await note(stage, "eviction", (await evict(stage, stage.pods()[0].metadata.name)).replaceAll(/web-\S+/g, "web"));
      await stage.settle("refused");
    },
    options,
  ),
  situation(
    "budget: a share that may be missing",
    async (stage) => {
      await stage.apply(deployment("web", { replicas: 5 }), budget({ maxUnavailable: "30%" }));
      await stage.settle("two may go", (now) => isComplete("web")(now) && allows(2, 5)(now));
      await note(stage, "eviction", await evict(stage, stage.pods()[0].metadata.name));
      await stage.settle("another is there", (now) => now.pods().length === 5 && allows(2, 5)(now));
    },
    options,
  ),
  situation(
    "budget: a share that must be there",
    async (stage) => {
      await stage.apply(deployment("web", { replicas: 4 }), budget({ minAvailable: "50%" }));
      await stage.settle("two may go", (now) => isComplete("web")(now) && allows(2, 4)(now));
    },
    options,
  ),
  situation(
    "budget: pods of nobody",
    async (stage) => {
      await stage.create(pod("one", "web"));
      await stage.apply(budget({ maxUnavailable: 1 }));
      await stage.settle("not counted", allows(0, 1));
    },
    { sequence: false },
  ),
];
