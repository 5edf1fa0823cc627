/** A second client that changes objects at random, directly on the API server. */
import type { ControlPlane } from "../../scripts/controlplane/controlplane.ts";
import { BOXES, Box } from "../support/integration/lab.ts";

const NAMESPACE = "/namespaces/default";
const paths = {
  ConfigMap: `/api/v1${NAMESPACE}/configmaps`,
  Secret: `/api/v1${NAMESPACE}/secrets`,
  ServiceAccount: `/api/v1${NAMESPACE}/serviceaccounts`,
  Lease: `/apis/coordination.k8s.io/v1${NAMESPACE}/leases`,
  Box: BOXES,
} as const;

export type SoakKind = keyof typeof paths;
export const soakKinds = Object.keys(paths) as readonly SoakKind[];

interface Listed {
  readonly items: readonly {
    readonly metadata: Readonly<Record<"name" | "namespace" | "uid" | "resourceVersion", string>> & {
      readonly generation?: number;
    };
    readonly spec?: { readonly turn?: number };
    readonly status?: { readonly turn?: number };
  }[];
}

export class Writer {
  readonly #plane: ControlPlane;
  readonly #names: Readonly<Record<SoakKind, string[]>>;
  readonly #random: () => number;
  #next = 0;
  #stopped = false;
  writes = 0;

  constructor(plane: ControlPlane, random: () => number) {
    this.#plane = plane;
    this.#random = random;
    this.#names = { ConfigMap: [], Secret: [], ServiceAccount: [], Lease: [], Box: [] };
  }

  /** Creates so many objects of each kind. */
  async fill(count: number): Promise<void> {
    await Promise.all(
      soakKinds.map(async (kind) => {
        await Promise.all(
          Array.from({ length: 4 }, async () => {
            while (this.#names[kind].length < count) await this.#create(kind);
          }),
        );
      }),
    );
  }

  /** Changes each object once. */
  async changeAll(): Promise<void> {
    await Promise.all(
      soakKinds.map(async (kind) => {
        for (const name of this.#names[kind]) await this.#change(kind, name);
      }),
    );
  }

  /** Changes objects at this rate until `stop`. */
  async run(perSecond: number): Promise<void> {
    while (!this.#stopped) {
      const kind = soakKinds[Math.floor(this.#random() * soakKinds.length)]!;
      const dice = this.#random();
      if (dice < 0.05) await this.#delete(kind);
      else if (dice < 0.1) await this.#create(kind);
      else await this.#change(kind);
      await Bun.sleep(1_000 / perSecond);
    }
  }

  stop(): void {
    this.#stopped = true;
  }

  /** Lists all objects of a kind, in all namespaces. */
  /** Returns the objects of the server; `undefined` when it is too busy to list them. */
  async list(kind: SoakKind): Promise<Listed["items"] | undefined> {
    const response = await this.#plane.request(paths[kind].replace(NAMESPACE, ""));
    if (response.ok) return ((await response.json()) as Listed).items;
    await response.body?.cancel();
    return undefined;
  }

  async #create(kind: SoakKind): Promise<void> {
    const name = `s${this.#next++}`;
    this.#names[kind].push(name);
    // They have their final size, so that only leaks change the operator's memory.
    const turn = this.#turn();
    const metadata = { name, labels: { turn: String(turn) } };
    const body = kind === "Box" ? { apiVersion: Box.apiVersion, kind, metadata, spec: { turn } } : { metadata };
    if (!(await this.#send("POST", paths[kind], { body }))) this.#forget(kind, name);
  }

  async #change(kind: SoakKind, name = this.#pick(kind)): Promise<void> {
    if (name === undefined) return;
    const turn = this.#turn();
    const body = kind === "Box" ? { spec: { turn } } : { metadata: { labels: { turn: String(turn) } } };
    await this.#send("PATCH", `${paths[kind]}/${name}`, { body });
  }

  async #delete(kind: SoakKind): Promise<void> {
    const name = this.#pick(kind);
    if (name !== undefined && (await this.#send("DELETE", `${paths[kind]}/${name}`))) this.#forget(kind, name);
  }

  /** Returns six digits. */
  #turn(): number {
    return 100_000 + Math.floor(this.#random() * 900_000);
  }

  #pick(kind: SoakKind): string | undefined {
    const names = this.#names[kind];
    return names[Math.floor(this.#random() * names.length)];
  }

  #forget(kind: SoakKind, name: string): void {
    const names = this.#names[kind];
    names.splice(names.indexOf(name), 1);
  }

  /** Sends a request. @returns whether it succeeded; the server may be unreachable. */
  async #send(method: string, path: string, options: { body?: object } = {}): Promise<boolean> {
    const type = method === "PATCH" ? "application/merge-patch+json" : "application/json";
    try {
      const init: RequestInit = { method, headers: { "content-type": type }, signal: AbortSignal.timeout(5_000) };
      if (options.body !== undefined) init.body = JSON.stringify(options.body);
      const response = await this.#plane.request(path, init);
      await response.arrayBuffer();
      if (response.ok) this.writes++;
      return response.ok;
    } catch {
      await Bun.sleep(200);
      return false;
    }
  }
}
