import { describe, expect, test } from "bun:test";
import { z } from "zod";
import { defineResource } from "../../resource/define.ts";
import type { Resource } from "../../resource/handle.ts";
import { conversionLosses, convert } from "./convert.ts";

const names = { group: "demo.example.com", kind: "Widget", hub: "v2", storage: "v2" } as const;

const lossless = defineResource({
  ...names,
  versions: {
    v1: {
      spec: z.object({ size: z.string().regex(/^[1-9][0-9]{0,2}x[1-9][0-9]{0,2}$/) }),
      status: z.object({ phase: z.enum(["Ready", "Waiting"]).optional() }),
      toHub: ({ metadata: { annotations = {} }, spec, status }) => {
        const [width = "", height = ""] = spec.size.split("x");
        const { note, ...others } = annotations;
        return {
          metadata: { annotations: others },
          spec: { width: Number(width), height: Number(height), ...(note !== undefined && { note }) },
          ...(status && { status: { ready: status.phase === "Ready", ...status } }),
        };
      },
      fromHub: ({ metadata, spec, status }) => ({
        metadata: { annotations: { ...metadata.annotations, ...(spec.note !== undefined && { note: spec.note }) } },
        spec: { size: `${spec.width}x${spec.height}` },
        ...(status && { status: { phase: status.phase } }),
      }),
      loses: ["status.ready"],
    },
    v2: {
      spec: z.object({
        width: z.int().min(1).max(999),
        height: z.int().min(1).max(999),
        note: z.string().optional(),
      }),
      status: z.object({ ready: z.boolean().optional(), phase: z.enum(["Ready", "Waiting"]).optional() }),
    },
  },
});

describe("conversionLosses", () => {
  test("finds none where there are none, or where they are intended", async () => {
    expect(await conversionLosses(lossless)).toEqual([]);
  });

  test("finds none for a kind with one version", async () => {
    const { group, kind } = names;
    expect(await conversionLosses(defineResource({ group, kind, version: "v1", spec: z.object({}) }))).toEqual([]);
  });

  test("says what is lost, changed and added, each with the smallest example", async () => {
    const lossy = defineResource({
      ...names,
      versions: {
        v1: {
          spec: z.object({ large: z.boolean(), parts: z.array(z.object({ name: z.string() })).optional() }),
          toHub: ({ spec }) => ({ spec: { size: spec.large ? 10 : 1, parts: spec.parts ?? [] } }),
          fromHub: ({ spec }) => ({
            spec: { large: spec.size > 5, parts: spec.parts.map(({ name }) => ({ name })) },
          }),
        },
        v2: {
          spec: z.object({
            size: z.int().min(0).max(20),
            parts: z.array(z.object({ name: z.string(), weight: z.int().optional() })),
            label: z.string().optional(),
          }),
        },
      },
    });
    const losses = await conversionLosses(lossy);
    const messages = losses.map(({ message }) => message);
    expect(messages).toContain('v2 → v1 → v2 loses spec.label: ""');
    expect(messages).toContain("v2 → v1 → v2 loses spec.parts[].weight: 0");
    expect(messages).toContain("v2 → v1 → v2 changes spec.size: 0 becomes 1");
    expect(messages).toContain("v1 → v2 → v1 adds spec.parts: []");
    expect(losses.find(({ path }) => path === "spec.label")).toMatchObject({
      from: "v2",
      through: "v1",
      reason: "lost",
      object: { spec: { label: "" } },
    });
    expect(losses.map(({ path }) => path)).not.toContain("spec.parts[].name");
  });

  const withConversions = (toHub: (old: { spec: object; metadata: object }) => unknown): Resource =>
    defineResource({
      ...names,
      versions: {
        v1: {
          spec: z.object({ name: z.string().default("x") }),
          toHub: toHub as never,
          fromHub: ({ spec }) => ({ spec }),
        },
        v2: { spec: z.object({ name: z.string().max(3).default("x") }) },
      },
    });
  const messagesOf = async (resource: Resource): Promise<string> =>
    (await conversionLosses(resource)).map(({ message }) => message).join("\n");

  test("says what is refused by the other version, and what it has no field for", async () => {
    const refused = await messagesOf(withConversions(({ spec }) => ({ spec })));
    expect(refused).toContain(
      "v1 → v2 → v1 makes an invalid object: spec.name: Too long: may not be more than 3 bytes",
    );
    const pruned = await messagesOf(withConversions(() => ({ spec: { name: "x", title: "y" } })));
    expect(pruned).toContain("v1 → v2 → v1 loses spec.title: v2 has no such field");
  });

  test("says that a conversion throws, or changes what it was given", async () => {
    const throwing = withConversions(() => {
      throw new Error("not today");
    });
    expect(await messagesOf(throwing)).toContain("v1 → v2 → v1 fails: Error: not today");
    const changing = withConversions((old) => {
      (old.spec as { name: string }).name = "changed";
      return { spec: old.spec };
    });
    expect(await messagesOf(changing)).toContain("v1 → v2 → v1 fails: TypeError");
  });

  test("says that labels and annotations are lost", async () => {
    const losses = await messagesOf(
      withConversions(() => ({ metadata: { labels: {}, annotations: {} }, spec: { name: "x" } })),
    );
    expect(losses).toContain("loses metadata.labels.");
    expect(losses).toContain("loses metadata.annotations.");
  });

  test("fails where no generated object is valid", async () => {
    const odd = defineResource({
      ...names,
      versions: {
        v1: {
          spec: z.object({ name: z.string() }),
          rules: [{ rule: "self.spec.name == 'the only one that is good'", message: "no" }],
          toHub: ({ spec }) => ({ spec }),
          fromHub: ({ spec }) => ({ spec }),
        },
        v2: { spec: z.object({ name: z.string() }) },
      },
    });
    await expect(conversionLosses(odd)).rejects.toThrow(
      "Cannot find the losses of Widget: no generated object is valid in v1",
    );
  });

  test("makes valid objects of every kind of field", async () => {
    const fields = z.object({
      date: z.iso.datetime(),
      day: z.iso.date(),
      email: z.email(),
      id: z.uuid(),
      url: z.url(),
      address: z.ipv4(),
      six: z.ipv6(),
      net: z.cidrv4(),
      host: z.hostname(),
      bytes: z.base64(),
      pattern: z.string().regex(/^[a-z]+(-[a-z]+)*$/),
      flags: z.string().regex(/^yes|no$/i),
      both: z.string().regex(/^a/).regex(/z$/).optional(),
      percent: z.union([z.int(), z.string()]),
      port: z.int().min(1).max(65_535),
      step: z.number().multipleOf(5),
      part: z.number().gt(0).lt(1),
      colour: z.enum(["red", "blue"]).nullable(),
      list: z.array(z.string()).min(1).max(2),
      set: z.array(z.string()).meta({ listType: "set" }),
      map: z.array(z.object({ name: z.string(), value: z.int() })).meta({ listType: "map", listMapKeys: ["name"] }),
      any: z.unknown(),
      labels: z.record(z.string(), z.string()),
      shape: z.discriminatedUnion("type", [
        z.object({ type: z.literal("circle"), radius: z.int() }),
        z.strictObject({ type: z.literal("square"), side: z.int(), round: z.boolean().optional() }),
      ]),
    });
    const same = defineResource({
      ...names,
      versions: {
        v1: { spec: fields, toHub: ({ spec }) => ({ spec }), fromHub: ({ spec }) => ({ spec }) },
        v2: { spec: fields },
      },
    });
    expect(await conversionLosses(same, { objects: 50 })).toEqual([]);
  });
});

describe("convert", () => {
  test("converts an object to the version that is named", () => {
    const old = convert(
      lossless,
      { apiVersion: "demo.example.com/v2", metadata: { name: "a" }, spec: { width: 3, height: 4 } },
      "v1",
    );
    expect(old as unknown).toEqual({
      apiVersion: "demo.example.com/v1",
      kind: "Widget",
      metadata: { name: "a" },
      spec: { size: "3x4" },
    });
    const hub = convert(lossless, old, "v2");
    const width: number = hub.spec.width;
    const size: string = old.spec.size;
    expect(size).toBe("3x4");
    expect(width).toBe(3);
  });

  test("keeps every field of a part, and adds none", () => {
    const part = (version: string, spec: object) => ({ apiVersion: `demo.example.com/${version}`, metadata: {}, spec });
    const text: unknown = convert(lossless, part("v2", { width: 0 }), "v1").spec;
    expect(text).toHaveProperty("size");
    const annotated = { ...part("v1", {}), metadata: { annotations: { note: "" } } };
    const spec: unknown = convert(lossless, annotated, "v2").spec;
    expect(spec).toEqual({ note: "" });
  });

  test("says what is wrong", () => {
    const object = { apiVersion: "demo.example.com/v2", metadata: { name: "a" }, spec: { width: 3, height: 4 } };
    expect(() => convert(lossless, object, "v9")).toThrow("Widget has no version v9: its versions are v1, v2");
    expect(() => convert(lossless, object, "v2")).toThrow("the object is in version v2 already");
  });
});
