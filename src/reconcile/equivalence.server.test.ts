import { of } from "binnacle";
import { ConfigMap, Deployment } from "binnacle/resources";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import * as fc from "fast-check";
import { Behaviours, boxController, Lab, servers } from "../../tests/support/integration/lab.ts";
import type { ShapeOf } from "../controller/definition.ts";
import type { AnyObject } from "../resource/handle.ts";

type Owned = ShapeOf<typeof ConfigMap> | ShapeOf<typeof Deployment>;
type Texts = Readonly<Record<string, string>>;

const NAMESPACE = "default";
const KINDS = { map: "/api/v1/namespaces/default/configmaps", web: "/apis/apps/v1/namespaces/default/deployments" };
const APPLY = "application/apply-patch+yaml";
const TYPES = { merge: "application/merge-patch+json", strategic: "application/strategic-merge-patch+json" };

/** What a controller may want of its two children. */
interface Wanted {
  readonly data: Texts;
  readonly labels: Texts;
  readonly image: string;
  readonly env: Texts;
  readonly args: readonly string[];
  readonly replicas: number | undefined;
}

/** What others may do to a child. */
type Edit =
  | { readonly kind: "data" | "labels"; readonly key: string; readonly value: string | null; readonly applied: boolean }
  | { readonly kind: "replicas"; readonly replicas: number }
  | { readonly kind: "sidecar" | "image"; readonly image: string };

type Step = { readonly want: Wanted } | { readonly edit: Edit };

const word = fc.constantFrom("", "1", "2");
const texts = fc.dictionary(fc.constantFrom("a", "b", "c"), word, { noNullPrototype: true });
const wanted: fc.Arbitrary<Wanted> = fc.record({
  data: texts,
  labels: texts,
  image: fc.constantFrom("i:1", "i:2"),
  env: texts,
  args: fc.array(fc.constantFrom("x", "y"), { maxLength: 2 }),
  replicas: fc.option(fc.constantFrom(1, 2), { nil: undefined }),
});
const edit: fc.Arbitrary<Edit> = fc.oneof(
  fc.record({
    kind: fc.constantFrom("data" as const, "labels" as const),
    key: fc.constantFrom("a", "b", "d"),
    value: fc.option(word, { nil: null }),
    applied: fc.boolean(),
  }),
  fc.record({ kind: fc.constant("replicas" as const), replicas: fc.constantFrom(2, 3) }),
  fc.record({ kind: fc.constantFrom("sidecar" as const, "image" as const), image: fc.constantFrom("i:2", "s") }),
);
const step: fc.Arbitrary<Step> = fc.oneof(fc.record({ want: wanted }), fc.record({ edit }));

/** The children that are wanted; those of the reference have names of their own. */
function childrenOf(name: string, { data, labels, image, env, args, replicas }: Wanted) {
  const app = { app: "equal" };
  const container = {
    name: "web",
    image,
    ...(args.length > 0 && { args }),
    env: Object.entries(env).map(([key, value]) => ({ name: key, value })),
    resources: { limits: { cpu: "1000m" } },
    ports: [{ containerPort: 80 }],
  };
  return {
    map: of(ConfigMap, { metadata: { name, labels }, data }),
    web: of(Deployment, {
      metadata: { name, labels },
      spec: {
        ...(replicas !== undefined && { replicas }),
        selector: { matchLabels: app },
        template: { metadata: { labels: app }, spec: { containers: [container] } },
      },
    }),
  };
}

/** What an edit sends, and to which child. */
function requestOf(of: Edit): { child: keyof typeof KINDS; body: object; type: string; manager?: string } {
  switch (of.kind) {
    case "data":
    case "labels": {
      const { key, value, applied } = of;
      const part = value === null ? (applied ? {} : { [key]: null }) : { [key]: value };
      const body = of.kind === "data" ? { data: part } : { metadata: { labels: part } };
      return { child: "map", body, type: applied ? APPLY : TYPES.merge };
    }
    case "replicas":
      return { child: "web", body: { spec: { replicas: of.replicas } }, type: TYPES.merge };
    default: {
      const containers = [{ name: of.kind === "image" ? "web" : "sidecar", image: of.image }];
      return { child: "web", body: { spec: { template: { spec: { containers } } } }, type: TYPES.strategic };
    }
  }
}

/** The object without what belongs to its name and its history. */
function essence(object: AnyObject): object {
  const { apiVersion, kind, metadata, ...rest } = object;
  const annotations = Object.entries(metadata.annotations ?? {}).filter(([key]) => !key.startsWith("binnacle.dev/"));
  return { apiVersion, kind, labels: metadata.labels ?? {}, annotations, ...rest };
}

describe.each(servers)("children after any changes and edits (%s server)", (server) => {
  const behaviours = new Behaviours<Owned>();
  let lab: Lab<Owned>;

  beforeAll(async () => {
    lab = await Lab.start(behaviours, [boxController(behaviours, { owns: [ConfigMap, Deployment] })], { server });
  }, 240_000);
  afterAll(async () => await lab?.[Symbol.asyncDispose]());

  async function apply(path: string, object: object, manager: string): Promise<void> {
    await lab.cluster.send("PATCH", `${path}?fieldManager=${manager}&force=true`, { body: object, type: APPLY });
  }

  async function equal(name: string, child: keyof typeof KINDS, steps: readonly Step[]): Promise<void> {
    const ours = (await lab.cluster.exists(`${KINDS[child]}/${name}`)) as unknown as AnyObject;
    const reference = (await lab.cluster.exists(`${KINDS[child]}/${name}-ref`)) as unknown as AnyObject;
    expect({ steps, object: essence(ours) }).toEqual({ steps, object: essence(reference) });
  }

  async function play(name: string, first: Wanted, steps: readonly Step[]): Promise<void> {
    let now = first;
    const reference = async (): Promise<void> => {
      const { map, web } = childrenOf(`${name}-ref`, now);
      await apply(`${KINDS.map}/${name}-ref`, map, "box");
      await apply(`${KINDS.web}/${name}-ref`, web, "box");
    };
    await lab.box(name, async (_, { children }) => void (await children.sync(childrenOf(name, now))));
    await reference();
    for (const [index, one] of steps.entries()) {
      const before = steps.slice(0, index + 1);
      if ("want" in one) now = one.want;
      else {
        const { child, body, type } = requestOf(one.edit);
        for (const target of [name, `${name}-ref`]) {
          const { apiVersion, kind } = childrenOf(target, now)[child];
          const path = `${KINDS[child]}/${target}`;
          const { metadata, ...rest } = body as { readonly metadata?: object };
          const applied = { apiVersion, kind, metadata: { ...metadata, name: target, namespace: NAMESPACE }, ...rest };
          if (type === APPLY) await apply(path, applied, "theirs");
          else await lab.cluster.send("PATCH", `${path}?fieldManager=edits`, { body, type });
        }
      }
      await lab.turn(name);
      await reference();
      expect(behaviours.failure(name)).toBe("");
      await equal(name, "map", before);
      await equal(name, "web", before);
    }
    behaviours.set(name, async () => {});
  }

  test("are what server-side apply would have left", async () => {
    const plays = fc.sample(fc.tuple(wanted, fc.array(step, { minLength: 6, maxLength: 10 })), {
      numRuns: Number(process.env["BINNACLE_PLAYS"] ?? 4),
      seed: Number(process.env["BINNACLE_SEED"] ?? 7),
    });
    for (const [index, [first, steps]] of plays.entries()) await play(`play-${index}`, first, steps);
  }, 300_000);
});
