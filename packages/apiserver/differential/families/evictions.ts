/** Evictions of pods in every state, with every state of their budget, and with every option. */
import { type Family, pairs, type Probe } from "./family.ts";

type Fields = Readonly<Record<string, unknown>>;

const ready = { type: "Ready", status: "True" };

const statuses: Readonly<Record<string, Fields>> = {
  pending: { phase: "Pending" },
  ready: { phase: "Running", conditions: [ready] },
  unready: { phase: "Running", conditions: [{ ...ready, status: "False" }] },
  unknown: { phase: "Unknown" },
  succeeded: { phase: "Succeeded" },
  failed: { phase: "Failed", conditions: [{ type: "DisruptionTarget", status: "True", reason: "Other" }] },
};

interface Budget {
  readonly spec?: Fields;
  readonly status: Fields;
  readonly twice?: boolean;
}

const counted = { observedGeneration: 1, disruptionsAllowed: 0, currentHealthy: 1, desiredHealthy: 1, expectedPods: 1 };

function condition(status: string, reason: string, message: string): Fields {
  const lastTransitionTime = "2026-01-01T00:00:00Z";
  return { conditions: [{ type: "DisruptionAllowed", status, reason, message, lastTransitionTime }] };
}

const many = Object.fromEntries(Array.from({ length: 2001 }, (_, index) => [`p${index}`, "2026-01-01T00:00:00Z"]));

const budgets: Readonly<Record<string, Budget>> = {
  none: { status: {}, spec: { selector: { matchLabels: { no: "body" } } } },
  "two of them": { status: counted, twice: true },
  "everybody's": { status: counted, spec: { selector: {} } },
  "nobody's": { status: counted, spec: { selector: undefined } },
  "by expressions": {
    status: counted,
    spec: { selector: { matchExpressions: [{ key: "pod", operator: "NotIn", values: ["x"] }] } },
  },
  exhausted: { status: counted },
  "more healthy than desired": { status: { ...counted, currentHealthy: 3 } },
  "fewer healthy than desired": { status: { ...counted, currentHealthy: 0 } },
  "nothing desired": { status: { ...counted, currentHealthy: 0, desiredHealthy: 0 } },
  "one allowed": { status: { ...counted, disruptionsAllowed: 1 } },
  "one allowed, said so": {
    status: { ...counted, disruptionsAllowed: 1, ...condition("True", "SufficientPods", "enough") },
  },
  "two allowed": { status: { ...counted, disruptionsAllowed: 2, disruptedPods: { other: "2026-01-01T00:00:00Z" } } },
  "not observed": { status: { ...counted, observedGeneration: 0, disruptionsAllowed: 1 } },
  "too many disrupted": { status: { ...counted, disruptionsAllowed: 1, disruptedPods: many } },
  "failed sync": { status: { ...counted, ...condition("False", "SyncFailed", "no controller") } },
  "failed sync without a message": { status: { ...counted, ...condition("False", "SyncFailed", "") } },
  "not allowed, and why": {
    status: { ...counted, currentHealthy: 3, ...condition("False", "InsufficientPods", "too few") },
  },
  "always allow the unready": { status: counted, spec: { unhealthyPodEvictionPolicy: "AlwaysAllow" } },
  "allow the unready of the healthy": { status: counted, spec: { unhealthyPodEvictionPolicy: "IfHealthyBudget" } },
};

class Scene {
  readonly #probe: Probe;

  constructor(probe: Probe) {
    this.#probe = probe;
  }

  get pods(): string {
    return `/api/v1/namespaces/${this.#probe.namespace}/pods`;
  }

  get budgets(): string {
    return `/apis/policy/v1/namespaces/${this.#probe.namespace}/poddisruptionbudgets`;
  }

  async pod(name: string, status: Fields, { metadata = {}, nodeName = "n" } = {}): Promise<Fields> {
    const body = {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name, labels: { pod: name }, ...metadata },
      spec: { nodeName, containers: [{ name: "c", image: "i" }] },
    };
    await this.#probe.quietly("POST", this.pods, body);
    return (await this.#probe.merge(`${this.pods}/${name}/status`, { status })) as Fields;
  }

  async budget(name: string, pod: string, { spec, status, twice = false }: Budget): Promise<void> {
    for (const one of twice ? [name, `${name}-too`] : [name]) {
      await this.#probe.quietly("POST", this.budgets, {
        apiVersion: "policy/v1",
        kind: "PodDisruptionBudget",
        metadata: { name: one },
        spec: { minAvailable: 1, selector: { matchLabels: { pod } }, ...spec },
      });
      await this.#probe.merge(`${this.budgets}/${one}/status`, { status });
    }
  }

  /** Records what is left of both, and removes it. */
  async after(label: string, name: string): Promise<void> {
    await this.#probe.send(label, "GET", `${this.pods}/${name}`);
    await this.#probe.send(label, "GET", `${this.budgets}/${name}`);
    await this.#probe.merge(`${this.pods}/${name}`, { metadata: { finalizers: null } });
    await this.#probe.quietly("DELETE", `${this.pods}/${name}?gracePeriodSeconds=0`);
    await this.#probe.quietly("DELETE", this.budgets);
  }
}

const eviction = { apiVersion: "policy/v1", kind: "Eviction" };

async function budgetsOfPods(probe: Probe): Promise<void> {
  const scene = new Scene(probe);
  await probe.createNamespace();
  let count = 0;
  for (const [[state, status], [means, budget]] of pairs(Object.entries(statuses), Object.entries(budgets))) {
    for (const [how, query] of Object.entries({ evicted: "", tried: "?dryRun=All" })) {
      const name = `pod-${count++}`;
      const label = `${state}, budget ${means}, ${how}`;
      if (!probe.isChosen(label)) continue;
      await scene.pod(name, status);
      await scene.budget(name, name, budget);
      const body = { ...eviction, metadata: { name } };
      await probe.send(label, "POST", `${scene.pods}/${name}/eviction${query}`, { body });
      await scene.after(label, name);
    }
  }
}

interface Variant {
  readonly metadata?: Fields;
  readonly more?: Fields;
  readonly options?: Fields;
  readonly query?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

function optioned(options: Record<string, unknown>): Variant {
  return { options };
}

const variants: Readonly<Record<string, (pod: Fields) => Variant>> = {
  plain: () => ({}),
  "no name": () => ({ metadata: { name: undefined } }),
  "empty name": () => ({ metadata: { name: "" } }),
  "another name": () => ({ metadata: { name: "other" } }),
  "another namespace": () => ({ metadata: { namespace: "default" } }),
  "a generated name": () => ({ metadata: { name: undefined, generateName: "x" } }),
  "no kind": () => ({ more: { kind: undefined, apiVersion: undefined } }),
  beta: () => ({ more: { apiVersion: "policy/v1beta1" } }),
  "an unknown version": () => ({ more: { apiVersion: "policy/v2" } }),
  "core version": () => ({ more: { apiVersion: "v1" } }),
  "another kind": () => ({ more: { apiVersion: "v1", kind: "Pod" } }),
  "an unknown field": () => ({ more: { spec: {} } }),
  "an unknown field, strictly": () => ({ more: { spec: {} }, query: "?fieldValidation=Strict" }),
  "an unknown option, strictly": () => ({ options: { wrong: 1 }, query: "?fieldValidation=Strict" }),
  "options of null": () => ({ more: { deleteOptions: null } }),
  "options of text": () => ({ more: { deleteOptions: "x" } }),
  "options of a kind": () => optioned({ apiVersion: "v1", kind: "DeleteOptions" }),
  "options of another kind": () => optioned({ apiVersion: "v2", kind: "Other" }),
  "dry run": () => optioned({ dryRun: ["All"] }),
  "dry run twice": () => ({ options: { dryRun: ["All"] }, query: "?dryRun=All" }),
  "dry run otherwise": () => ({ options: { dryRun: ["All", "All"] }, query: "?dryRun=All" }),
  "dry run of nothing": () => ({ options: { dryRun: [] }, query: "?dryRun=All" }),
  "a wrong dry run": () => optioned({ dryRun: ["Some"] }),
  "a wrong dry run in the query": () => ({ query: "?dryRun=Some" }),
  "a wrong field manager": () => ({ query: `?fieldManager=${"x".repeat(200)}` }),
  "at once": () => optioned({ gracePeriodSeconds: 0 }),
  "in five seconds": () => optioned({ gracePeriodSeconds: 5 }),
  "a second ago": () => optioned({ gracePeriodSeconds: -1 }),
  "seconds as text": () => optioned({ gracePeriodSeconds: "5" }),
  foreground: () => optioned({ propagationPolicy: "Foreground" }),
  orphan: () => optioned({ propagationPolicy: "Orphan" }),
  "a wrong policy": () => optioned({ propagationPolicy: "Sideways" }),
  "orphans and a policy": () => optioned({ propagationPolicy: "Orphan", orphanDependents: true }),
  orphans: () => optioned({ orphanDependents: true }),
  "reading past errors": () => optioned({ ignoreStoreReadErrorWithClusterBreakingPotential: true }),
  "not reading past errors": () => optioned({ ignoreStoreReadErrorWithClusterBreakingPotential: false }),
  "empty preconditions": () => optioned({ preconditions: {} }),
  "its uid": ({ metadata }) => optioned({ preconditions: { uid: (metadata as Fields)["uid"] } }),
  "its version": ({ metadata }) =>
    optioned({ preconditions: { resourceVersion: (metadata as Fields)["resourceVersion"] } }),
  "another uid": () => optioned({ preconditions: { uid: "other" } }),
  "an empty uid": () => optioned({ preconditions: { uid: "" } }),
  "another version": () => optioned({ preconditions: { resourceVersion: "1" } }),
  "an empty version": () => optioned({ preconditions: { resourceVersion: "" } }),
  "both wrong": () => optioned({ preconditions: { uid: "other", resourceVersion: "1" } }),
  "both wrong, dry": () => optioned({ preconditions: { uid: "other", resourceVersion: "1" }, dryRun: ["All"] }),
  "as yaml": () => ({ headers: { accept: "application/yaml" } }),
  "as a table": () => ({ headers: { accept: "application/json;as=Table;v=v1;g=meta.k8s.io" } }),
  "as metadata": () => ({ headers: { accept: "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io" } }),
  "as text": () => ({ headers: { accept: "text/plain" } }),
  "of text": () => ({ headers: { "content-type": "text/plain" } }),
};

const places: Readonly<Record<string, { status: Fields; budget?: Budget; finalizers?: string[]; nodeName?: string }>> =
  {
    unguarded: { status: statuses["ready"]! },
    guarded: { status: statuses["ready"]!, budget: budgets["exhausted"]! },
    unready: { status: statuses["unready"]!, budget: budgets["always allow the unready"]! },
    held: { status: statuses["pending"]!, finalizers: ["example.com/held"] },
    "without a node": { status: statuses["ready"]!, nodeName: "" },
  };

async function optionsOfEvictions(probe: Probe): Promise<void> {
  const scene = new Scene(probe);
  await probe.createNamespace();
  let count = 0;
  for (const [[where, place], [how, make]] of pairs(Object.entries(places), Object.entries(variants))) {
    const name = `pod-${count++}`;
    const label = `${where}: ${how}`;
    if (!probe.isChosen(label)) continue;
    const { finalizers = [], nodeName = "n" } = place;
    const pod = await scene.pod(name, place.status, { metadata: { finalizers }, nodeName });
    if (place.budget !== undefined) await scene.budget(name, name, place.budget);
    const { metadata, more, options, query = "", headers = {} } = make(pod);
    const deleteOptions = options === undefined ? {} : { deleteOptions: options };
    const body = { ...eviction, metadata: { name, ...metadata }, ...deleteOptions, ...more };
    const path = `${scene.pods}/${name}/eviction${query}`;
    await probe.send(label, "POST", path, { body, headers: { "content-type": "application/json", ...headers } });
    await scene.after(label, name);
  }
  for (const method of ["GET", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"])
    await probe.send(`method ${method}`, method, `${scene.pods}/nobody/eviction`, { body: eviction });
  const missing = { ...eviction, metadata: { name: "nobody" } };
  await probe.send("nobody", "POST", `${scene.pods}/nobody/eviction`, { body: missing });
  await probe.send("nowhere", "POST", "/api/v1/namespaces/nowhere/pods/nobody/eviction", { body: missing });
  for (const body of ["", "null", "[]", "{", "1"])
    await probe.send(`body ${JSON.stringify(body)}`, "POST", `${scene.pods}/nobody/eviction`, { body });
}

export const evictions: readonly Family[] = [
  { name: "evictions: budgets", run: budgetsOfPods },
  { name: "evictions: options", run: optionsOfEvictions },
];
