/** What the acceptance tests ask of a real control plane. */
import { assets, type ControlPlane, startControlPlane } from "../../scripts/controlplane/controlplane.ts";
import { sample } from "./binary.ts";
import { lendPlane } from "./lent-planes.ts";
import { until } from "./until.ts";

/** Whether a real control plane can be started; CI never goes without. */
export const available: boolean = (await assets()) !== undefined;
if (!available)
  console.log("Skipped: tests that need a real control plane (neither KUBEBUILDER_ASSETS nor Go is there)");

export interface Json {
  readonly metadata: {
    readonly name: string;
    readonly uid: string;
    readonly resourceVersion: string;
    readonly generation?: number;
    readonly finalizers?: readonly string[];
    readonly deletionTimestamp?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly namespace?: string;
  };
  // What a test looks at differs with the kind.
  readonly spec?: Readonly<Record<string, unknown>>;
  readonly status?: Readonly<Record<string, unknown>> & {
    readonly conditions?: readonly { readonly type: string; readonly status: string; readonly reason: string }[];
  };
  readonly data?: Readonly<Record<string, string>>;
  readonly items?: readonly Json[];
}

type ClusterOptions = NonNullable<Parameters<typeof startControlPlane>[0]>;

/** A server that can be asked and stopped. */
export type Plane = Pick<ControlPlane, "request" | "stop">;

/** Objects of a server, by their paths. */
export class ApiObjects<P extends Plane = Plane> implements AsyncDisposable {
  readonly plane: P;

  constructor(plane: P) {
    this.plane = plane;
  }

  /** The object at a path of the API; undefined when there is none. */
  async get(path: string): Promise<Json | undefined> {
    const response = await this.plane.request(path);
    if (response.status === 404) return void (await response.text());
    if (!response.ok) throw new Error(`GET ${path}: ${response.status} ${await response.text()}`);
    return (await response.json()) as Json;
  }

  async send(method: string, path: string, options: { body?: unknown; type?: string } = {}): Promise<Json> {
    const { body, type = "application/json" } = options;
    const init: RequestInit = { method, headers: { "content-type": type } };
    if (body !== undefined) init.body = JSON.stringify(body);
    const response = await this.plane.request(path, init);
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
    return (await response.json()) as Json;
  }

  patch(path: string, body: unknown): Promise<Json> {
    return this.send("PATCH", path, { body, type: "application/merge-patch+json" });
  }

  /** Waits until an object exists and passes. */
  exists(path: string, passes: (object: Json) => boolean = () => true, within = 60_000): Promise<Json> {
    let seen: Json | undefined;
    return until(
      async () => {
        seen = await this.get(path);
        return seen !== undefined && passes(seen) ? seen : undefined;
      },
      { within, what: () => `${path}, last seen ${JSON.stringify(seen)}` },
    );
  }

  gone(path: string, within = 60_000): Promise<true> {
    return until<true>(async () => (await this.get(path)) === undefined, { within, what: `${path} gone` });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.plane.stop();
  }
}

/** A real control plane. */
export class Cluster extends ApiObjects<ControlPlane> {
  /** @param options without any but `controllers` it may be a control plane that other tests have used, and that is empty now */
  static async start({ controllers = true, ...own }: ClusterOptions = {}): Promise<Cluster> {
    const isPlain = Object.keys(own).length === 0;
    return new Cluster(await (isPlain ? lendPlane(controllers) : startControlPlane({ controllers, ...own })));
  }

  get kubeconfig(): string {
    return this.plane.kubeconfig;
  }

  /** `kubectl …`; throws with its words when it fails. */
  async kubectl(...args: string[]): Promise<string> {
    const { stdout, stderr, exitCode } = await this.plane.kubectl(...args);
    if (exitCode !== 0) throw new Error(`kubectl ${args.join(" ")} ended with ${exitCode}: ${stderr}`);
    return stdout;
  }

  /** Lets the garbage collector know of new kinds: it looks for them at its start, and then every 30 s. */
  async collectNewKinds(): Promise<void> {
    await this.plane.restart("kube-controller-manager");
  }

  /** Whether a new kind answers: its storage begins a moment after its definition is established. */
  async serves(path: string): Promise<boolean> {
    const response = await this.plane.request(path);
    await response.body?.cancel();
    return response.ok;
  }

  /** Watches open at the API server now, by resource. */
  async watches(): Promise<ReadonlyMap<string, number>> {
    const counts = new Map<string, number>();
    for (const line of (await this.plane.metrics()).split("\n")) {
      if (!line.startsWith("apiserver_longrunning_requests{") || !line.includes('verb="WATCH"')) continue;
      const resource = /[{,]resource="([^"]*)"/.exec(line)?.[1] ?? "";
      counts.set(resource, (counts.get(resource) ?? 0) + Number(line.slice(line.lastIndexOf(" ") + 1)));
    }
    return counts;
  }

  /** Requests that the API server has answered, by labels. */
  async requests(labels: Readonly<Record<string, string>>): Promise<number> {
    return sample(await this.plane.metrics(), "apiserver_request_total", labels);
  }
}
