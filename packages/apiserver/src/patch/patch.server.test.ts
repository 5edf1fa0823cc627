/** Plays generated writes of several managers here and on a real kube-apiserver. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { assets, type ControlPlane, lendPlane } from "../../../../tests/support/control-plane.ts";
import type { Fields, KubeObject } from "../hooks.ts";
import { StatusError } from "../status.ts";
import { builtInRows, builtInSchema } from "../tables/tables.ts";
import { jsonPatch } from "./json-patch.ts";
import { mergePatch } from "./merge-patch.ts";
import { resetFields } from "./reset-fields.ts";
import { serverSideApply } from "./server-side-apply.ts";
import { strategicMergePatch } from "./strategic-merge-patch.ts";
import { updateManagedFields } from "./update-managed-fields.ts";

/** Makes deterministic choices. */
class Chance {
  #seed: number;
  constructor(seed: number) {
    this.#seed = seed;
  }
  next(): number {
    this.#seed = (this.#seed * 1_103_515_245 + 12_345) & 0x7fff_ffff;
    return this.#seed / 0x7fff_ffff;
  }
  is(probability = 0.5): boolean {
    return this.next() < probability;
  }
  pick<T>(items: readonly T[]): T {
    return items[Math.floor(this.next() * items.length)]!;
  }
  some<T>(items: readonly T[]): T[] {
    return items.filter(() => this.is());
  }
}

function container(chance: Chance, name: string): Fields {
  return {
    name,
    image: chance.pick(["i1", "i2"]),
    ...(chance.is()
      ? { env: chance.some(["A", "B"]).map((key) => ({ name: key, value: chance.pick(["1", "2"]) })) }
      : {}),
    ...(chance.is()
      ? { ports: chance.some([80, 443]).map((containerPort) => ({ containerPort, protocol: "TCP" })) }
      : {}),
    ...(chance.is(0.3) ? { command: chance.some(["a", "b"]) } : {}),
  };
}

function deployment(chance: Chance, name: string, whole: boolean): KubeObject {
  const containers = (whole ? ["a", ...chance.some(["b"])] : chance.some(["a", "b"])).map((one) =>
    container(chance, one),
  );
  const labels = Object.fromEntries(chance.some(["l1", "l2"]).map((key) => [key, chance.pick(["1", "2"])]));
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: {
      name,
      namespace: "default",
      ...(chance.is() ? { labels } : {}),
      ...(chance.is(0.3) ? { finalizers: chance.some(["x.io/a", "x.io/b"]) } : {}),
    },
    spec: {
      ...(chance.is() ? { replicas: chance.pick([0, 1, 2]) } : {}),
      ...(whole || chance.is() ? { selector: { matchLabels: { app: "x" } } } : {}),
      ...(whole || chance.is(0.7) ? { template: { metadata: { labels: { app: "x" } }, spec: { containers } } } : {}),
    },
  };
}

/** The time of the server's latest entry, by which entries are sorted; a refusal has none. */
function timeOf({ metadata }: Pick<KubeObject, "metadata">): string {
  const times = (metadata.managedFields ?? []).map(({ time }) => String(time)).toSorted();
  return times.at(-1) ?? `${new Date().toISOString().slice(0, 19)}Z`;
}

const bin = await assets();
const row = builtInRows().find(({ kind }) => kind === "Deployment")!;
const schema = builtInSchema(row)!;
const collection = "/apis/apps/v1/namespaces/default/deployments";

function timeless(entries: readonly Fields[] | undefined): string {
  return JSON.stringify(entries ?? [], (name, value: unknown) => (name === "time" ? undefined : value));
}

describe.skipIf(!bin)("patches against a real kube-apiserver", () => {
  let server: ControlPlane;
  beforeAll(async () => {
    server = await lendPlane(false);
  });
  afterAll(() => server.stop());

  async function send(method: string, path: string, { body, type = "json" }: { body: unknown; type?: string }) {
    const headers = { "content-type": `application/${type}` };
    const response = await server.request(path, { method, headers, body: JSON.stringify(body) });
    return { code: response.status, body: (await response.json()) as KubeObject };
  }

  test("serverSideApply and updateManagedFields own fields as the server does", async () => {
    const chance = new Chance(7);
    let compared = 0;
    for (let round = 0; round < 8; round++) {
      const name = `owned-${round}`;
      let live: KubeObject | undefined;
      for (let step = 0; step < 8; step++) {
        const manager = chance.pick(["m1", "m2", "kubectl"]);
        const force = chance.is(0.4);
        const asked = deployment(chance, name, live === undefined || chance.is(0.3));
        const isApply = live === undefined ? chance.is() : chance.is(0.7);
        const common = {
          schema,
          live,
          manager,
          subresource: "",
          apiVersion: "apps/v1",
          resetFields: resetFields(row, ""),
        };
        const query = `fieldManager=${manager}`;
        if (isApply) {
          const path = `${collection}/${name}?${query}&force=${force}`;
          const real = await send("PATCH", path, { body: asked, type: "apply-patch+yaml" });
          let mine: ReturnType<typeof serverSideApply> | StatusError;
          try {
            mine = serverSideApply({ ...common, now: timeOf(real.body), applied: asked, force });
          } catch (error) {
            if (!(error instanceof StatusError)) throw error;
            mine = error;
          }
          if (mine instanceof StatusError) {
            const { details, code } = real.body as unknown as StatusError["status"];
            const causes = (list: typeof details) =>
              (list?.causes ?? []).map(({ message, field }) => `${message}${field}`).toSorted();
            expect(code).toBe(mine.status.code);
            expect(causes(details)).toEqual(causes(mine.status.details));
          } else if (real.code < 300) {
            expect(timeless(mine.object.metadata.managedFields)).toBe(timeless(real.body.metadata.managedFields));
            live = real.body;
          } else continue;
        } else {
          const real =
            live === undefined
              ? await send("POST", `${collection}?${query}`, { body: asked })
              : await send("PATCH", `${collection}/${name}?${query}`, { body: asked, type: "merge-patch+json" });
          if (real.code >= 300) continue;
          const { managedFields: _, ...metadata } = real.body.metadata;
          const before = live?.metadata.managedFields;
          const next = {
            ...real.body,
            metadata: before === undefined ? metadata : { ...metadata, managedFields: before },
          };
          const mine = updateManagedFields({ ...common, now: timeOf(real.body), next });
          expect(timeless(mine.metadata.managedFields)).toBe(timeless(real.body.metadata.managedFields));
          live = real.body;
        }
        compared++;
      }
    }
    expect(compared).toBeGreaterThan(45);
  });

  test("patches give what the server's give", async () => {
    const base = deployment(new Chance(1), "patched", true);
    (base.spec as Fields).template = {
      metadata: { labels: { app: "x" } },
      spec: {
        containers: [
          { name: "a", image: "i", env: [{ name: "A", value: "1" }] },
          { name: "b", image: "i" },
        ],
      },
    };
    const { body: live } = await send("POST", collection, { body: base });
    const inPod = (fields: Fields): Fields => ({ spec: { template: { spec: fields } } });
    const strategic: Fields[] = [
      inPod({ containers: [{ name: "b", image: "2" }] }),
      inPod({ containers: [{ name: "a", $patch: "delete" }] }),
      inPod({ containers: [{ $patch: "replace" }, { name: "c", image: "2" }] }),
      inPod({ "$setElementOrder/containers": [{ name: "b" }, { name: "a" }], containers: [{ name: "b", image: "2" }] }),
      inPod({ containers: [{ name: "a", env: [{ name: "B", value: "2" }], $retainKeys: ["name", "image", "env"] }] }),
      inPod({ containers: [{ image: "x" }] }),
      inPod({ "$setElementOrder/containers": [{ name: "b" }], containers: [{ name: "a" }] }),
      { spec: { strategy: { $retainKeys: ["type"], type: "Recreate" } } },
      { spec: { strategy: { $retainKeys: "x" } } },
      { metadata: { labels: { $patch: "replace", z: "1" } } },
      { $patch: "foo" },
    ];
    const operations: Fields[][] = [
      [{ op: "add", path: "/metadata/labels", value: { z: "1" } }],
      [{ op: "replace", path: "/spec/template/spec/containers/-1/image", value: "2" }],
      [{ op: "test", path: "/spec/paused", value: null }],
      [{ op: "remove", path: "/spec/nothing" }],
      [
        { op: "copy", from: "/spec/template/spec/containers/0", path: "/spec/template/spec/containers/-" },
        { op: "replace", path: "/spec/template/spec/containers/2/name", value: "z" },
      ],
    ];
    const cases: [string, unknown, () => unknown][] = [
      ...strategic.map((patch): [string, unknown, () => unknown] => [
        "strategic-merge-patch+json",
        patch,
        () => strategicMergePatch(schema, live, patch),
      ]),
      ...strategic
        .slice(0, 1)
        .map((patch): [string, unknown, () => unknown] => ["merge-patch+json", patch, () => mergePatch(live, patch)]),
      ...operations.map((patch): [string, unknown, () => unknown] => [
        "json-patch+json",
        patch,
        () => jsonPatch(live, patch),
      ]),
    ];
    for (const [type, patch, run] of cases) {
      const real = await send("PATCH", `${collection}/patched?dryRun=All`, { body: patch, type });
      let mine: unknown;
      try {
        mine = run();
      } catch (error) {
        if (!(error instanceof StatusError)) throw error;
        const { code, reason } = real.body as unknown as StatusError["status"];
        expect({ code, reason }).toEqual({ code: error.status.code, reason: error.status.reason });
        continue;
      }
      expect(real.code, JSON.stringify([patch, real.code === 200 ? "" : real.body])).toBe(200);
      // The server adds defaults.
      const { metadata, spec } = mine as { metadata: Fields; spec: Fields };
      expect(real.body.spec).toMatchObject(spec);
      expect(real.body.metadata.labels ?? {}).toEqual((metadata.labels ?? {}) as Record<string, string>);
    }
  });
});
