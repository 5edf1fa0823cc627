/** A control plane, a faulty proxy, and a controller that does for each object what its test says. */
import {
  conditions,
  defineController,
  defineResource,
  type Definition,
  type ObjectContext,
  type ObjectOf,
  z,
} from "binnacle";
import type { ConfigMap } from "binnacle/resources";
import type { ObjectController, ShapeOf } from "../../../src/controller/definition.ts";
import type { Target } from "../../../src/controller/watch.ts";
import type { Shape } from "../../../src/resource/handle.ts";
import { until } from "../until.ts";
import { ApiObjects, available, Cluster, type Json } from "../cluster.ts";
import { FaultyProxy } from "./faulty-proxy.ts";
import { InProcess } from "./in-process.ts";

export const Box = defineResource({
  group: "lab.binnacle.dev",
  version: "v1",
  kind: "Box",
  spec: z.object({ turn: z.int().default(0) }),
  status: z.object({
    turn: z.int().optional(),
    note: z.string().optional(),
    part: z.object({ a: z.string().optional(), b: z.string().optional() }).optional(),
    conditions: conditions("Ready", "Degraded"),
  }),
});
export type Box = ObjectOf<typeof Box>;
export type BoxShape = ShapeOf<typeof Box>;
export type Reconcile<Owned extends Shape = ShapeOf<typeof ConfigMap>> = (
  box: Box,
  context: ObjectContext<BoxShape, Owned>,
) => ReturnType<ObjectController<BoxShape, readonly []>["reconcile"]>;

export const BOXES = "/apis/lab.binnacle.dev/v1/namespaces/default/boxes";

/** The servers that a lab can be on: a real control plane, where there is one, and the embedded server. */
export type ServerName = "real" | "embedded";
export const servers: readonly ServerName[] = available ? ["real", "embedded"] : ["embedded"];

async function startEmbedded(): Promise<ApiObjects> {
  const { createApiServer } = await import("binnacle-apiserver");
  const server = await createApiServer();
  return new ApiObjects({
    request: (path, init) => server.fetch(new Request(`http://embedded${path}`, init)),
    stop: () => server.stop(),
  });
}

/** The objects of a controller, by name: what to do with each, and what came of it. */
export class Behaviours<Owned extends Shape = ShapeOf<typeof ConfigMap>> {
  readonly #reconcile = new Map<string, Reconcile<Owned>>();
  readonly failures = new Map<string, Error>();
  readonly runs = new Map<string, number>();
  /** The generation that the last run saw. */
  readonly seen = new Map<string, number>();

  set(name: string, reconcile: Reconcile<Owned>): void {
    this.#reconcile.set(name, reconcile);
  }

  of(name: string): Reconcile<Owned> | undefined {
    return this.#reconcile.get(name);
  }

  readonly reconcile: Reconcile<Owned> = async (box, context) => {
    const { name, generation = 0 } = box.metadata;
    this.runs.set(name, (this.runs.get(name) ?? 0) + 1);
    this.seen.set(name, generation);
    try {
      const result = await this.#reconcile.get(name)?.(box, context);
      this.failures.delete(name);
      return result;
    } catch (error) {
      this.failures.set(name, error as Error);
      throw error;
    }
  };

  /** How the last run failed; empty when it did not. */
  failure(name: string): string {
    const error = this.failures.get(name);
    return error === undefined ? "" : `${error.name}: ${error.message}`;
  }
}

export class Lab<Owned extends Shape = ShapeOf<typeof ConfigMap>> implements AsyncDisposable {
  readonly behaviours: Behaviours<Owned>;
  readonly cluster: ApiObjects;
  readonly proxy: FaultyProxy;
  readonly #definitions: readonly unknown[];
  readonly #grace: number | undefined;
  #operator!: InProcess;

  private constructor(parts: {
    behaviours: Behaviours<Owned>;
    cluster: ApiObjects;
    proxy: FaultyProxy;
    definitions: readonly unknown[];
    grace: number | undefined;
  }) {
    this.behaviours = parts.behaviours;
    this.cluster = parts.cluster;
    this.proxy = parts.proxy;
    this.#definitions = parts.definitions;
    this.#grace = parts.grace;
  }

  static async start<Owned extends Shape>(
    behaviours: Behaviours<Owned>,
    definitions: readonly unknown[],
    options: { readonly controllers?: boolean; readonly server?: ServerName; readonly grace?: number } = {},
  ): Promise<Lab<Owned>> {
    const { server = "real", controllers = false, grace } = options;
    const cluster = server === "embedded" ? await startEmbedded() : await Cluster.start({ controllers });
    const lab = new Lab({ behaviours, cluster, proxy: await FaultyProxy.start(cluster.plane), definitions, grace });
    await lab.restart();
    return lab;
  }

  get operator(): InProcess {
    return this.#operator;
  }

  /** Ends the operator. */
  async stop(): Promise<void> {
    await (this.#operator as InProcess | undefined)?.[Symbol.asyncDispose]();
  }

  /** Ends the operator and starts it again, with other definitions if there are some. */
  async restart(definitions: readonly unknown[] = this.#definitions): Promise<void> {
    await this.stop();
    const { cluster } = this.proxy;
    this.#operator = await InProcess.start({ cluster, definitions: [Box, ...definitions], grace: this.#grace });
    await this.#operator.idle();
  }

  async box(name: string, reconcile: Reconcile<Owned>): Promise<Json> {
    this.behaviours.set(name, reconcile);
    const created = await this.cluster.send("POST", BOXES, {
      body: { apiVersion: Box.apiVersion, kind: "Box", metadata: { name }, spec: {} },
    });
    await this.#reconciled(name, 1);
    return created;
  }

  /** Changes the object, so that it is reconciled again, and waits for that. */
  async turn(name: string, reconcile?: Reconcile<Owned>): Promise<void> {
    if (reconcile !== undefined) this.behaviours.set(name, reconcile);
    const { spec } = await this.get(name);
    const { metadata } = await this.cluster.patch(`${BOXES}/${name}`, {
      spec: { turn: Number(spec?.["turn"] ?? 0) + 1 },
    });
    await this.#reconciled(name, metadata.generation!);
  }

  get(name: string): Promise<Json> {
    return this.cluster.exists(`${BOXES}/${name}`);
  }

  /** Requests of the operator that wrote something with the name in its path. */
  writes(name: string): readonly string[] {
    return this.proxy.writes.filter((write) => write.split(/[ /]/).includes(name));
  }

  async #reconciled(name: string, generation: number): Promise<void> {
    await until(() => (this.behaviours.seen.get(name) ?? 0) >= generation, {
      within: 60_000,
      what: () => `a run of ${name}: ${this.#operator.text.slice(-2_000)}`,
    });
    await this.#operator.idle();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
    await this.proxy[Symbol.asyncDispose]();
    await this.cluster[Symbol.asyncDispose]();
  }
}

type Options = Omit<ObjectController<BoxShape, readonly Target<Shape>[]>, "for" | "reconcile">;

/** A controller of boxes that does what the behaviours say. */
export function boxController<Owned extends Shape>(behaviours: Behaviours<Owned>, options: Options = {}): Definition {
  return defineController({
    retry: { first: "20ms", max: "200ms" },
    ...options,
    for: Box,
    reconcile: (box, context) => behaviours.reconcile(box, context as unknown as ObjectContext<BoxShape, Owned>),
  });
}
