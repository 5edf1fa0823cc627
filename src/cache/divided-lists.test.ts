import { expect, test } from "bun:test";
import { sendJson, sendStatus, startLoopback } from "../../tests/support/loopback-server.ts";
import { RestMapper } from "../kube/api/mapper.ts";
import { createTransport } from "../kube/transport/transport.ts";
import { ConfigMap } from "../resource/builtin/index.ts";
import type { AnyObject } from "../resource/handle.ts";
import type { Portion } from "./portion.ts";
import { SharedInformer } from "./shared-informer.ts";

const discovery = {
  kind: "APIResourceList",
  apiVersion: "v1",
  groupVersion: "v1",
  resources: [
    { name: "configmaps", singularName: "configmap", namespaced: true, kind: "ConfigMap", verbs: ["list", "watch"] },
  ],
};

/** A portion that may be changed, of the objects whose names begin with `a`, or of those with `a` or `b`. */
class Letters implements Portion {
  readonly id: string = "letters";
  readonly labels: undefined = undefined;
  letters: string;
  #told: (isMore: boolean) => void = () => {};

  constructor(letters: string) {
    this.letters = letters;
  }

  get isEmpty(): boolean {
    return this.letters === "";
  }

  get shardSelector(): string | undefined {
    return this.letters === "" ? undefined : `letters ${this.letters}`;
  }

  has({ metadata }: AnyObject): boolean {
    return this.letters.includes(metadata.name[0]!);
  }

  hasAll(): boolean {
    return false;
  }

  onChange(told: (isMore: boolean) => void): Disposable {
    this.#told = told;
    return { [Symbol.dispose]: () => {} };
  }

  change(letters: string, isMore: boolean): void {
    this.letters = letters;
    this.#told(isMore);
  }
}

type Server = "divides" | "ignores" | "refuses";

async function setUp(kind: Server, letters: string) {
  const asked: string[] = [];
  const server = await startLoopback((request, reply) => {
    if (request.path === "/api/v1") return sendJson(reply, discovery);
    const shards = request.query.get("shardSelector");
    const isWatch = request.query.get("watch") === "true";
    asked.push(
      `${isWatch ? "watch" : "list"} ${shards ?? "all"}${request.query.get("limit") === "1" ? " of one" : ""}`,
    );
    if (shards !== null && kind === "refuses") {
      return sendStatus(reply, 500, { reason: "InternalError", message: "invalid shard selector: no" });
    }
    if (isWatch) {
      reply.writeHead(200, { "content-type": "application/json" });
      return reply.flushHeaders?.();
    }
    const names = ["a1", "a2", "b1", "c1"].filter(
      (name) => shards === null || kind === "ignores" || shards.includes(name[0]!),
    );
    const items = names.map((name) => ({ metadata: { name, namespace: "n", uid: name, resourceVersion: "1" } }));
    return sendJson(reply, { kind: "ConfigMapList", apiVersion: "v1", metadata: { resourceVersion: "5" }, items });
  });
  const transport = createTransport(server.config);
  const portion = new Letters(letters);
  const informer = new SharedInformer(ConfigMap, { transport, mapper: new RestMapper(transport), portion });
  const left: string[] = [];
  informer.addHandler(
    {
      onAdd: () => {},
      onUpdate: () => {},
      onDelete: ({ metadata }, { isElsewhere }) => left.push(`${metadata.name} ${isElsewhere}`),
    },
    { name: "test" },
  );
  informer.start();
  await informer.synced(AbortSignal.timeout(5_000));
  const reached = async (last: string): Promise<string[]> => {
    const deadline = performance.now() + 5_000;
    while (asked.at(-1) !== last && performance.now() < deadline) await Bun.sleep(2);
    return asked.splice(0);
  };
  return {
    portion,
    informer,
    left,
    reached,
    names: () => [...informer.store.values()].map(({ metadata }) => metadata.name),
    async [Symbol.asyncDispose]() {
      await informer.stop();
      await transport.close();
      await server[Symbol.asyncDispose]();
    },
  };
}

test("SharedInformer asks a server that divides collections for its portion alone, in lists and watches", async () => {
  await using world = await setUp("divides", "a");
  expect(await world.reached("watch letters a")).toEqual(["list letters a", "watch letters a"]);
  expect(world.names()).toEqual(["a1", "a2"]);
  expect(world.informer.seesAll("n")).toBe(false);

  const { hasSynced } = (world.portion.change("ab", true), world.informer.claim());
  expect(hasSynced()).toBe(false);
  expect(await world.reached("watch letters ab")).toEqual(["list letters ab", "watch letters ab"]);
  expect(hasSynced()).toBe(true);
  expect(world.names()).toEqual(["a1", "a2", "b1"]);

  world.portion.change("b", false);
  expect(world.names()).toEqual(["b1"]);
  expect(world.left).toEqual(["a1 true", "a2 true"]);
  expect(await world.reached("watch letters b")).toEqual(["watch letters b"]);
});

test("SharedInformer asks a server that shows more than its portion no more for it, and keeps no more", async () => {
  await using world = await setUp("ignores", "a");
  expect(await world.reached("watch all")).toEqual(["list letters a", "watch all"]);
  expect(world.names()).toEqual(["a1", "a2"]);
  world.portion.change("abc", true);
  expect(await world.reached("watch all")).toEqual(["list all", "watch all"]);
  expect(world.names()).toEqual(["a1", "a2", "b1", "c1"]);
});

test("SharedInformer lists all where the server refuses to divide", async () => {
  await using world = await setUp("refuses", "b");
  expect(await world.reached("watch all")).toEqual(["list letters b", "list all", "watch all"]);
  expect(world.names()).toEqual(["b1"]);
});

test("SharedInformer of an empty portion looks only whether it could list", async () => {
  await using world = await setUp("divides", "");
  expect(await world.reached("list all of one")).toEqual(["list all of one"]);
  expect(world.names()).toEqual([]);
  // Nothing is watched, so that nothing can be stalled.
  expect(world.informer.lastEventAt).toBeUndefined();
  world.portion.change("c", true);
  expect(await world.reached("watch letters c")).toEqual(["list letters c", "watch letters c"]);
  expect(world.names()).toEqual(["c1"]);
  expect(world.informer.lastEventAt).toBeNumber();
});
