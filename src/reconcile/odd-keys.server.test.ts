import { conditions, defineController, defineResource, of, z } from "binnacle";
import { ConfigMap, Secret } from "binnacle/resources";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { Behaviours, Lab, servers } from "../../tests/support/integration/lab.ts";

/** Names that every object of JavaScript seems to have. */
const NAMES = ["constructor", "toString", "__proto__", "hasOwnProperty", "valueOf"];
/** The API server refuses `__proto__` as a label. */
const LABELS = NAMES.filter((name) => /^\w.*\w$/.test(name) && !name.startsWith("_"));

/** The order of the children; a literal would be typed as if it had the `constructor` of every object. */
const AFTER = JSON.parse('{"secret":["constructor"]}') as {
  readonly constructor: readonly never[];
  readonly secret: readonly "constructor"[];
};

const Odd = defineResource({
  group: "odd.binnacle.dev",
  version: "v1",
  kind: "Odd",
  spec: z.object({ turn: z.int().default(0) }),
  status: z.object({ seen: z.record(z.string(), z.string()).optional(), conditions: conditions("Ready") }),
});
const ODDS = "/apis/odd.binnacle.dev/v1/namespaces/default/odds";
const CORE = "/api/v1/namespaces/default";

const entries = (map: object): unknown[] => Object.entries(map).toSorted(([one], [other]) => (one < other ? -1 : 1));
const allOf = (names: readonly string[], value: string): Record<string, string> =>
  Object.fromEntries(names.map((name) => [name, value]));

describe.each(servers)("entries of maps named like members of every object, on the %s server", (server) => {
  let wanted: (names: readonly string[]) => Record<string, string> = () => ({});
  const controller = defineController({
    name: "odd",
    for: Odd,
    owns: [ConfigMap, Secret],
    async reconcile({ metadata: { name } }, { children, status }) {
      const metadata = { name, labels: wanted(LABELS), annotations: wanted(LABELS) };
      const all = {
        constructor: of(ConfigMap, { metadata: { name: `${name}-too` } }),
        map: of(ConfigMap, { metadata, data: wanted(NAMES) }),
        secret: of(Secret, { metadata: { name }, stringData: wanted(NAMES) }),
      };
      await children.sync(all, { after: AFTER });
      status.set({ seen: wanted(NAMES) });
    },
  });
  let lab: Lab;
  beforeAll(async () => {
    lab = await Lab.start(new Behaviours(), [Odd, controller], { server });
    await lab.cluster.send("POST", ODDS, {
      body: { apiVersion: Odd.apiVersion, kind: "Odd", metadata: { name: "a" }, spec: {} },
    });
  }, 240_000);
  afterAll(async () => await lab?.[Symbol.asyncDispose]());

  let turn = 0;
  const reconciled = async (): Promise<void> => {
    await lab.cluster.patch(`${ODDS}/a`, { spec: { turn: ++turn } });
    await lab.cluster.exists(`${ODDS}/a`, ({ metadata: { generation } }) => generation! > turn);
    await lab.operator.idle();
    expect(lab.operator.lines("warn")).toEqual([]);
  };
  const seen = async () => {
    const [map, secret, odd] = await Promise.all([
      lab.cluster.exists(`${CORE}/configmaps/a`),
      lab.cluster.exists(`${CORE}/secrets/a`),
      lab.cluster.exists(`${ODDS}/a`),
    ]);
    const { labels = {}, annotations = {} } = map.metadata as {
      annotations?: Record<string, string>;
    } & typeof map.metadata;
    const own = Object.entries(annotations).filter(([name]) => !name.includes("/"));
    const decoded = Object.entries(secret.data ?? {}).map(([name, value]) => [name, atob(value)]);
    const parts = [
      labels,
      Object.fromEntries(own),
      map.data ?? {},
      Object.fromEntries(decoded),
      odd.status?.["seen"] ?? {},
    ];
    return parts.map((part) => entries(part as object));
  };
  const expected = (labels: object, names: object) =>
    [labels, labels, names, names, names].map((part) => entries(part));

  test("are added, changed and removed like any other", async () => {
    for (const value of ["one", "two", undefined, "three"]) {
      wanted = (names) => (value === undefined ? {} : allOf(names, value));
      await reconciled();
      expect(await seen()).toEqual(expected(wanted(LABELS), wanted(NAMES)));
    }
    for (const gone of NAMES) {
      wanted = (names) =>
        allOf(
          names.filter((name) => name !== gone),
          "four",
        );
      await reconciled();
      expect(await seen()).toEqual(expected(wanted(LABELS), wanted(NAMES)));
    }
  });

  test("cost no request when nothing differs, also after a restart", async () => {
    wanted = (names) => allOf(names, "same");
    await reconciled();
    const writes = lab.proxy.writes.length;
    await lab.restart();
    expect(lab.proxy.writes.slice(writes).filter((write) => !write.includes("/customresourcedefinitions/"))).toEqual(
      [],
    );
  });

  test("are restored when others change or remove them", async () => {
    wanted = (names) => allOf(names, "ours");
    await reconciled();
    for (const value of ["theirs", null]) {
      const patch = JSON.parse(`{${NAMES.map((name) => `"${name}":${JSON.stringify(value)}`).join()}}`) as object;
      await lab.cluster.patch(`${CORE}/configmaps/a`, { data: patch });
      await lab.operator.idle();
      expect((await seen())[2]).toEqual(entries(wanted(NAMES)));
    }
  });

  test("of others stay", async () => {
    wanted = () => ({ mine: "yes" });
    await reconciled();
    const theirs = JSON.parse(`{${NAMES.map((name) => `"${name}":"theirs"`).join()}}`) as object;
    await lab.cluster.patch(`${CORE}/configmaps/a`, { data: theirs });
    wanted = () => ({ mine: "no" });
    await reconciled();
    expect((await seen())[2]).toEqual(entries({ ...allOf(NAMES, "theirs"), mine: "no" }));
  });
});
