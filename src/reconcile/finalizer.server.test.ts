import { defineController, watch } from "binnacle";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Json } from "../../tests/support/cluster.ts";
import {
  Behaviours,
  type Box,
  Box as BoxKind,
  boxController,
  BOXES,
  Lab,
  servers,
} from "../../tests/support/integration/lab.ts";
import { until } from "../../tests/support/until.ts";
import type { Result } from "./context.ts";

describe.each(servers)("finalizers on the %s server", (server) => {
  const behaviours = new Behaviours();
  const finalizing = new Map<string, (box: Box) => Promise<void | Result>>();
  const finalized: string[] = [];
  const first = boxController(behaviours, {
    async finalize(box) {
      const { name } = box.metadata as { name: string };
      finalized.push(`box ${name}`);
      return finalizing.get(name)?.(box);
    },
  });
  const second = boxController(new Behaviours(), {
    name: "second",
    async finalize(box) {
      const { name } = box.metadata as { name: string };
      finalized.push(`second ${name}`);
      return finalizing.get(`second ${name}`)?.(box);
    },
  });
  let lab: Lab;

  beforeAll(async () => {
    lab = await Lab.start(behaviours, [first, second], { server });
  }, 240_000);
  afterAll(async () => await lab?.[Symbol.asyncDispose]());

  const nothing = async (): Promise<void> => {};
  const remove = (name: string): Promise<Json> => lab.cluster.send("DELETE", `${BOXES}/${name}`);

  test("UTIL-04 are added before the first reconcile, run once deleted, and are removed", async () => {
    let seen: readonly string[] | undefined;
    await lab.box("plain", async (box) => void (seen = box.metadata.finalizers));
    expect(seen).toContain("lab.binnacle.dev/box");
    expect((await lab.get("plain")).metadata.finalizers!.toSorted()).toEqual([
      "lab.binnacle.dev/box",
      "lab.binnacle.dev/second",
    ]);
    const runs = behaviours.runs.get("plain");
    await remove("plain");
    await lab.cluster.gone(`${BOXES}/plain`);
    expect(finalized.filter((one) => one.endsWith(" plain")).toSorted()).toEqual(["box plain", "second plain"]);
    expect(behaviours.runs.get("plain")).toBe(runs); // a deleting object is never reconciled
  });

  test("UTIL-04 a failing one stays, is retried, and stops no other", async () => {
    let attempts = 0;
    finalizing.set("failing", async () => {
      if (++attempts < 3) throw new Error("not yet");
    });
    await lab.box("failing", nothing);
    await remove("failing");
    await lab.cluster.gone(`${BOXES}/failing`);
    expect(attempts).toBe(3);
    expect(finalized.filter((one) => one === "second failing")).toHaveLength(1);
  });

  /** The object's conditions of finalizers, as `type status reason`. */
  const told = ({ status }: Json): string[] =>
    (status?.conditions ?? []).map(({ type, status, reason }) => `${type} ${status} ${reason}`).toSorted();

  test("UTIL-04 a failing one is told by an Event and a condition, and wakes nobody past the back-off", async () => {
    let isFailing = true;
    const attempts = { first: 0, second: 0 };
    const failing = (name: "first" | "second") => async () => {
      attempts[name]++;
      if (isFailing) throw new Error(`no answer at ${performance.now()}`); // never the same words
    };
    finalizing.set("loud", failing("first"));
    finalizing.set("second loud", failing("second"));
    await lab.box("loud", nothing);
    await remove("loud");
    await Bun.sleep(1_500);
    // 20 ms doubled up to 200 ms: some 10 attempts, and a few for what the other controller writes.
    expect(attempts.first + attempts.second).toBeLessThan(40);
    const held = await lab.get("loud");
    expect(told(held)).toEqual([
      "lab.binnacle.dev/box-finalized False FinalizeFailed",
      "lab.binnacle.dev/second-finalized False FinalizeFailed",
    ]);
    expect(JSON.stringify(held.status)).toContain("no answer at");
    const written = lab.proxy.seen.filter(({ path, code }) => path === `${BOXES}/loud/status` && code === 200);
    expect(written.length).toBeLessThan(12);
    await lab.cluster.exists(
      "/apis/events.k8s.io/v1/namespaces/default/events?fieldSelector=reason=FinalizeFailed",
      ({ items }) => items!.length >= 2,
    );
    isFailing = false;
    await lab.cluster.gone(`${BOXES}/loud`);
  });

  test("`requeueAfter` from finalize keeps the finalizer", async () => {
    let attempts = 0;
    finalizing.set("waiting", async () => (++attempts < 3 ? { requeueAfter: "20ms" } : undefined));
    await lab.box("waiting", nothing);
    await remove("waiting");
    await lab.cluster.gone(`${BOXES}/waiting`);
    expect(attempts).toBe(3);
  });

  test("are not added to an object that is being deleted", async () => {
    const made = await lab.cluster.send("POST", BOXES, {
      body: {
        apiVersion: BoxKind.apiVersion,
        kind: "Box",
        metadata: { name: "leaving", finalizers: ["example.com/hold", "lab.binnacle.dev/second"] },
        spec: {},
      },
    });
    void made;
    await lab.operator.idle();
    await lab.restart([]);
    await lab.cluster.send("PATCH", `${BOXES}/leaving`, {
      body: { metadata: { finalizers: ["example.com/hold"] } },
      type: "application/merge-patch+json",
    });
    await remove("leaving");
    await lab.restart();
    await lab.operator.idle();
    expect((await lab.get("leaving")).metadata.finalizers).toEqual(["example.com/hold"]);
    expect(finalized.filter((one) => one.endsWith(" leaving"))).toEqual([]);
    await lab.cluster.patch(`${BOXES}/leaving`, { metadata: { finalizers: [] } });
    await lab.cluster.gone(`${BOXES}/leaving`);
  });

  test("an object that stops matching is finalized and released", async () => {
    const member = defineController({
      name: "member",
      for: watch(BoxKind, { match: (box) => box.metadata.labels?.["out"] === undefined }),
      async reconcile() {},
      async finalize(box) {
        finalized.push(`member ${box.metadata.name}`);
        if (finalized.filter((one) => one === `member ${box.metadata.name}`).length === 1) throw new Error("once");
      },
      retry: { first: "20ms" },
    });
    await lab.restart([first, member]);
    await lab.box("member", nothing);
    expect((await lab.get("member")).metadata.finalizers).toContain("lab.binnacle.dev/member");
    await lab.cluster.patch(`${BOXES}/member`, { metadata: { labels: { out: "yes" } } });
    const released = await lab.cluster.exists(
      `${BOXES}/member`,
      ({ metadata }) => !metadata.finalizers!.includes("lab.binnacle.dev/member"),
    );
    expect(released.metadata.deletionTimestamp).toBeUndefined();
    expect(finalized.filter((one) => one === "member member")).toHaveLength(2);
    expect(told(released)).toEqual(["lab.binnacle.dev/member-finalized True Finalized"]);
    await lab.restart();
  });

  test("`formerly` takes over the finalizer of an earlier name", async () => {
    await lab.box("moved", nothing);
    const renamed = boxController(behaviours, {
      name: "renamed",
      formerly: ["box"],
      async finalize(box) {
        finalized.push(`renamed ${box.metadata.name}`);
      },
    });
    await lab.restart([renamed, second]);
    await lab.cluster.exists(
      `${BOXES}/moved`,
      ({ metadata }) => metadata.finalizers!.toSorted().join() === "lab.binnacle.dev/renamed,lab.binnacle.dev/second",
    );
    await remove("moved");
    await lab.cluster.gone(`${BOXES}/moved`);
    expect(finalized).toContain("renamed moved");
    expect(finalized).not.toContain("box moved");
    await lab.restart();
  });

  test("those left behind by an earlier name are named in a warning, and those of other controllers are not", async () => {
    await lab.box("behind", nothing);
    await lab.restart([boxController(new Behaviours(), { name: "other" }), second]);
    const left = (): readonly unknown[] =>
      lab.operator
        .lines("warn")
        .filter(({ msg }) => msg.includes("no controller of this process"))
        .map(({ finalizer }) => finalizer);
    await until(() => left().length > 0, { what: "a warning" });
    expect(left()).toContain("lab.binnacle.dev/box");
    expect(left()).not.toContain("lab.binnacle.dev/second");
    await lab.restart();
    await remove("behind");
    await lab.cluster.gone(`${BOXES}/behind`);
  });

  test("are added and removed while others change the object", async () => {
    const stop = new AbortController();
    const path = `${BOXES}/busy`;
    const busy = async (): Promise<void> => {
      for (let turn = 0; !stop.signal.aborted; turn++) {
        await lab.cluster.patch(path, { metadata: { annotations: { turn: String(turn) } } }).catch(() => {});
        await Bun.sleep(1); // the embedded server answers without waiting for anything
      }
    };
    await lab.cluster.send("POST", BOXES, {
      body: { apiVersion: BoxKind.apiVersion, kind: "Box", metadata: { name: "busy" }, spec: {} },
    });
    const changing = busy();
    await lab.cluster.exists(path, ({ metadata }) => metadata.finalizers?.length === 2);
    await remove("busy");
    await lab.cluster.gone(path);
    stop.abort();
    await changing;
    const refused = lab.proxy.seen.filter(({ code, path }) => code === 409 && !path.endsWith("/status"));
    expect(refused).toHaveLength(0);
    expect(lab.operator.lines("error").filter(({ key }) => key === "default/busy")).toEqual([]);
  });

  test("UTIL-05 an object that is gone runs nothing", async () => {
    await lab.restart([boxController(behaviours)]);
    await lab.box("gone", async () => ({ requeueAfter: "100ms" }));
    await remove("gone");
    await lab.cluster.gone(`${BOXES}/gone`);
    await lab.operator.idle();
    const runs = behaviours.runs.get("gone");
    await Bun.sleep(250);
    expect(behaviours.runs.get("gone")).toBe(runs);
    expect(lab.operator.lines("error")).toEqual([]);
    await until(() => lab.operator.manager.modules.controllers[0]!.queue.delayed === 0, { what: "no key that waits" });
  });
});
