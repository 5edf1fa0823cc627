/** Objects that change all the time, written directly to the API server. */
import type { ControlPlane } from "../../scripts/controlplane/controlplane.ts";

interface Listed {
  readonly items: readonly {
    readonly metadata: { readonly name: string; readonly generation: number };
    readonly spec: { readonly size: number };
    readonly status?: { readonly observedGeneration?: number };
  }[];
}

/** The kind of a CustomResourceDefinition. */
export interface LoadedKind {
  readonly apiVersion: string;
  readonly kind: string;
  /** The path of the objects in the namespace `default`. */
  readonly path: string;
}

/** Parses a definition. @param definition as YAML or JSON; its kind has `spec.size`, a number, and `spec.payload`, a text. */
export function kindOf(definition: string): LoadedKind {
  const { spec } = Bun.YAML.parse(definition) as {
    spec: { group: string; names: { kind: string; plural: string }; versions: { name: string }[] };
  };
  const apiVersion = `${spec.group}/${spec.versions[0]!.name}`;
  return { apiVersion, kind: spec.names.kind, path: `/apis/${apiVersion}/namespaces/default/${spec.names.plural}` };
}

export class Load {
  readonly #plane: ControlPlane;
  readonly #kind: LoadedKind;
  readonly #objects: number;
  readonly #stop = new AbortController();
  #running: Promise<void> = Promise.resolve();
  #size = 1;

  constructor(plane: ControlPlane, options: { readonly kind: LoadedKind; readonly objects: number }) {
    this.#plane = plane;
    this.#kind = options.kind;
    this.#objects = options.objects;
  }

  async fill(): Promise<void> {
    const { apiVersion, kind, path } = this.#kind;
    for (let index = 0; index < this.#objects; index++) {
      const body = {
        apiVersion,
        kind,
        metadata: { name: `one-${index}` },
        spec: { size: 0, payload: "x".repeat(100) },
      };
      const sent = await this.#send("POST", { path, body });
      if (!sent) throw new Error(`Cannot make objects at ${path}`);
    }
  }

  /** Changes one object after another, at this rate. */
  start(perSecond: number): void {
    this.#running = this.#run(1_000 / perSecond);
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  /** Returns what the operator has not done yet; `undefined` when it has done everything. */
  async unsettled(): Promise<string | undefined> {
    const children = new Map<string, string>();
    const configMaps = await this.#list("/api/v1/namespaces/default/configmaps");
    for (const { metadata, data } of configMaps as { metadata: { name: string }; data?: { size?: string } }[]) {
      children.set(metadata.name, data?.size ?? "");
    }
    for (const { metadata, spec } of (await this.#list(this.#kind.path)) as Listed["items"]) {
      const child = children.get(`w-${metadata.name}`);
      if (child !== String(spec.size)) return `${metadata.name} has size ${spec.size}, and its child ${child}`;
    }
    return undefined;
  }

  async #run(every: number): Promise<void> {
    const { signal } = this.#stop;
    for (let next = performance.now(); !signal.aborted; next += every) {
      const wait = next - performance.now();
      if (wait > 0) await Bun.sleep(wait);
      else if (wait < -1_000) next = performance.now(); // changes that could not be sent in time are not made up for
      const size = this.#size++;
      await this.#send("PATCH", { path: `${this.#kind.path}/one-${size % this.#objects}`, body: { spec: { size } } });
    }
  }

  async #list(path: string): Promise<readonly unknown[]> {
    const response = await this.#plane.request(path);
    return ((await response.json()) as { items: readonly unknown[] }).items;
  }

  /** Sends a request. @returns whether it succeeded; the server may be unreachable. */
  async #send(method: string, { path, body }: { readonly path: string; readonly body: object }): Promise<boolean> {
    const type = method === "PATCH" ? "application/merge-patch+json" : "application/json";
    try {
      const response = await this.#plane.request(path, {
        method,
        headers: { "content-type": type },
        body: JSON.stringify(body),
        signal: AbortSignal.timeout(3_000),
      });
      await response.arrayBuffer();
      return response.ok;
    } catch {
      await Bun.sleep(100);
      return false;
    }
  }
}
