/** Somebody who creates, changes and deletes objects all the time, and knows what has to be there at the end. */

import type { KubernetesNode } from "./node.ts";

const PATH = "/apis/chaos.binnacle.dev/v1/namespaces/default/pearls";
const CHILDREN = "/api/v1/namespaces/default/configmaps?labelSelector=chaos%3Dpearl";

/** A Pearl has a ConfigMap of its value; one that is called hog takes more memory than the pod may have, once. */
export const MODULE = `import { allow, conditions, defineController, defineResource, of, z } from "binnacle";
import { ConfigMap } from "binnacle/resources";
export const Pearl = defineResource({
  group: "chaos.binnacle.dev", version: "v1", kind: "Pearl",
  spec: z.object({ value: z.string() }),
  status: z.object({ seen: z.string().optional(), conditions: conditions("Ready") }),
});
export const pearl = defineController({
  for: Pearl,
  owns: [ConfigMap],
  uses: [allow(Pearl, "delete")],
  async reconcile({ metadata: { name }, spec: { value } }, { children, status, client }) {
    if (name.startsWith("hog")) {
      await client.delete(Pearl, { namespace: "default", name });
      const eaten = [];
      for (let number = 0; number < 512; number++) eaten.push(new Uint8Array(1 << 20).fill(number));
      return;
    }
    await children.sync({ copy: of(ConfigMap, { metadata: { name, labels: { chaos: "pearl" } }, data: { value } }) });
    status.set({ seen: value });
  },
});
`;

export const HOG: string = JSON.stringify({
  apiVersion: "chaos.binnacle.dev/v1",
  kind: "Pearl",
  metadata: { generateName: "hog-", namespace: "default" },
  spec: { value: "much" },
});

const HEADERS = { "content-type": "application/json" };
const MOST = 40;

interface Listed {
  readonly items: readonly {
    readonly metadata: { readonly name: string };
    readonly data?: { readonly value?: string };
    readonly status?: { readonly seen?: string };
  }[];
}

export class ChaosLoad {
  readonly #node: KubernetesNode;
  readonly #random: () => number;
  readonly #expected = new Map<string, string>();
  readonly #running: Promise<void>;
  #ends = false;
  changes = 0;

  /** Begins at once. @param random decides what changes */
  constructor(node: KubernetesNode, random: () => number) {
    this.#node = node;
    this.#random = random;
    this.#running = this.#run();
    this.#running.catch(() => undefined); // told by end()
  }

  /** What has to be there, after the last change. */
  async end(): Promise<ReadonlyMap<string, string>> {
    this.#ends = true;
    await this.#running;
    return this.#expected;
  }

  /** Children of objects that are gone: the garbage collector's business. */
  async uncollected(expected: ReadonlyMap<string, string>): Promise<number> {
    const children = await this.#list(CHILDREN);
    return (children?.items ?? []).filter(({ metadata }) => !expected.has(metadata.name)).length;
  }

  /** The names of objects that are not as they should be, or whose child is not. */
  async wrong(expected: ReadonlyMap<string, string>): Promise<readonly string[]> {
    const [objects, children] = await Promise.all([this.#list(PATH), this.#list(CHILDREN)]);
    if (objects === undefined || children === undefined) return ["the API server does not answer"];
    const seen = new Map(objects.items.map(({ metadata, status }) => [metadata.name, status?.seen]));
    const values = new Map(children.items.map(({ metadata, data }) => [metadata.name, data?.value]));
    const names = new Set([...expected.keys(), ...seen.keys()]);
    return [...names].filter(
      (name) => seen.get(name) !== expected.get(name) || values.get(name) !== expected.get(name),
    );
  }

  /** Names come again: the child of the object before may still be there, and the garbage collector may have lost track of it. */
  async #run(): Promise<void> {
    for (let number = 0; !this.#ends; number++) {
      await this.#change(`pearl-${Math.floor(this.#random() * MOST)}`, `value ${number}`);
      await Bun.sleep(100);
    }
  }

  /** Until the server has answered, because a change that may have taken place is one that has to be known. */
  async #change(name: string, value: string): Promise<void> {
    const there = this.#expected.has(name);
    const goes = there && this.#random() < 0.2;
    const metadata = { name };
    const object = { apiVersion: "chaos.binnacle.dev/v1", kind: "Pearl", metadata, spec: { value } };
    const send = async (): Promise<boolean> =>
      goes
        ? await this.#send("DELETE", `${PATH}/${name}`)
        : await this.#send("PATCH", `${PATH}/${name}?fieldManager=load&force=true`, object);
    while (!(await send())) await Bun.sleep(200);
    this.changes++;
    if (goes) this.#expected.delete(name);
    else this.#expected.set(name, value);
  }

  /** @returns whether the server has said that it is done. */
  async #send(method: string, path: string, body?: object): Promise<boolean> {
    const headers = method === "PATCH" ? { "content-type": "application/apply-patch+yaml" } : HEADERS;
    const init: RequestInit = { method, headers, signal: AbortSignal.timeout(10_000) };
    if (body !== undefined) init.body = JSON.stringify(body);
    try {
      const response = await this.#node.request(path, init);
      const text = await response.text();
      // A server that has just started does not know the kind yet, and names no object then.
      return response.ok || (method === "DELETE" && response.status === 404 && isAbsence(text, path));
    } catch {
      return false; // the server is away
    }
  }

  async #list(path: string): Promise<Listed | undefined> {
    try {
      const response = await this.#node.request(path, { signal: AbortSignal.timeout(10_000) });
      return response.ok ? ((await response.json()) as Listed) : undefined;
    } catch {
      return undefined;
    }
  }
}

function isAbsence(text: string, path: string): boolean {
  const { details } = JSON.parse(text) as { readonly details?: { readonly name?: string } };
  return details?.name !== undefined && path.endsWith(`/${details.name}`);
}
