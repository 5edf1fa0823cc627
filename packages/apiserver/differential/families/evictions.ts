/** Evictions of pods in every state, with every state of their budget, and with every option. */
import { pairs } from "../sampling.ts";
import type { Family, Probe } from "./family.ts";

type Fields = Readonly<Record<string, unknown>>;

const ready = { type: "Ready", status: "True" };

const states: Readonly<Record<string, Fields>> = {
  pending: { phase: "Pending" },
  ready: { phase: "Running", conditions: [ready] },
  unready: { phase: "Running", conditions: [{ ...ready, status: "False" }] },
  failed: { phase: "Failed", conditions: [{ type: "DisruptionTarget", status: "True", reason: "Other" }] },
};

interface Budget {
  readonly spec?: Fields;
  readonly status: Fields;
  /** Whether there is another one of the same spec. */
  readonly isDouble?: boolean;
}

const counts = { observedGeneration: 1, disruptionsAllowed: 0, currentHealthy: 1, desiredHealthy: 1, expectedPods: 1 };

function condition(status: string, reason: string, message: string): Fields {
  const lastTransitionTime = "2026-01-01T00:00:00Z";
  return { conditions: [{ type: "DisruptionAllowed", status, reason, message, lastTransitionTime }] };
}

const many = Object.fromEntries(Array.from({ length: 2001 }, (_, index) => [`p${index}`, "2026-01-01T00:00:00Z"]));

const budgets: Readonly<Record<string, Budget>> = {
  none: { status: {}, spec: { selector: { matchLabels: { no: "body" } } } },
  "two of them": { status: counts, isDouble: true },
  "everybody's": { status: counts, spec: { selector: {} } },
  "nobody's": { status: counts, spec: { selector: undefined } },
  exhausted: { status: counts },
  "more healthy than desired": { status: { ...counts, currentHealthy: 3 } },
  "fewer healthy than desired": { status: { ...counts, currentHealthy: 0 } },
  "one allowed": { status: { ...counts, disruptionsAllowed: 1 } },
  "one allowed, said so": {
    status: { ...counts, disruptionsAllowed: 1, ...condition("True", "SufficientPods", "enough") },
  },
  "not observed": { status: { ...counts, observedGeneration: 0, disruptionsAllowed: 1 } },
  "too many disrupted": { status: { ...counts, disruptionsAllowed: 1, disruptedPods: many } },
  "failed sync": { status: { ...counts, ...condition("False", "SyncFailed", "no controller") } },
  "always allow the unready": { status: counts, spec: { unhealthyPodEvictionPolicy: "AlwaysAllow" } },
  "allow the unready of the healthy": { status: counts, spec: { unhealthyPodEvictionPolicy: "IfHealthyBudget" } },
};

interface Variant {
  readonly query?: string;
  /** More of the eviction. */
  readonly more?: Fields;
  readonly deleteOptions?: unknown;
  readonly accept?: string;
}

const variants: readonly Variant[] = [
  ...[{}, { name: undefined }, { name: "" }, { name: "other" }, { namespace: "default" }].map((metadata) => ({
    more: { metadata },
  })),
  ...[
    { kind: undefined, apiVersion: undefined },
    { apiVersion: "policy/v1beta1" },
    { apiVersion: "policy/v2" },
    { apiVersion: "v1", kind: "Pod" },
    { spec: {} },
  ].map((more) => ({ more })),
  ...["fieldValidation=Strict", "dryRun=All", "dryRun=Some", `fieldManager=${"x".repeat(200)}`].map((query) => ({
    query: `?${query}`,
    more: { spec: {} },
  })),
  ...[
    null,
    { apiVersion: "v1", kind: "DeleteOptions" },
    { apiVersion: "v2", kind: "Other" },
    { dryRun: ["All"] },
    { dryRun: ["Some"] },
    { gracePeriodSeconds: 0 },
    { gracePeriodSeconds: 5 },
    { gracePeriodSeconds: -1 },
    { gracePeriodSeconds: "5" },
    { propagationPolicy: "Foreground" },
    { propagationPolicy: "Orphan" },
    { propagationPolicy: "Sideways" },
    { propagationPolicy: "Orphan", orphanDependents: true },
    { preconditions: {} },
    { preconditions: { uid: "UID" } },
    { preconditions: { resourceVersion: "VERSION" } },
    { preconditions: { uid: "other" } },
    { preconditions: { resourceVersion: "1" } },
    { preconditions: { uid: "other", resourceVersion: "1" }, dryRun: ["All"] },
  ].map((deleteOptions) => ({ deleteOptions })),
  { accept: "application/json;as=Table;v=v1;g=meta.k8s.io" },
  { accept: "text/plain" },
];

class Scene {
  readonly #probe: Probe;
  readonly pods: string;
  readonly #budgets: string;

  constructor(probe: Probe) {
    this.#probe = probe;
    this.pods = `/api/v1/namespaces/${probe.namespace}/pods`;
    this.#budgets = `/apis/policy/v1/namespaces/${probe.namespace}/poddisruptionbudgets`;
  }

  /** Creates a pod and its budgets, evicts it, records what is left of both, and removes it. */
  async play(
    label: string,
    { status, budget, finalizers, nodeName = "n" }: Place,
    { query = "", more, deleteOptions, accept = "application/json" }: Variant = {},
  ): Promise<void> {
    if (!this.#probe.isChosen(label)) return;
    const { session } = this.#probe;
    const name = "evicted";
    const spec = { nodeName, containers: [{ name: "c", image: "i" }] };
    await session.quietly("POST", this.pods, { metadata: { name, labels: { pod: name }, finalizers }, spec });
    const pod = await session.merge(`${this.pods}/${name}/status`, { status });
    for (const one of budget ? ["b0", ...(budget.isDouble ? ["b1"] : [])] : []) {
      const selector = { matchLabels: { pod: name } };
      const body = { metadata: { name: one }, spec: { minAvailable: 1, selector, ...budget?.spec } };
      await session.quietly("POST", this.#budgets, body);
      await session.merge(`${this.#budgets}/${one}/status`, { status: budget?.status });
    }
    const { uid, resourceVersion } = pod?.metadata ?? {};
    const text = JSON.stringify({ apiVersion: "policy/v1", kind: "Eviction", metadata: {}, deleteOptions, ...more });
    const body = JSON.parse(text.replace('"UID"', JSON.stringify(uid)).replace('"VERSION"', `"${resourceVersion}"`));
    body.metadata = { name, ...(more?.["metadata"] as object) };
    await session.send(label, "POST", `${this.pods}/${name}/eviction${query}`, { body, headers: { accept } });
    await session.get(`the pod after ${label}`, `${this.pods}/${name}`);
    await session.get(`the budget after ${label}`, `${this.#budgets}/b0`);
    await session.merge(`${this.pods}/${name}`, { metadata: { finalizers: null } });
    await session.quietly("DELETE", `${this.pods}/${name}?gracePeriodSeconds=0`);
    await session.quietly("DELETE", this.#budgets);
  }
}

interface Place {
  readonly status: Fields;
  readonly budget?: Budget;
  readonly finalizers?: readonly string[];
  readonly nodeName?: string;
}

const places: Readonly<Record<string, Place>> = {
  unguarded: { status: states["ready"]! },
  guarded: { status: states["ready"]!, budget: budgets["exhausted"]! },
  held: { status: states["pending"]!, finalizers: ["example.com/held"] },
  "without a node": { status: states["ready"]!, nodeName: "" },
};

async function budgetsOfPods(probe: Probe): Promise<void> {
  await probe.createNamespace();
  const scene = new Scene(probe);
  for (const [[state, status], [name, budget]] of pairs(Object.entries(states), Object.entries(budgets))) {
    for (const query of ["", "?dryRun=All"])
      await scene.play(`${state}, budget ${name} ${query}`, { status, budget }, { query });
  }
}

async function optionsOfEvictions(probe: Probe): Promise<void> {
  await probe.createNamespace();
  const scene = new Scene(probe);
  for (const [[name, place], variant] of pairs(Object.entries(places), variants))
    await scene.play(`${name}: ${JSON.stringify(variant).slice(0, 120)}`, place, variant);
  const body = { apiVersion: "policy/v1", kind: "Eviction", metadata: { name: "nobody" } };
  for (const method of ["GET", "PUT", "PATCH", "DELETE", "POST"])
    await probe.session.send(`${method} of nobody`, method, `${scene.pods}/nobody/eviction`, { body });
}

export const evictions: readonly Family[] = [
  { name: "evictions: budgets", share: 0.25, run: budgetsOfPods },
  { name: "evictions: options", share: 0.3, run: optionsOfEvictions },
];
