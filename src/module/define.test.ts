import { describe, expect, test } from "bun:test";
import { ConfigMap, Deployment, Namespace, Secret } from "../resource/builtin/index.ts";
import { allow } from "../controller/definition.ts";
import { changed } from "../controller/predicate.ts";
import { source } from "../controller/source.ts";
import { watch } from "../controller/watch.ts";
import { asDefinition } from "./brand.ts";
import { defineController, defineKeyController, definePlugin } from "./define.ts";

const reconcile = async (): Promise<void> => {};

/** Calls the function as a module in JavaScript could. */
const loose = defineController as (options: unknown) => unknown;
const looseKey = defineKeyController as (options: unknown) => unknown;
const loosePlugin = definePlugin as (options: unknown) => unknown;

describe("defineController", () => {
  test("returns a frozen, branded value", () => {
    const definition = defineController({ for: Deployment, owns: [ConfigMap], reconcile });
    expect(Object.isFrozen(definition)).toBe(true);
    expect(asDefinition(definition)).toMatchObject({ type: "controller", controller: { for: Deployment } });
  });

  test("takes every option", () => {
    defineController({
      name: "a.b-c",
      formerly: ["old"],
      for: watch(Secret, { labels: "a=b", match: () => true, on: changed.annotations }),
      owns: [Deployment, watch(ConfigMap, { track: "label" })],
      reads: [Secret],
      watches: [watch(ConfigMap, { enqueue: () => [] }), source.every("30s")],
      uses: [allow(Secret, "create")],
      concurrency: 2,
      timeout: "1m30s",
      retry: { first: 10, max: "1m", limit: Infinity },
      every: ({ metadata }) => (metadata.labels?.["often"] === undefined ? undefined : "1m"),
      daemons: {
        async plain(secret, { signal, latest, enqueue }) {
          if (!signal.aborted && latest().type !== secret.type) enqueue("another type");
        },
        full: {
          async run() {},
          when: ({ type }) => type === "Opaque",
          restartOn: changed.labels,
          concurrency: 5,
          retry: { first: "1s", max: "1m" },
        },
      },
      reconcile,
      async finalize() {},
    });
  });

  const wrong: readonly [string, unknown, string][] = [
    ["no options", undefined, "Cannot call defineController: expected an object of options"],
    [
      "no kind",
      { reconcile },
      "Cannot define a controller: option 'for' is missing: name the kind it reconciles, or use defineKeyController",
    ],
    ["no reconcile", { for: Deployment }, "Cannot define controller 'deployment': option 'reconcile' is missing"],
    ["a wrong interval", { for: Deployment, every: "often", reconcile }, "option 'every': expected milliseconds or a"],
    [
      "a daemon that is none",
      { for: Deployment, daemons: { a: { when: () => true } }, reconcile },
      "option 'daemons': field 'a': field 'run' is missing",
    ],
    [
      "a daemon with a name that fits no label",
      { for: Deployment, daemons: { "a b": reconcile }, reconcile },
      "option 'daemons': field 'a b': expected a name of letters, digits and '-', such as 'monitor'",
    ],
    [
      "a wrong way to divide",
      { for: Deployment, shardBy: "name", reconcile },
      "option 'shardBy': expected 'uid', 'namespace' or { label, values }, got \"name\"",
    ],
    [
      "a label without values",
      { for: Deployment, shardBy: { label: "cell" }, reconcile },
      "option 'shardBy': field 'values' is missing",
    ],
    [
      "a label with a wrong value",
      { for: Deployment, shardBy: { label: "cell", values: ["a b"] }, reconcile },
      "option 'shardBy': field 'values': expected values of a label, such as 'blue', got 'a b'",
    ],
    [
      "namespaces of a kind without",
      { for: Namespace, shardBy: "namespace", reconcile },
      "option 'shardBy': Namespace has no namespaces; leave it out, or use a label",
    ],
    [
      "an unknown option",
      { for: Deployment, reconcile, reconsile: 1 },
      "unknown option 'reconsile', did you mean 'reconcile'?",
    ],
    [
      "a duration",
      { for: Deployment, reconcile, timeout: "2 minutes" },
      "option 'timeout': expected milliseconds or a duration such as '500ms', '30s', '1m30s', got '2 minutes'",
    ],
    [
      "no time",
      { for: Deployment, reconcile, timeout: 0 },
      "option 'timeout': expected a duration of more than 0, got 0",
    ],
    [
      "a name",
      { name: "My Controller", for: Deployment, reconcile },
      "option 'name': expected a name of at most 63 characters",
    ],
    [
      "a concurrency",
      { for: Deployment, reconcile, concurrency: 0 },
      "option 'concurrency': expected a whole number of at least 1, got 0",
    ],
    [
      "a retry",
      { for: Deployment, reconcile, retry: { limits: 3 } },
      "option 'retry': unknown field 'limits', did you mean 'limit'?",
    ],
    [
      "an import that is undefined",
      { for: Deployment, owns: [ConfigMap, undefined], reconcile },
      "option 'owns': entry 1: expected a kind such as Deployment",
    ],
    [
      "a kind as text",
      { for: "Deployment", reconcile },
      "option 'for': expected a kind such as Deployment, or watch(Deployment, { … }), got 'Deployment'",
    ],
    [
      "a mapped watch as kind",
      { for: watch(ConfigMap, { enqueue: () => [] }), reconcile },
      "option 'for': a watch with 'enqueue' belongs into 'watches'",
    ],
    [
      "a watch that maps nothing",
      { for: Deployment, watches: [ConfigMap], reconcile },
      "option 'watches': entry 0: ConfigMap needs 'enqueue'",
    ],
    ["a permission", { for: Deployment, uses: [Secret], reconcile }, "option 'uses': entry 0: expected allow(kind"],
    [
      "bind of what is no role",
      { for: Deployment, uses: [allow(Secret, "bind")], reconcile },
      "only a Role or a ClusterRole",
    ],
    [
      "a name to create",
      { for: Deployment, uses: [allow(Secret, "create", { names: ["a"] })], reconcile },
      "RBAC cannot narrow it to names",
    ],
    ["no names", { for: Deployment, uses: [allow(Secret, "get", { names: [] })], reconcile }, "has no names"],
  ];
  test.each(wrong)("refuses %s, with a message that says what", (_, options, message) => {
    expect(() => loose(options)).toThrow(message);
  });
});

describe("defineKeyController", () => {
  test("needs a name and takes no object", () => {
    expect(() => looseKey({ reconcile })).toThrow("Cannot define a key controller: option 'name' is missing");
    expect(() => looseKey({ name: "dns", owns: [], reconcile })).toThrow(
      "Cannot define key controller 'dns': unknown option 'owns': it needs an object: use defineController",
    );
    expect(asDefinition(defineKeyController({ name: "dns", reconcile }))?.type).toBe("key-controller");
  });
});

describe("definePlugin", () => {
  test("needs a name and setup", () => {
    expect(() => loosePlugin({ name: "x" })).toThrow("Cannot define plugin 'x': option 'setup' is missing");
    expect(asDefinition(definePlugin({ name: "x", setup() {} }))?.type).toBe("plugin");
  });
});
