import { describe, expect, test } from "bun:test";
import * as fc from "fast-check";
import { z } from "zod";
import { createLog } from "../../observe/log.ts";
import { createMetrics } from "../../observe/metrics.ts";
import { defineResource, definitionOf } from "../../resource/define.ts";
import type { Resource } from "../../resource/handle.ts";
import { ConversionEndpoint } from "./conversion-endpoint.ts";
import { answerReview } from "./conversion-review.ts";

const group = "demo.example.com";
const notes = "demo.example.com/notes";

/** v2 is the hub; v1 has one field in place of two, and v3 another name. */
const Widget = defineResource({
  group,
  kind: "Widget",
  versions: {
    v1: {
      spec: z.object({ size: z.string() }),
      toHub: ({ metadata: { annotations = {} }, spec, status }) => {
        if (spec.size === "broken") throw new TypeError("no such size");
        const [width = "", height = ""] = spec.size.split("x");
        const { [notes]: note, ...others } = annotations;
        return {
          metadata: { annotations: others },
          spec: { width: Number(width), height: Number(height), ...(note !== undefined && { note }) },
          status,
        };
      },
      fromHub: ({ metadata, spec, status }) => ({
        metadata: { annotations: { ...metadata.annotations, ...(spec.note !== undefined && { [notes]: spec.note }) } },
        spec: { size: `${spec.width}x${spec.height}` },
        status,
      }),
    },
    v2: {
      spec: z.object({
        width: z.int(),
        height: z.int().default(1),
        depth: z.int().default(1),
        note: z.string().optional(),
      }),
    },
    v3: {
      spec: z.object({
        width: z.int(),
        tall: z.int().default(7),
        deep: z.object({ by: z.int().default(3) }).default({ by: 3 }),
      }),
      toHub: ({ spec }) => ({ spec: { width: spec.width, height: spec.tall } }),
      fromHub: ({ spec }) => ({ spec: { width: spec.width, tall: spec.height + spec.depth, deep: {} } }),
    },
  },
  hub: "v2",
  storage: "v2",
});

const metadata = {
  name: "first",
  namespace: "default",
  uid: "4b1f",
  resourceVersion: "7",
  creationTimestamp: "2025-01-01T00:00:00Z",
  labels: { team: "a" },
  managedFields: [{ manager: "kubectl", fieldsV1: { "f:spec": {} } }],
};

const widget = (version: string, spec: object, more: object = {}) => ({
  apiVersion: `${group}/${version}`,
  kind: "Widget",
  metadata,
  spec,
  ...more,
});

interface Answer {
  readonly kind: string;
  readonly apiVersion: string;
  readonly response: {
    readonly uid: string;
    readonly convertedObjects: readonly Record<string, unknown>[];
    readonly result: { readonly status: string; readonly message?: string };
  };
}

function endpoint(...kinds: readonly Resource[]) {
  const lines: string[] = [];
  const metrics = createMetrics();
  const options = {
    find: (wanted: string, name: string) => {
      const kind = kinds.find((one) => one.group === wanted && one.kind === name);
      return kind && { definition: definitionOf(kind)!, invoke: <T>(fn: () => T): T => fn() };
    },
    metrics: metrics.conversions,
    log: createLog({ level: "info", format: "json", write: (line) => void lines.push(line) }),
  };
  const endpoint = new ConversionEndpoint(options);
  return {
    lines,
    metrics,
    answer: (body: string) => endpoint.review(endpoint.parse(body)) as { status: number; body: string },
  };
}

function review(desired: string, objects: readonly unknown[], apiVersion = "apiextensions.k8s.io/v1"): string {
  const request = { uid: "u-1", desiredAPIVersion: desired, objects };
  return JSON.stringify({
    kind: "ConversionReview",
    apiVersion,
    request,
    response: { uid: "", convertedObjects: null },
  });
}

function ask(desired: string, objects: readonly unknown[], kind: Resource = Widget): Answer {
  const { status, body } = endpoint(kind).answer(review(desired, objects));
  expect(status).toBe(200);
  return JSON.parse(body) as Answer;
}

function converted(desired: string, object: object): Record<string, unknown> {
  const { response } = ask(`${group}/${desired}`, [object]);
  expect(response.result).toEqual({ status: "Success" });
  return response.convertedObjects[0]!;
}

function failure(desired: string, objects: readonly unknown[], kind: Resource = Widget): string {
  const { response } = ask(desired, objects, kind);
  expect(response.result.status).toBe("Failure");
  expect(response.convertedObjects).toEqual([]);
  expect(response.uid).toBe("u-1");
  return response.result.message ?? "";
}

describe("CONV-01", () => {
  test("a version is converted to the hub, and the hub to a version", () => {
    const hub = converted("v2", widget("v1", { size: "3x4" }, { status: { observedGeneration: 2 } }));
    expect(hub).toEqual({
      apiVersion: `${group}/v2`,
      kind: "Widget",
      metadata,
      spec: { width: 3, height: 4, depth: 1 },
      status: { observedGeneration: 2 },
    });
    expect(converted("v1", hub)).toEqual(widget("v1", { size: "3x4" }, { status: { observedGeneration: 2 } }));
  });

  test("one version is converted to another one through the hub, whose defaults it sees", () => {
    expect(converted("v3", widget("v1", { size: "3x4" }))).toEqual(
      widget("v3", { width: 3, tall: 5, deep: { by: 3 } }),
    );
  });

  test("the answer repeats the UID and the version of the review, and has the objects in their order", () => {
    for (const apiVersion of ["apiextensions.k8s.io/v1", "apiextensions.k8s.io/v1beta1"]) {
      const objects = ["1x1", "2x2", "3x3"].map((size) => widget("v1", { size }));
      const { body } = endpoint(Widget).answer(review(`${group}/v2`, objects, apiVersion));
      const answer = JSON.parse(body) as Answer;
      expect(answer).toMatchObject({ kind: "ConversionReview", apiVersion, response: { uid: "u-1" } });
      expect(answer.response.convertedObjects.map(({ spec }) => (spec as { width: number }).width)).toEqual([1, 2, 3]);
      expect(answer).not.toHaveProperty("request");
    }
  });

  test("a review without objects succeeds", () => {
    expect(ask(`${group}/v2`, []).response).toEqual({
      uid: "u-1",
      convertedObjects: [],
      result: { status: "Success" },
    });
  });
});

describe("CONV-02", () => {
  test("the same version is a failure", () => {
    expect(failure(`${group}/v1`, [widget("v1", { size: "1x1" })])).toContain("the object is in version v1 already");
  });

  test("another group is a failure", () => {
    const message = failure("other.example.com/v2", [widget("v1", { size: "1x1" })]);
    expect(message).toContain("an object cannot move to another group");
  });

  test("a kind without several versions, or that nobody defines, is a failure", () => {
    const Plain = defineResource({ group, version: "v1", kind: "Widget", spec: z.object({}) });
    expect(failure(`${group}/v2`, [widget("v1", {})], Plain)).toContain(
      "Widget has no version v2: its versions are v1",
    );
    const gadget = { ...widget("v1", {}), kind: "Gadget" };
    expect(failure(`${group}/v2`, [gadget])).toContain(`no module that runs here defines the kind Gadget of ${group}`);
  });

  test("one object that cannot be converted makes a failure of all", () => {
    const message = failure(`${group}/v2`, [widget("v1", { size: "1x1" }), widget("v2", { width: 1 })]);
    expect(message).toBe("Cannot convert Widget default/first from v2 to v2: the object is in version v2 already");
  });
});

describe("CONV-03", () => {
  test("a throw is a failure that says so, in the log too, and counts as a panic", async () => {
    const { answer, lines, metrics } = endpoint(Widget);
    const { response } = JSON.parse(answer(review(`${group}/v2`, [widget("v1", { size: "broken" })])).body) as Answer;
    expect(response.convertedObjects).toEqual([]);
    expect(response.result).toEqual({
      status: "Failure",
      message: "internal error occurred during conversion of Widget default/first from v1 to v2: no such size",
    });
    expect(lines.join()).toContain("no such size");
    const { body } = await metrics.text();
    expect(body).toContain("controller_runtime_conversion_webhook_panics_total 1");
    expect(body).toContain('binnacle_conversion_reviews_total{result="Failure"} 1');
  });

  test("converted objects are counted", async () => {
    const { answer, metrics } = endpoint(Widget);
    answer(review(`${group}/v2`, [widget("v1", { size: "1x1" }), widget("v1", { size: "2x1" })]));
    const { body } = await metrics.text();
    expect(body).toContain("controller_runtime_conversion_webhook_panics_total 0");
    expect(body).toContain("binnacle_conversion_objects_total 2");
  });
});

describe("metadata", () => {
  const returning = (made: unknown): Resource =>
    defineResource({
      group,
      kind: "Widget",
      versions: {
        v1: { spec: z.object({ size: z.string() }), toHub: () => made as never, fromHub: () => made as never },
        v2: { spec: z.object({ size: z.string().optional() }) },
      },
      hub: "v2",
      storage: "v2",
    });
  const messageOf = (made: unknown): string => failure(`${group}/v2`, [widget("v1", { size: "1" })], returning(made));

  test("labels and annotations may change, and move between fields and annotations", () => {
    const old = converted("v1", widget("v2", { width: 1, height: 2, note: "n" }));
    expect(old["metadata"]).toEqual({ ...metadata, annotations: { [notes]: "n" } });
    const hub = converted("v2", old);
    expect(hub["metadata"]).toEqual(metadata);
    expect(hub["spec"]).toEqual({ width: 1, height: 2, depth: 1, note: "n" });
  });

  test("metadata that is returned as it was stays as it was", () => {
    const { response } = ask(
      `${group}/v2`,
      [widget("v1", { size: "1" })],
      returning({ metadata: { ...metadata, labels: { team: "b", gone: undefined } }, spec: {} }),
    );
    expect(response.convertedObjects[0]).toMatchObject({ metadata: { ...metadata, labels: { team: "b" } } });
  });

  test("every other change of it is refused", () => {
    for (const [name, value] of Object.entries({ name: "x", namespace: "x", uid: "x", finalizers: ["x"] })) {
      const message = messageOf({ metadata: { ...metadata, [name]: value }, spec: {} });
      expect(message).toContain(
        `versions.v1.toHub changed metadata.${name}: a conversion may change only labels and annotations`,
      );
    }
    expect(messageOf({ metadata: { labels: { a: 1 } }, spec: {} })).toContain(`a number as metadata.labels["a"]`);
    expect(messageOf({ metadata: { annotations: "a" }, spec: {} })).toContain("a string as metadata.annotations");
  });

  test("what is no object of the version is refused", () => {
    expect(messageOf(undefined)).toContain("versions.v1.toHub returned undefined: expected { spec, … }");
    expect(messageOf(Promise.resolve({ spec: {} }))).toContain("returned a promise");
    expect(messageOf({ spec: [] })).toContain("returned a list as spec: expected an object");
    expect(messageOf({ spec: {}, data: {} })).toContain("returned the field 'data', which would be lost");
    expect(messageOf({ spec: { size: 1n } })).toContain("BigInt");
  });
});

describe("what is no ConversionReview", () => {
  const cases: Readonly<Record<string, readonly [body: string, message: string]>> = {
    "a list": ["[]", "the body is no object"],
    "no request": ['{"apiVersion":"apiextensions.k8s.io/v1","kind":"ConversionReview"}', "there is no request"],
    "another kind": ['{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview"}', 'kind is "AdmissionReview"'],
    "another version": [
      '{"apiVersion":"apiextensions.k8s.io/v2","request":{}}',
      'apiVersion is "apiextensions.k8s.io/v2"',
    ],
    "no desired version": ['{"request":{"uid":"1","objects":[]}}', "request.desiredAPIVersion is no text"],
    "objects that are none": [
      '{"request":{"uid":"1","desiredAPIVersion":"a/b","objects":{}}}',
      "request.objects is no list",
    ],
  };
  for (const [name, [body, message]] of Object.entries(cases)) {
    test(`is answered 400: ${name}`, () => {
      const answer = endpoint(Widget).answer(body);
      expect(answer.status).toBe(400);
      expect(answer.body).toContain(`Cannot read the ConversionReview: ${message}`);
    });
  }

  test("an object that is none is a failure", () => {
    for (const object of [null, 1, {}, { apiVersion: "a/b", kind: "C", metadata: [] }]) {
      expect(failure(`${group}/v2`, [object])).toContain("an object needs apiVersion and kind");
    }
  });
});

test("a whole number that JavaScript would change is a failure, and not another number", () => {
  const body = review(`${group}/v2`, [widget("v1", { size: "12345678901234567x2", note: 7 })]);
  const answer = (text: string) => JSON.parse(endpoint(Widget).answer(text).body) as Answer;
  expect(answer(body).response.result).toEqual({ status: "Success" });
  expect(answer(body.replace(":7}", ":9007199254740992}")).response.result).toEqual({ status: "Success" });
  expect(answer(body.replace(":7}", `:${"9".repeat(400)}}`)).response.result.status).toBe("Failure");
  const { uid, result } = answer(body.replace(":7}", ":9007199254740993}")).response;
  expect([uid, result.status]).toEqual(["u-1", "Failure"]);
  expect(result.message).toContain("the number 9007199254740993 has no exact value in JavaScript");
});

test("whatever is sent is answered, and a failure has no objects", () => {
  const { answer } = endpoint(Widget);
  const value = fc.anything({ withNullPrototype: false });
  const object = fc.oneof(
    value,
    fc.record({
      apiVersion: fc.constantFrom(`${group}/v1`, `${group}/v2`, `${group}/v3`, "v1", "/"),
      kind: fc.constantFrom("Widget", "Gadget", "__proto__"),
      metadata: fc.oneof(value, fc.constant(metadata)),
      spec: fc.oneof(value, fc.record({ size: fc.string(), width: fc.integer(), height: value }, { requiredKeys: [] })),
      status: value,
    }),
  );
  const request = fc.record({
    uid: fc.string(),
    desiredAPIVersion: fc.constantFrom(`${group}/v1`, `${group}/v2`, "v2", "", "/"),
    objects: fc.array(object, { maxLength: 3 }),
  });
  fc.assert(
    fc.property(fc.oneof(value, fc.record({ request: fc.oneof(value, request) })), (sent) => {
      const { status, body } = answer(
        JSON.stringify(sent, (_, one: unknown) => (typeof one === "bigint" ? 1 : one)) ?? "null",
      );
      if (status === 400) return expect(body).toStartWith("Cannot read the ConversionReview: ");
      const { response } = JSON.parse(body) as Answer;
      if (response.result.status === "Failure") expect(response.convertedObjects).toEqual([]);
      return expect(status).toBe(200);
    }),
  );
});

describe("parts of objects, which kube-apiserver has converted to work out an apply", () => {
  const part = (version: string, spec: object | null | undefined): unknown =>
    converted(version === "v1" ? "v2" : "v1", { apiVersion: `${group}/${version}`, kind: "Widget", metadata, spec })[
      "spec"
    ];

  test("an object without a spec becomes one without a spec", () => {
    expect(part("v1", undefined)).toBeUndefined();
    expect(part("v1", null)).toBeUndefined();
    expect(part("v2", {})).toBeUndefined();
  });

  test("of an object without some required fields the others are there", () => {
    const Host = defineResource({
      group,
      kind: "Host",
      versions: {
        v1: {
          spec: z.object({ host: z.string(), port: z.int(), tags: z.array(z.string()), note: z.string().optional() }),
          toHub: ({ spec: { host, port, tags, note } }) => ({
            spec: { endpoint: { host: host.toLowerCase(), port }, tags: tags.map((name) => ({ name })), note },
          }),
          fromHub: ({ spec: { endpoint, tags, note } }) => ({
            spec: { host: endpoint.host, port: endpoint.port, tags: tags.map(({ name }) => name), note },
          }),
        },
        v2: {
          spec: z.object({
            endpoint: z.object({ host: z.string(), port: z.int() }),
            tags: z.array(z.object({ name: z.string() })),
            note: z.string().optional(),
          }),
        },
      },
      hub: "v2",
      storage: "v2",
    });
    const convertedSpec = (version: string, spec: object): unknown => {
      const object = { apiVersion: `${group}/${version}`, kind: "Host", metadata, spec };
      const { response } = ask(`${group}/${version === "v1" ? "v2" : "v1"}`, [object], Host);
      expect(response.result).toEqual({ status: "Success" });
      return response.convertedObjects[0]!["spec"];
    };
    expect(convertedSpec("v1", { host: "A" })).toEqual({ endpoint: { host: "a" } });
    expect(convertedSpec("v1", { port: 3, note: "n" })).toEqual({ endpoint: { port: 3 }, note: "n" });
    expect(convertedSpec("v2", { endpoint: null, tags: [{ name: "x" }] })).toEqual({ tags: ["x"] });
    expect(convertedSpec("v2", { endpoint: { port: 3 } })).toEqual({ port: 3 });
  });

  const Job = defineResource({
    group,
    kind: "Job",
    versions: {
      v1: {
        spec: z.object({
          schedule: z.string(),
          replicas: z.int(),
          paused: z.boolean(),
          mode: z.enum(["fast", "slow"]),
          size: z.string().default("1x1"),
          env: z
            .array(z.object({ name: z.string(), value: z.string() }))
            .meta({ listType: "map", listMapKeys: ["name"] })
            .optional(),
        }),
        toHub: ({ spec: { schedule, replicas, paused, mode, size, env } }) => {
          const times = schedule.split(" ");
          if (times.length !== 5) throw new Error(`no schedule: '${schedule}'`);
          const [minute = "", hour = "", ...rest] = times;
          const [width = "", height = ""] = size.split("x");
          return {
            spec: {
              when: { minute, hour, rest: rest.join(" ") },
              scale: { count: replicas, isLarge: replicas > 500 },
              active: !paused,
              speed: mode === "fast" ? 2 : 1,
              width: Number(width),
              height: Number(height),
              ...(env && { vars: env.map(({ name, value }) => ({ key: name, text: value })) }),
              origin: "v1",
            },
          };
        },
        fromHub: ({ spec: { when, scale, active, speed, width, height, vars } }) => ({
          spec: {
            schedule: `${when.minute} ${when.hour} ${when.rest}`,
            replicas: scale.count,
            paused: !active,
            mode: speed === 2 ? ("fast" as const) : ("slow" as const),
            size: `${width}x${height}`,
            ...(vars && { env: vars.map(({ key, text }) => ({ name: key, value: text })) }),
          },
        }),
      },
      v2: {
        spec: z.object({
          when: z.object({ minute: z.string(), hour: z.string(), rest: z.string() }),
          scale: z.object({ count: z.int(), isLarge: z.boolean() }),
          active: z.boolean(),
          speed: z.int(),
          width: z.int(),
          height: z.int(),
          vars: z
            .array(z.object({ key: z.string(), text: z.string() }))
            .meta({ listType: "map", listMapKeys: ["key"] })
            .optional(),
          origin: z.string(),
        }),
      },
    },
    hub: "v2",
    storage: "v2",
  });
  const jobs = () => {
    const { answer } = endpoint(Job);
    return (version: string, spec: object): unknown => {
      const object = { apiVersion: `${group}/${version}`, kind: "Job", metadata, spec };
      const { body } = answer(review(`${group}/${version === "v1" ? "v2" : "v1"}`, [object]));
      const { response } = JSON.parse(body) as Answer;
      expect(response.result).toEqual({ status: "Success" });
      return response.convertedObjects[0]!["spec"];
    };
  };
  const schedule = "* * * * *";

  test("a field that is there stays there, whatever its value, and one that is not does not appear", () => {
    const spec = jobs();
    const when = { minute: "*", hour: "*", rest: "* * *" };
    const origin = "v1";
    expect(spec("v1", { schedule })).toEqual({ when, origin });
    for (const replicas of [0, 1, 499, 501, 1000]) {
      const scale = { count: replicas, isLarge: replicas > 500 };
      expect(spec("v1", { schedule, replicas })).toEqual({ when, scale, origin });
    }
    for (const paused of [false, true])
      expect(spec("v1", { schedule, paused })).toEqual({ when, active: !paused, origin });
    expect(spec("v1", { schedule, mode: "slow" })).toEqual({ when, speed: 1, origin });
    expect(spec("v1", { schedule, size: "1x1" })).toEqual({ when, width: 1, height: 1, origin });
    expect(spec("v2", { active: false })).toEqual({ paused: true });
    expect(spec("v2", { scale: { count: 0 }, speed: 1 })).toEqual({ replicas: 0, mode: "slow" });
    expect(spec("v2", { width: 0 })).toEqual({ size: "0x0" });
    expect(spec("v2", {})).toBeUndefined();
  });

  test("items of keyed lists are parts as well", () => {
    const spec = jobs();
    expect(spec("v2", { vars: [{ key: "a" }, { key: "b", text: "" }] })).toEqual({
      env: [{ name: "a" }, { name: "b", value: "" }],
    });
  });

  test("a function that refuses samples gets what the whole object had", () => {
    const spec = jobs();
    const whole = { schedule, replicas: 3, paused: false, mode: "fast", size: "2x3" };
    const object = { apiVersion: `${group}/v1`, kind: "Job", metadata, spec: { replicas: 0 } };
    expect(failure(`${group}/v2`, [object], Job)).toContain("no schedule: ''");
    spec("v1", whole);
    expect(spec("v1", { replicas: 0 })).toMatchObject({ scale: { count: 0, isLarge: false } });
  });

  test("labels and annotations are parts, and null is nothing", () => {
    const { answer } = endpoint(Widget);
    const read = (version: string, desired: string, spec: unknown, texts: object): unknown => {
      const object = { apiVersion: `${group}/${version}`, kind: "Widget", metadata: { name: "a", ...texts }, spec };
      const { response } = JSON.parse(answer(review(`${group}/${desired}`, [object])).body) as Answer;
      expect(response.result).toEqual({ status: "Success" });
      const { metadata, spec: made } = response.convertedObjects[0]!;
      return { metadata, spec: made };
    };
    const noted = { annotations: { [notes]: "n" } };
    expect(read("v1", "v2", null, noted)).toEqual({ metadata: { name: "a" }, spec: { note: "n" } });
    expect(read("v2", "v1", { note: "n" }, {})).toEqual({ metadata: { name: "a", ...noted } });
    const { body } = answer(review(`${group}/v2`, [{ apiVersion: `${group}/v1`, kind: "Widget" }]));
    expect((JSON.parse(body) as Answer).response.convertedObjects).toEqual([
      { apiVersion: `${group}/v2`, kind: "Widget", metadata: {} },
    ]);
    expect(read("v1", "v2", null, { annotations: null, labels: null })).toEqual({ metadata: { name: "a" } });
  });
});

test("a failure tells nothing that is sensitive", () => {
  const Vault = defineResource({
    group,
    kind: "Vault",
    versions: {
      v1: {
        spec: z.object({ token: z.string().meta({ sensitive: true }) }),
        toHub: ({ spec }) => {
          throw new Error(`cannot use ${spec.token}`);
        },
        fromHub: () => ({ spec: { token: "" } }),
      },
      v2: { spec: z.object({}) },
    },
    hub: "v2",
    storage: "v2",
  });
  const { answer, lines } = endpoint(Vault);
  const vault = { ...widget("v1", { token: "hunter2-hunter2" }), kind: "Vault" };
  const { body } = answer(review(`${group}/v2`, [vault]));
  expect(body).toContain("cannot use [redacted]");
  expect(body + lines.join()).not.toContain("hunter2");
});

test("objects that were given are not changed, also when a conversion returns parts of them", () => {
  const Same = defineResource({
    group,
    kind: "Widget",
    versions: {
      v1: {
        spec: z.object({ parts: z.array(z.object({ size: z.int().optional() })) }),
        toHub: ({ spec }) => ({ spec }),
        fromHub: ({ spec }) => ({ spec }),
      },
      v2: { spec: z.object({ parts: z.array(z.object({ size: z.int().default(1) })) }) },
    },
    hub: "v2",
    storage: "v2",
  });
  const freeze = <T>(value: T): T => {
    if (typeof value === "object" && value !== null) Object.values(Object.freeze(value)).forEach(freeze);
    return value;
  };

  const object = freeze(widget("v1", { parts: [{}, { size: 3 }] }));
  const review = {
    apiVersion: "apiextensions.k8s.io/v1",
    uid: "1",
    desiredAPIVersion: `${group}/v2`,
    objects: [object],
    inexact: undefined,
  };
  const { json } = answerReview(review, {
    find: () => ({ definition: definitionOf(Same)!, invoke: (fn) => fn() }),
  });
  const { response } = JSON.parse(json) as Answer;
  expect(response.convertedObjects[0]?.["spec"]).toEqual({ parts: [{ size: 1 }, { size: 3 }] });
});
