/** Random requests to what lies below objects: evictions, bindings, resizes, debug containers, tokens, approvals, finalizers. */
import type { Loose } from "../session.ts";
import { sampleOf } from "../samples/samples.ts";
import { type Fields, jsonPatch, mistaken } from "./bodies.ts";
import { accepts, deleting, metadata, writing } from "./choices.ts";
import type { Stranger, Visit } from "./stranger.ts";

const container: Fields = {
  name: "main",
  image: "i",
  resources: { requests: { cpu: "100m", memory: "64Mi" }, limits: { cpu: "200m", memory: "128Mi" } },
};

class Part {
  readonly #visit: Visit;
  readonly #root: string;

  constructor(visit: Visit, root: string) {
    this.#visit = visit;
    this.#root = root;
  }

  async prepare(): Promise<void> {
    const { dice, namespace } = this.#visit;
    const spec = { containers: [container, { ...container, name: "side" }] };
    for (const name of ["p0", "p1", "p2"]) {
      const labels = { app: dice.one(["a", "b"]) };
      const placed = name === "p2" ? { nodeName: "n" } : {};
      const body = { metadata: { name, labels }, spec: { ...spec, ...placed } };
      await this.#visit.quietly("POST", `${this.#root}/pods`, body);
    }
    const phase = dice.one(["Running", "Pending", "Failed"]);
    const conditions = [{ type: "Ready", status: dice.one(["True", "False"]) }];
    await this.#visit.merge(`${this.#root}/pods/p0/status`, { status: { phase, conditions } });
    await this.#visit.quietly("POST", `${this.#root}/serviceaccounts`, { metadata: { name: "sa" } });
    if (dice.chance(0.6)) {
      const budgets = this.#root.replace("/api/v1", "/apis/policy/v1");
      const selector = dice.one([{ matchLabels: { app: "a" } }, {}]);
      const body = { metadata: { name: "b" }, spec: { selector, minAvailable: 1 } };
      await this.#visit.quietly("POST", `${budgets}/poddisruptionbudgets`, body);
      if (dice.chance(0.5)) {
        const status = { disruptionsAllowed: dice.one([0, 1]), currentHealthy: 2, desiredHealthy: 1, expectedPods: 2 };
        const path = `${budgets}/poddisruptionbudgets/b/status`;
        await this.#visit.merge(path, { status: { ...status, observedGeneration: 1 } });
      }
    }
    const request = sampleOf({
      group: "certificates.k8s.io",
      version: "v1",
      kind: "CertificateSigningRequest",
    })!.minimal;
    await this.#visit.quietly("POST", "/apis/certificates.k8s.io/v1/certificatesigningrequests", {
      metadata: { name: namespace },
      ...request,
    });
  }

  async step(): Promise<void> {
    const { dice } = this.#visit;
    await dice.one([
      () => this.#evict(),
      () => this.#bind(),
      () => this.#resize(),
      () => this.#debug(),
      () => this.#token(),
      () => this.#approve(),
      () => this.#approve(),
      () => this.#finalize(),
      () => this.#status(),
    ])();
  }

  get #pod(): string {
    return `${this.#root}/pods/${this.#visit.dice.one(["p0", "p1", "p2", "absent"])}`;
  }

  async #send(label: string, method: string, path: string, body: unknown, type?: string): Promise<void> {
    const { dice } = this.#visit;
    const accept = dice.chance(0.9) ? "application/json" : dice.one(accepts);
    const headers = { accept, ...(type !== undefined && { "content-type": `application/${type}` }) };
    const query = dice.chance(0.6) ? "" : this.#visit.query(writing, 2);
    await this.#visit.send(label, method, `${path}${query}`, { headers, ...(body !== undefined && { body }) });
  }

  async #evict(): Promise<void> {
    const { dice } = this.#visit;
    const path = this.#pod;
    const name = dice.chance(0.85) ? path.slice(path.lastIndexOf("/") + 1) : dice.one(["other", ""]);
    const present: Loose = await this.#visit.quietly("GET", path);
    const deleteOptions = dice.one<unknown>([
      undefined,
      {},
      null,
      { gracePeriodSeconds: 0 },
      { gracePeriodSeconds: -1 },
      { dryRun: ["All"] },
      { dryRun: ["x"] },
      { preconditions: { uid: "x" } },
      { preconditions: { resourceVersion: "1" } },
      { preconditions: { uid: present?.metadata?.uid, resourceVersion: present?.metadata?.resourceVersion } },
      { propagationPolicy: "Foreground" },
      { propagationPolicy: "x" },
    ]);
    const body = {
      apiVersion: dice.one(["policy/v1", "policy/v1", "policy/v1", "policy/v1beta1", "v1", undefined]),
      kind: dice.one(["Eviction", "Eviction", "Eviction", "Nope", undefined]),
      metadata: { name, ...(dice.chance(0.2) && dice.one(metadata)) },
      deleteOptions,
    };
    await this.#send("evict", "POST", `${path}/eviction`, dice.chance(0.15) ? mistaken(dice, body) : body);
  }

  async #bind(): Promise<void> {
    const { dice, namespace } = this.#visit;
    const path = this.#pod;
    const name = dice.chance(0.8) ? path.slice(path.lastIndexOf("/") + 1) : dice.one(["other", ""]);
    const target = dice.one<unknown>([
      { kind: "Node", name: "n" },
      { kind: "Node", name: "n", apiVersion: "v1" },
      { name: "n" },
      { kind: "Nope", name: "n" },
      { kind: "Node", name: "" },
      { kind: "Node", name: "Not Valid!" },
      {},
      null,
      undefined,
    ]);
    const more = dice.one([{}, {}, { labels: { a: "b" } }, { annotations: { c: "d" } }, { uid: "x" }, { namespace }]);
    const body = {
      apiVersion: "v1",
      kind: dice.one(["Binding", "Binding", "Pod"]),
      metadata: { name, ...more },
      target,
    };
    const place = dice.chance(0.7) ? `${path}/binding` : `${this.#root}/bindings`;
    await this.#send("bind", "POST", place, body);
  }

  async #resize(): Promise<void> {
    const { dice } = this.#visit;
    const part = (): Fields =>
      dice.one([{ cpu: "150m" }, { cpu: "1" }, { memory: "32Mi" }, { cpu: null }, { "a.b/c": "1" }, {}]);
    const name = dice.one(["main", "side", "absent"]);
    const resources = { requests: part(), ...(dice.chance(0.5) && { limits: part() }) };
    const more = dice.one<object>([
      {},
      {},
      {},
      { image: "j" },
      { resizePolicy: [{ resourceName: "cpu", restartPolicy: "x" }] },
    ]);
    const body = { spec: { containers: [{ name, resources, ...more }] } };
    const type = dice.one([
      "strategic-merge-patch+json",
      "strategic-merge-patch+json",
      "merge-patch+json",
      "apply-patch+yaml",
    ]);
    const whole = type.startsWith("apply")
      ? { apiVersion: "v1", kind: "Pod", metadata: { name: "p1" }, ...body }
      : body;
    await this.#send("resize", "PATCH", `${this.#pod}/resize`, whole, type);
  }

  async #debug(): Promise<void> {
    const { dice } = this.#visit;
    const debuggers: readonly Fields[] = [
      { name: `d${dice.one([1, 2, 3])}`, image: "busybox", stdin: true, tty: true },
      { name: "d4", image: "busybox", targetContainerName: dice.one(["main", "absent"]) },
      { name: "main", image: "busybox" },
      { name: "d5" },
      { name: "Bad_", image: "busybox" },
      { name: "d6", image: "busybox", ports: [{ containerPort: 1 }], livenessProbe: { tcpSocket: { port: 1 } } },
      { name: "d7", image: "busybox", securityContext: { privileged: true, capabilities: { add: ["X"] } } },
      { name: "d8", image: "busybox", env: [{ name: "A", valueFrom: { fieldRef: { fieldPath: "metadata.nope" } } }] },
      { name: "d9", image: "busybox", volumeMounts: [{ name: "v", mountPath: "/v" }] },
    ];
    const body = { spec: { ephemeralContainers: dice.some(debuggers, 2) } };
    const type = dice.one(["strategic-merge-patch+json", "strategic-merge-patch+json", "merge-patch+json"]);
    const path = `${this.#pod}/ephemeralcontainers`;
    if (dice.chance(0.7)) return await this.#send("debug", "PATCH", path, body, type);
    const present: Loose = await this.#visit.quietly("GET", path);
    const added = dice.chance(0.3) ? mistaken(dice, body) : body;
    const spec = added.spec instanceof Object ? { ...present?.spec, ...added.spec } : added.spec;
    return await this.#send("debug put", "PUT", path, { ...present, spec });
  }

  async #token(): Promise<void> {
    const { dice } = this.#visit;
    const spec = {
      ...(dice.chance(0.4) && { audiences: dice.one<unknown>([["a"], [], ["a", "b"], null, [""]]) }),
      ...(dice.chance(0.4) && { expirationSeconds: dice.one([600, 3600, 599, 86400, 0, null]) }),
      ...(dice.chance(0.4) && {
        boundObjectRef: dice.one<unknown>([
          { kind: "Pod", apiVersion: "v1", name: "p0" },
          { kind: "Pod", apiVersion: "v1", name: "p0", uid: "x" },
          { kind: "Secret", apiVersion: "v1", name: "absent" },
          { kind: "Node", apiVersion: "v1", name: "absent" },
          { kind: "Deployment", apiVersion: "apps/v1", name: "x" },
          {},
        ]),
      }),
    };
    const name = dice.one(["sa", "sa", "sa", "absent"]);
    const body = { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", spec };
    const sent = dice.chance(0.15) ? mistaken(dice, body) : body;
    const answer: Loose = await this.#visit.quietly("POST", `${this.#root}/serviceaccounts/${name}/token`, sent);
    // Of a token only what the server says about it can be compared.
    const { token: _, expirationTimestamp: __, ...status } = answer?.status instanceof Object ? answer.status : {};
    this.#visit.session.note(
      `token ${JSON.stringify(sent)}`,
      answer?.code ? answer : { ...answer, status, metadata: undefined },
    );
  }

  async #approve(): Promise<void> {
    const { dice, namespace } = this.#visit;
    const path = `/apis/certificates.k8s.io/v1/certificatesigningrequests/${namespace}${dice.one(["/approval", "/approval", "/status", ""])}`;
    const condition = (): Fields => ({
      type: dice.one(["Approved", "Approved", "Denied", "Failed", "Other", ""]),
      status: dice.one(["True", "True", "False", "Unknown", "x"]),
      ...(dice.chance(0.5) && { reason: dice.one(["R", "", "not a reason"]), message: "m" }),
      ...(dice.chance(0.1) && { lastUpdateTime: "2020-01-01T00:00:00Z" }),
    });
    const status = {
      conditions: dice.one<unknown>([[condition()], [condition()], [condition(), condition()], [], null]),
      ...(dice.chance(0.2) && { certificate: dice.one(["eA==", "x", "", null]) }),
    };
    const spec = dice.chance(0.1) ? { spec: { signerName: "other.test/x" } } : {};
    if (dice.chance(0.6)) return await this.#send("approve", "PATCH", path, { status, ...spec }, "merge-patch+json");
    const present: Loose = await this.#visit.quietly("GET", path.replace(/\/(approval|status)$/, ""));
    return await this.#send("approve by put", "PUT", path, { ...present, status: { ...present?.status, ...status } });
  }

  async #finalize(): Promise<void> {
    const { dice, namespace } = this.#visit;
    const path = `/api/v1/namespaces/${namespace}/finalize`;
    const finalizers = dice.one<unknown>([
      ["kubernetes"],
      ["kubernetes", "example.com/x"],
      ["x"],
      ["kubernetes", "kubernetes"],
      [""],
    ]);
    const name = dice.chance(0.85) ? namespace : "other";
    const body = { apiVersion: "v1", kind: "Namespace", metadata: { name, labels: { a: "b" } }, spec: { finalizers } };
    const method = dice.one(["PUT", "PUT", "PUT", "GET", "PATCH", "POST", "DELETE"]);
    await this.#send("finalize", method, path, method === "GET" ? undefined : body);
  }

  async #status(): Promise<void> {
    const { dice, namespace } = this.#visit;
    const [path, status] = dice.one<readonly [string, Fields]>([
      [`/api/v1/namespaces/${namespace}/status`, { phase: dice.one(["Active", "Terminating", "x"]) }],
      [`${this.#pod}/status`, { phase: dice.one(["Running", "Succeeded", "x", ""]) }],
      [`${this.#pod}/status`, { podIPs: [{ ip: dice.one(["10.0.0.1", "x"]) }], podIP: "10.0.0.1" }],
      [
        `${this.#pod}/status`,
        { containerStatuses: [{ name: "main", ready: true, restartCount: 1, image: "i", imageID: "" }] },
      ],
      [`${this.#pod}/status`, { conditions: [{ type: "Ready", status: dice.one(["True", "x"]) }] }],
      [`${this.#pod}/status`, { qosClass: "Guaranteed", nominatedNodeName: "n", hostIP: "x" }],
    ]);
    const type = dice.one(["merge-patch+json", "strategic-merge-patch+json", "json-patch+json"]);
    const body = type.startsWith("json")
      ? jsonPatch(dice, { status, spec: {}, metadata: { labels: { app: "a" } } })
      : { status, ...(dice.chance(0.2) && { spec: {} }) };
    await this.#send("status", "PATCH", path, body, type);
  }
}

async function parts(visit: Visit): Promise<void> {
  const part = new Part(visit, await visit.createNamespace());
  await part.prepare();
  for (let step = 0; step < 40; step++) await part.step();
  await visit.send("what is left", "GET", `/api/v1/namespaces/${visit.namespace}/pods`, {
    headers: { accept: "application/json;as=Table;v=v1;g=meta.k8s.io" },
  });
  await visit.send("gone", "DELETE", `/api/v1/namespaces/${visit.namespace}/pods${visit.query(deleting, 2)}`);
}

export const partsOfStrangers: readonly Stranger[] = [{ name: "random parts", count: 24, run: parts }];
