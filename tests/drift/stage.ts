/** A server with an operator on it, whose controller declares for each owner what its case says. */
import {
  defineController,
  defineResource,
  resource,
  type Definition,
  type ObjectContext,
  type Resource,
  z,
} from "binnacle";
import type { ShapeOf } from "../../src/controller/definition.ts";
import { Pause } from "../../src/controller/pause.ts";
import { Manager } from "../../src/manager/manager.ts";
import { collectDefinitions } from "../../src/module/module-definitions.ts";
import { createLog } from "../../src/observe/log.ts";
import { until } from "../support/until.ts";
import type { JsonMap } from "./json.ts";
import { metaOf } from "./json.ts";
import { allKinds } from "./kinds/all-kinds.ts";
import { definitions } from "./kinds/custom.ts";
import type { Kind } from "./kinds/kind.ts";
import { type Shape, Schemas } from "./schema.ts";
import { type Answer, send, type SendOptions, type Server } from "./server.ts";

export const Owner = defineResource({
  group: "drift.binnacle.dev",
  version: "v1",
  kind: "Owner",
  spec: z.object({ turn: z.int().default(0) }),
});
/** The controller's name, which is its field manager too. */
export const CONTROLLER = "owner";

/** What an owner's runs declare. */
export interface Declared {
  /** The child; nothing when there should be none. */
  child: JsonMap | undefined;
  readonly adopt: boolean;
}

/** What came of the runs of an owner. */
export interface Runs {
  count: number;
  generation: number;
  failure: string;
}

const NAMESPACES = ["drift", "drift-limits"];
/** Milliseconds without a run after which nothing is expected any more. */
const QUIET = { embedded: 30, real: 250 };

export class Stage implements AsyncDisposable {
  readonly server: Server;
  readonly declared = new Map<string, Declared>();
  readonly runs = new Map<string, Runs>();
  readonly pause = new Pause();
  readonly log: string[] = [];
  /** Writes of the operator, by the path of the object. */
  readonly writes = new Map<string, string[]>();
  readonly #shapes = new Map<string, Shape>();
  readonly #definition: Definition;
  #manager: Manager | undefined;

  private constructor(server: Server) {
    this.server = server;
    this.#definition = this.#controller();
  }

  static async on(server: Server): Promise<Stage> {
    const stage = new Stage(server);
    for (const name of NAMESPACES) {
      await stage.send("POST", "/api/v1/namespaces", {
        body: { apiVersion: "v1", kind: "Namespace", metadata: { name } },
      });
    }
    for (const body of definitions)
      await stage.send("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", { body });
    await stage.#readShapes();
    return stage;
  }

  send(method: string, path: string, options?: SendOptions): Promise<Answer> {
    return send(this.server, method, path, options);
  }

  shapeOf(kind: Kind): Shape {
    return this.#shapes.get(kind.kind)!;
  }

  static namespaceOf(kind: Kind): string {
    return kind.limits === true ? "drift-limits" : "drift";
  }

  /** The path of a kind's objects, or of the one with a name. */
  static path(kind: Kind, name?: string): string {
    const prefix = kind.apiVersion.includes("/") ? "/apis" : "/api";
    const all = `${prefix}/${kind.apiVersion}/namespaces/${Stage.namespaceOf(kind)}/${kind.plural}`;
    return name === undefined ? all : `${all}/${name}`;
  }

  static ownerPath(kind: Kind, name?: string): string {
    const all = `/apis/${Owner.apiVersion}/namespaces/${Stage.namespaceOf(kind)}/owners`;
    return name === undefined ? all : `${all}/${name}`;
  }

  async startOperator(): Promise<void> {
    const { config } = this.server;
    const manager = new Manager({
      cluster: { ...config, answer: (request) => this.#witness(request) },
      log: createLog({ level: "warn", format: "json", write: (line) => void this.log.push(line) }),
      settings: { "install-crds": true, "grace-period": 5_000, concurrency: 16 },
      development: true,
      isolate: false,
      pause: this.pause,
      reportsFailures: false,
    });
    this.#manager = manager;
    await manager.add({
      name: "drift",
      file: "drift.ts",
      definitions: collectDefinitions([Owner, this.#definition]),
      invoke: (fn) => fn(),
      dispose: () => {},
    });
    manager.loaded();
    await until(() => manager.modules.controllers.every(({ hasSynced }) => hasSynced), {
      what: () => `synced controllers: ${this.log.slice(-5).join("\n")}`,
    });
    await this.idle();
  }

  async stopOperator(): Promise<void> {
    await this.#manager?.stop();
    this.#manager = undefined;
  }

  /** Waits until no run has been under way or due for some time. */
  async idle(): Promise<void> {
    const manager = this.#manager;
    if (manager === undefined) return;
    let since = performance.now();
    await until(
      () => {
        const busy = manager.modules.controllers.some(
          ({ queue }) => queue.depth + queue.delayed > 0 || queue.processing > 0,
        );
        if (busy) since = performance.now();
        return performance.now() - since >= QUIET[this.server.name];
      },
      { within: 120_000, every: 2, what: () => `an idle operator: ${this.log.slice(-5).join("\n")}` },
    );
  }

  /** Makes the owner run again, and waits for nothing. */
  async poke(kind: Kind, name: string): Promise<number> {
    const body = { spec: { turn: (this.runs.get(name)?.generation ?? 0) + 1 } };
    const type = "application/merge-patch+json";
    const answer = await this.send("PATCH", Stage.ownerPath(kind, name), { body, type });
    return Number(metaOf(answer.body)["generation"]);
  }

  /** Waits for runs that have seen these generations, and for all that follows from them. */
  async seen(generations: ReadonlyMap<string, number>): Promise<void> {
    const left = new Map(generations);
    await until(
      () => {
        for (const [name, generation] of left)
          if ((this.runs.get(name)?.generation ?? 0) >= generation) left.delete(name);
        return left.size === 0;
      },
      {
        within: 120_000,
        every: 2,
        what: () => `runs of ${[...left.keys()].slice(0, 5).join(", ")}: ${this.log.slice(-5).join("\n")}`,
      },
    );
    await this.idle();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stopOperator();
  }

  #controller(): Definition {
    const owns = allKinds.map(({ apiVersion, kind }) => resource(apiVersion, kind)) as readonly Resource[];
    return defineController({
      name: CONTROLLER,
      for: Owner,
      owns,
      retry: { first: "10ms", max: "80ms", limit: 5, tellAfter: Infinity },
      reconcile: async ({ metadata: { name, generation = 0 } }, context) => {
        const runs = this.runs.get(name) ?? { count: 0, generation: 0, failure: "" };
        this.runs.set(name, runs);
        runs.count++;
        const declared = this.declared.get(name);
        try {
          if (declared !== undefined) await sync(declared, context);
          runs.failure = "";
        } catch (error) {
          runs.failure = String(error);
          throw error;
        } finally {
          runs.generation = Math.max(runs.generation, generation);
        }
      },
    });
  }

  async #readShapes(): Promise<void> {
    const documents = new Map<string, Schemas>();
    for (const { apiVersion, kind } of allKinds) {
      const [group, version] = apiVersion.includes("/") ? apiVersion.split("/") : ["", apiVersion];
      const path = group === "" ? `/openapi/v3/api/${version}` : `/openapi/v3/apis/${apiVersion}`;
      this.#shapes.set(
        kind,
        await until(
          async () => {
            const document = documents.get(path) ?? (await this.#document(path));
            if (document === undefined) return undefined;
            documents.set(path, document);
            return document.find(group!, version!, kind);
          },
          { what: `the schema of ${kind}` },
        ),
      );
    }
  }

  async #document(path: string): Promise<Schemas | undefined> {
    const { status, body } = await this.send("GET", path);
    return status === 200 ? new Schemas(body) : undefined;
  }

  async #witness(request: Request): Promise<Response> {
    if (request.method !== "GET") {
      const { pathname, search } = new URL(request.url);
      let path = pathname;
      const text = request.body === null ? "" : await request.clone().text();
      if (request.method === "POST") path += `/${(JSON.parse(text) as { metadata: { name: string } }).metadata.name}`;
      const known = this.writes.get(path);
      const line = `${request.method}${search.includes("force") ? " apply" : ""} ${text}`;
      if (known === undefined) this.writes.set(path, [line]);
      else known.push(line);
    }
    return this.server.answer(request);
  }
}

type Context = ObjectContext<ShapeOf<typeof Owner>, ShapeOf<Resource>>;

async function sync({ child, adopt }: Declared, { children }: Context): Promise<void> {
  await children.sync({ child: child as never }, { adopt, allowEmpty: true });
}
