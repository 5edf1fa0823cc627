/** A child on the server, as those reach it who do not belong to the operator. */
import type { Request } from "./forms.ts";
import { isMap, type JsonMap, mapAt } from "./json.ts";
import type { Kind } from "./kinds/kind.ts";
import { leavesOf, type Leaves } from "./leaves.ts";
import type { Shape } from "./schema.ts";
import type { Answer } from "./server.ts";
import { Stage } from "./stage.ts";

export class Child {
  readonly kind: Kind;
  readonly shape: Shape;
  readonly path: string;
  readonly #stage: Stage;

  constructor(stage: Stage, kind: Kind, name: string) {
    this.#stage = stage;
    this.kind = kind;
    this.shape = stage.shapeOf(kind);
    this.path = Stage.path(kind, name);
  }

  async get(): Promise<JsonMap | undefined> {
    const { status, body } = await this.#stage.send("GET", this.path);
    return status === 200 ? body : undefined;
  }

  send({ method, type, body, manager, force }: Request, { dryRun = false } = {}): Promise<Answer> {
    const query = new URLSearchParams();
    if (manager !== undefined) query.set("fieldManager", manager);
    if (force === true) query.set("force", "true");
    if (dryRun) query.set("dryRun", "All");
    return this.#stage.send(method, `${this.path}?${query}`, { body, type });
  }

  apply(body: JsonMap, manager: string, options?: { readonly dryRun: boolean }): Promise<Answer> {
    return this.send({ method: "PATCH", type: "application/apply-patch+yaml", body, manager, force: true }, options);
  }

  create(body: JsonMap, query: string): Promise<Answer> {
    return this.#stage.send("POST", `${Stage.path(this.kind)}?${query}`, { body });
  }

  delete(): Promise<Answer> {
    return this.#stage.send("DELETE", this.path, { body: { propagationPolicy: "Background" } });
  }

  merge(body: JsonMap, subresource = ""): Promise<Answer> {
    const type = "application/merge-patch+json";
    return this.#stage.send("PATCH", `${this.path}${subresource}?fieldManager=kubectl-theirs`, { body, type });
  }

  leaves(object: JsonMap): Leaves {
    return leavesOf(object, this.shape);
  }
}

/** An object in the fields that the server keeps: a Secret's texts are data. */
export function withSpellings(body: JsonMap): JsonMap {
  const texts = body["stringData"];
  if (!isMap(texts)) return body;
  const data = { ...mapAt(body, "data") };
  for (const [name, text] of Object.entries(texts)) data[name] = Buffer.from(String(text)).toString("base64");
  delete body["stringData"];
  if (Object.keys(data).length > 0) body["data"] = data;
  return body;
}
