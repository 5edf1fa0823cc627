import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { Behaviours, Box, boxController, BOXES, Lab, servers } from "../../tests/support/integration/lab.ts";

const STATUS = "application/merge-patch+json";

describe.each(servers)("status on the %s server", (server) => {
  const behaviours = new Behaviours();
  let lab: Lab;

  beforeAll(async () => {
    lab = await Lab.start(behaviours, [boxController(behaviours)], { server });
  }, 240_000);
  afterAll(async () => await lab?.[Symbol.asyncDispose]());

  /** Writes to the status as another manager. */
  const theirs = (name: string, status: object): Promise<unknown> =>
    lab.cluster.send("PATCH", `${BOXES}/${name}/status?fieldManager=theirs`, { body: { status }, type: STATUS });
  /** The writes of the controller to the status since, as `METHOD code`. */
  const written = (name: string, from: number): readonly string[] =>
    lab.proxy.seen
      .slice(from)
      .filter(({ method, path, query }) => {
        return method !== "GET" && path === `${BOXES}/${name}/status` && query.get("fieldManager") === "box";
      })
      .map(({ method, code }) => `${method} ${code}`);
  const writes = (name: string): number => lab.writes(name).filter((write) => write.endsWith("/status")).length;

  test("is merged over what was written before, and `undefined` removes", async () => {
    await lab.box("merge", async (_, { status }) => status.set({ note: "a", part: { a: "1" } }));
    await lab.turn("merge", async (box, { status }) => status.set({ turn: box.spec.turn }));
    expect((await lab.get("merge")).status).toMatchObject({
      note: "a",
      part: { a: "1" },
      turn: 1,
      observedGeneration: 2,
    });
    await lab.turn("merge", async (_, { status }) => status.set({ note: undefined }));
    expect((await lab.get("merge")).status).toEqual({ part: { a: "1" }, turn: 1, observedGeneration: 3 });
  });

  test("is merged over what was written before a restart", async () => {
    await lab.box("again", async (_, { status }) => {
      status.set({ note: "a" });
      status.condition({ type: "Ready", status: true, reason: "Yes" });
    });
    behaviours.set("again", async (_, { status }) => status.set({ turn: 7 }));
    await lab.restart();
    const { status } = await lab.get("again");
    expect(status).toMatchObject({ note: "a", turn: 7, conditions: [{ type: "Ready", status: "True" }] });
  });

  test("is written once for a run, and not at all when nothing differs", async () => {
    const reconcile: Parameters<typeof lab.box>[1] = async (_, { status }) => {
      status.set({ note: "a" });
      status.set({ part: { b: "2" } });
      status.condition({ type: "Ready", status: false, reason: "No" });
      status.condition({ type: "Degraded", status: "Unknown", reason: "Why" });
    };
    await lab.box("once", reconcile);
    expect(writes("once")).toBe(1);
    expect(behaviours.runs.get("once")).toBe(1);
    await lab.cluster.patch(`${BOXES}/once`, { metadata: { labels: { a: "b" } } });
    await lab.cluster.exists(`${BOXES}/once`, () => behaviours.runs.get("once") === 2);
    await lab.operator.idle();
    expect(writes("once")).toBe(1);
    await lab.restart();
    expect(behaviours.runs.get("once")).toBe(3);
    expect(writes("once")).toBe(1);
  });

  test("keeps conditions that are not mentioned, and the time of those that did not change", async () => {
    await lab.box("conditions", async (_, { status }) => {
      status.condition({ type: "Ready", status: true, reason: "A" });
      status.condition({ type: "Degraded", status: false, reason: "A" });
    });
    const before = (await lab.get("conditions")).status!.conditions!;
    await Bun.sleep(1_100); // times have seconds
    await lab.turn("conditions", async (_, { status }) => {
      status.condition({ type: "Ready", status: true, reason: "B", message: "m" });
    });
    const after = (await lab.get("conditions")).status!.conditions!;
    const ready = after.find(({ type }) => type === "Ready");
    expect(ready).toMatchObject({ reason: "B", message: "m", observedGeneration: 2 });
    expect(ready).toHaveProperty(
      "lastTransitionTime",
      before.find(({ type }) => type === "Ready")!["lastTransitionTime" as never],
    );
    expect(after.find(({ type }) => type === "Degraded")).toEqual(before.find(({ type }) => type === "Degraded"));
    await lab.turn("conditions", async (_, { status }) => {
      status.condition({ type: "Ready", status: false, reason: "B" });
    });
    const last = (await lab.get("conditions")).status!.conditions!;
    expect(last.find(({ type }) => type === "Ready")).not.toHaveProperty(
      "lastTransitionTime",
      ready!["lastTransitionTime" as never],
    );
  });

  test("loses nothing when the run throws, early or late", async () => {
    await lab.box("early", async (_, { status }) => {
      status.set({ note: "kept", part: { a: "1" } });
      status.condition({ type: "Ready", status: true, reason: "A" });
    });
    await lab.turn("early", async () => {
      throw new Error("before any status");
    });
    expect((await lab.get("early")).status).toMatchObject({
      note: "kept",
      part: { a: "1" },
      conditions: [{ type: "Ready" }],
    });
    await lab.turn("early", async (_, { status }) => {
      status.condition({ type: "Degraded", status: true, reason: "Failing" });
      throw new Error("after some status");
    });
    const { status } = await lab.get("early");
    expect(status).toMatchObject({ note: "kept", part: { a: "1" } });
    expect(status!.conditions!.map(({ type }) => type).sort()).toEqual(["Degraded", "Ready"]);
  });

  test("two writers of one status leave each other's fields alone", async () => {
    const reconcile: Parameters<typeof lab.box>[1] = async (box, { status }) => {
      status.set({ turn: box.spec.turn, part: { a: "ours" } });
      status.condition({ type: "Ready", status: true, reason: "A" });
    };
    await lab.box("shared", reconcile);
    const now = { lastTransitionTime: "2026-01-01T00:00:00Z", message: "" };
    const { status } = await lab.get("shared");
    const degraded = { type: "Degraded", status: "True", reason: "T", ...now };
    await theirs("shared", { note: "theirs", part: { b: "theirs" }, conditions: [...status!.conditions!, degraded] });
    await lab.operator.idle();
    const settled = writes("shared");
    await Bun.sleep(300);
    expect(writes("shared")).toBe(settled);
    await lab.turn("shared");
    const both = (await lab.get("shared")).status!;
    expect(both).toMatchObject({ turn: 1, note: "theirs", part: { a: "ours", b: "theirs" } });
    expect(both.conditions!.map(({ type }) => type).sort()).toEqual(["Degraded", "Ready"]);
  });

  test("two controllers of one status leave each other's fields alone", async () => {
    const other = new Behaviours();
    await lab.restart([boxController(behaviours), boxController(other, { name: "other" })]);
    other.set("two", async (box, { status }) => {
      status.set({ note: `other ${box.spec.turn}` });
      status.condition({ type: "Degraded", status: false, reason: "B" });
    });
    await lab.box("two", async (box, { status }) => {
      status.set({ turn: box.spec.turn });
      status.condition({ type: "Ready", status: true, reason: "A" });
    });
    await lab.turn("two");
    const { status } = await lab.get("two");
    expect(status).toMatchObject({ note: "other 1", turn: 1, observedGeneration: 2 });
    expect(status!.conditions!.map(({ type }) => type).sort()).toEqual(["Degraded", "Ready"]);
    const settled = writes("two");
    await Bun.sleep(300);
    expect(writes("two")).toBe(settled);
    await lab.restart();
  });

  test("sets back what somebody else changed of it", async () => {
    await lab.box("back", async (_, { status }) => status.set({ note: "ours" }));
    await theirs("back", { note: "theirs" });
    await lab.cluster.exists(`${BOXES}/back`, ({ status }) => status?.["note"] === "ours");
  });

  test("keeps what others wrote to the object while the run saw an older one, without an error", async () => {
    await lab.box("meanwhile", async () => {});
    const from = lab.proxy.seen.length;
    await lab.turn("meanwhile", async (box, { status }) => {
      lab.proxy.delay = 1_000; // the run sees nothing of what follows
      await lab.cluster.patch(`${BOXES}/meanwhile`, { metadata: { labels: { theirs: "yes" } } });
      const degraded = { type: "Degraded", status: "True", reason: "T", message: "" };
      const conditions = [{ ...degraded, lastTransitionTime: "2026-01-01T00:00:00Z" }];
      await theirs("meanwhile", { note: "theirs", part: { b: "theirs" }, conditions });
      status.set({ turn: box.spec.turn, part: { a: "ours" } });
      status.condition({ type: "Ready", status: true, reason: "A" });
      await status.flush();
      lab.proxy.delay = 0;
    });
    expect(behaviours.failure("meanwhile")).toBe("");
    expect(written("meanwhile", from).filter((write) => /409|422/.test(write))).toHaveLength(1);
    const { metadata, status } = await lab.get("meanwhile");
    expect(metadata.labels).toEqual({ theirs: "yes" });
    expect(status).toMatchObject({ turn: 1, note: "theirs", part: { a: "ours", b: "theirs" }, observedGeneration: 2 });
    expect(status!.conditions!.map(({ type }) => type).sort()).toEqual(["Degraded", "Ready"]);
  });

  /** Changes the object's labels, of which the process does not hear before it has written its status. */
  async function relabelled(name: string, write: () => Promise<void>): Promise<void> {
    lab.proxy.delay = 1_000;
    await lab.cluster.patch(`${BOXES}/${name}`, { metadata: { labels: { turn: String(performance.now()) } } });
    await write();
    lab.proxy.delay = 0;
  }

  test("of a new object is not refused where its creator has changed it since", async () => {
    const from = lab.proxy.seen.length;
    await lab.box("fresh", async (_, { status }) => {
      behaviours.set("fresh", async () => {});
      await relabelled("fresh", async () => {
        status.set({ note: "a" });
        await status.flush();
      });
    });
    expect(written("fresh", from)).toEqual(["PATCH 200"]);
    expect((await lab.get("fresh")).status).toEqual({ note: "a", observedGeneration: 1 });
  });

  test("is not refused again and again where the watch is late", async () => {
    await lab.restart();
    await lab.box("late", async (_, { status }) => status.set({ note: "a" }));
    const sent: string[][] = [];
    for (const note of ["b", "c"]) {
      const from = lab.proxy.seen.length;
      await lab.turn("late", async (_, { status }) => {
        behaviours.set("late", async () => {});
        await relabelled("late", async () => {
          status.set({ note });
          await status.flush();
        });
      });
      await lab.operator.idle();
      sent.push([...written("late", from)]);
      expect((await lab.get("late")).status).toMatchObject({ note });
    }
    expect(sent).toEqual([["PUT 409", "PUT 200"], ["PATCH 200"]]);
  });

  test("is refused where a new object has a field that the kind does not have", async () => {
    await lab.box("unknown", async (_, { status }) => status.set({ nothing: "a" } as object));
    expect(behaviours.failure("unknown")).toBe(""); // the status is written after the run
    expect(JSON.stringify(lab.operator.lines("error"))).toContain("nothing");
    expect((await lab.get("unknown")).status).toBeUndefined();
    behaviours.set("unknown", async () => {});
  });

  test("is written at last where others change the object all the time", async () => {
    await lab.restart();
    await lab.box("crowded", async (_, { status }) => {
      status.set({ note: "a" });
      status.condition({ type: "Ready", status: true, reason: "A" });
    });
    let turn = 0;
    const overtake = async (): Promise<void> => {
      const degraded = { type: "Degraded", status: "True", reason: "T", message: String(turn) };
      const { status } = await lab.get("crowded");
      const [ready] = status!.conditions!;
      const conditions = [ready, { ...degraded, lastTransitionTime: "2026-01-01T00:00:00Z" }];
      await theirs("crowded", { turn: ++turn, conditions });
    };
    const own = ({ method, path }: { readonly method: string; readonly path: string }): boolean =>
      method === "PUT" && path === `${BOXES}/crowded/status`;
    lab.proxy.before = async (request) => {
      if (own(request)) await overtake();
    };
    await lab.turn("crowded", async (_, { status }) => {
      status.set({ note: "b", part: { a: "ours" } });
      status.condition({ type: "Ready", status: false, reason: "B" });
    });
    lab.proxy.before = async () => {};
    expect(behaviours.failure("crowded")).toBe("");
    const { status } = await lab.get("crowded");
    expect(status).toMatchObject({ note: "b", turn: 2, part: { a: "ours" }, observedGeneration: 2 });
    expect(status!.conditions).toMatchObject([
      { type: "Ready", status: "False", reason: "B" },
      { type: "Degraded", message: "1" },
    ]);
  });

  test("removes of what it wrote only what nobody else applied too", async () => {
    await lab.box("both", async (_, { status }) => status.set({ note: "same", part: { a: "1", b: "2" } }));
    const applied = { apiVersion: Box.apiVersion, kind: "Box", metadata: { name: "both" }, status: { note: "same" } };
    const type = "application/apply-patch+yaml";
    await lab.cluster.send("PATCH", `${BOXES}/both/status?fieldManager=theirs`, { body: applied, type });
    await lab.turn("both", async (_, { status }) => status.set({ note: undefined, part: { a: "1" } }));
    expect((await lab.get("both")).status).toEqual({ note: "same", part: { a: "1" }, observedGeneration: 2 });
  });

  test("goes on from what an earlier release applied", async () => {
    behaviours.set("applied", async () => {});
    const type = "application/apply-patch+yaml";
    await lab.box("applied", async () => {});
    const body = { apiVersion: Box.apiVersion, kind: "Box", metadata: { name: "applied" } };
    const status = { note: "old", turn: 1, part: { a: "1" } };
    const path = `${BOXES}/applied/status?fieldManager=box&force=true`;
    await lab.cluster.send("PATCH", path, { body: { ...body, status }, type });
    await lab.turn("applied", async (_, { status }) => status.set({ note: undefined, turn: 2 }));
    expect((await lab.get("applied")).status).toEqual({ turn: 2, part: { a: "1" }, observedGeneration: 2 });
  });

  test("`formerly` takes over the fields of an earlier name, and without it they stay", async () => {
    await lab.box("renamed", async (_, { status }) => status.set({ note: "old", turn: 1 }));
    behaviours.set("renamed", async (_, { status }) => status.set({ note: undefined, turn: 2 }));
    await lab.restart([boxController(behaviours, { name: "new", formerly: ["box"] })]);
    expect((await lab.get("renamed")).status).toEqual({ turn: 2, observedGeneration: 1 });
    const managers = (await lab.get("renamed")).metadata as unknown as { managedFields: { manager: string }[] };
    expect(managers.managedFields.map(({ manager }) => manager)).not.toContain("box");
    behaviours.set("renamed", async (_, { status }) => status.set({ note: "third" }));
    await lab.restart([boxController(behaviours, { name: "third" })]);
    expect((await lab.get("renamed")).status).toMatchObject({ note: "third", turn: 2 });
    await lab.restart();
  });

  test("`flush` writes at once", async () => {
    let during: unknown;
    await lab.box("flush", async (box, { status, client }) => {
      status.set({ note: "now" });
      await status.flush();
      during = (await client.live.get(Box, box.metadata)).status?.note;
      status.set({ turn: 3 });
    });
    expect(during).toBe("now");
    expect((await lab.get("flush")).status).toMatchObject({ note: "now", turn: 3 });
    expect(writes("flush")).toBe(2);
  });

  test("an update of the object leaves other managers their fields", async () => {
    const box = { apiVersion: Box.apiVersion, kind: Box.kind, metadata: { name: "theirs" }, spec: { turn: 1 } };
    behaviours.set("theirs", async ({ metadata: { name, namespace } }, { client, status }) => {
      status.set({ note: "a" }); // the informer keeps this controller's own fields
      await status.flush();
      await client.edit(Box, { name, namespace }, (draft) => {
        draft.metadata.labels = { seen: "yes" };
      });
    });
    const type = "application/apply-patch+yaml";
    await lab.cluster.send("PATCH", `${BOXES}/theirs?fieldManager=theirs`, { body: box, type });
    await lab.cluster.exists(`${BOXES}/theirs`, ({ metadata }) => metadata.labels?.["seen"] === "yes");
    const { metadata } = (await lab.cluster.get(`${BOXES}/theirs`)) as unknown as Box;
    expect(metadata.managedFields?.map(({ manager, operation }) => `${manager} ${operation}`).sort()).toEqual([
      "box Update", // the label
      "box Update", // the status
      "theirs Apply",
    ]);
  });
});
