import { expect, test } from "bun:test";
import { podTemplateSpec } from "binnacle/schemas";
import { z } from "zod";
import { defineResource, definitionOf } from "../../resource/define.ts";
import { sameJson } from "../../resource/json.ts";
import { convertObject } from "../../webhook/conversion/convert-object.ts";
import type { WireObject } from "../../webhook/conversion/wire-object.ts";
import { AppliedParts } from "./applied-parts.ts";
import { conversionLosses } from "./convert.ts";

const Job = defineResource({
  group: "demo.example.com",
  kind: "Job",
  versions: {
    v1: {
      spec: z.object({ schedule: z.string(), replicas: z.int(), paused: z.boolean().default(false) }),
      toHub: ({ spec: { schedule, replicas, paused } }) => {
        if (schedule === "") throw new Error("there is no schedule");
        return { spec: { when: { cron: schedule }, count: replicas, active: !paused } };
      },
      fromHub: ({ spec: { when, count, active } }) => ({
        spec: { schedule: when.cron, replicas: count, paused: !active },
      }),
    },
    v2: {
      spec: z.object({
        when: z.object({ cron: z.string().min(1) }),
        count: z.int(),
        active: z.boolean().default(true),
      }),
    },
  },
  hub: "v2",
  storage: "v2",
});
const definition = definitionOf(Job)!;
const [from, through] = definition.versions as [(typeof definition.versions)[0], (typeof definition.versions)[0]];
const object: WireObject = {
  apiVersion: "demo.example.com/v1",
  kind: "Job",
  metadata: { name: "one", namespace: "default" },
  spec: { schedule: "* * * * *", replicas: 0, paused: false },
};

test("parts that are applied through two versions in turns stay, also where a function refuses an empty text", () => {
  expect(new AppliedParts({ definition, from, through }).differences(object)).toEqual([]);
});

test("a conversion that drops what equals an empty value is found out", () => {
  const dropping = (given: WireObject, to: string): WireObject => {
    const converted = convertObject(definition, given, { to });
    if (Object.keys(given.spec ?? {}).includes("paused")) return converted;
    const spec = Object.entries(converted.spec ?? {}).filter(([, value]) => !sameJson(value, 0));
    return { ...converted, spec: Object.fromEntries(spec) };
  };
  const [found] = new AppliedParts({ definition, from, through, convert: dropping }).differences(object);
  expect(found).toMatchObject({ reason: "refused", path: "spec.replicas", isPart: true });
});

test("the search for losses applies parts, which may lack the name", async () => {
  const named = defineResource({
    group: "demo.example.com",
    kind: "Named",
    versions: {
      v1: {
        spec: z.object({ size: z.int(), note: z.string().default("") }),
        toHub: ({ metadata: { name }, spec }) => {
          if (name === "") throw new Error("whose size is it?");
          return { spec };
        },
        fromHub: ({ spec }) => ({ spec }),
      },
      v2: { spec: z.object({ size: z.int(), note: z.string().default("") }) },
    },
    hub: "v2",
    storage: "v2",
  });
  expect(await conversionLosses(named)).toEqual([]);
});

test("what the API server refuses of parts without another version is no loss of a conversion", async () => {
  // An object of which nothing is left but an empty list is removed with it, also by kube-apiserver.
  const ports = z.array(z.object({ name: z.string() })).meta({ listType: "map", listMapKeys: ["name"] });
  const template = z.object({ ports });
  const tower = defineResource({
    group: "demo.example.com",
    kind: "Tower",
    versions: {
      v1: {
        spec: z.object({ template, floors: z.int().optional() }),
        toHub: ({ spec: { template, floors } }) => ({ spec: { pod: template, floors } }),
        fromHub: ({ spec: { pod, floors } }) => ({ spec: { template: pod, floors } }),
      },
      v2: { spec: z.object({ pod: template, floors: z.int().optional() }) },
    },
    hub: "v2",
    storage: "v2",
  });
  expect(await conversionLosses(tower)).toEqual([]);
});

test("a kind with the template of a pod in both versions is searched in seconds, without a finding", async () => {
  const fleet = defineResource({
    group: "demo.example.com",
    kind: "Fleet",
    versions: {
      v1: {
        spec: z.object({ template: podTemplateSpec(), size: z.int().optional() }),
        toHub: ({ spec: { template, size } }) => ({ spec: { pod: template, size } }),
        fromHub: ({ spec: { pod, size } }) => ({ spec: { template: pod, size } }),
      },
      v2: { spec: z.object({ pod: podTemplateSpec(), size: z.int().optional() }) },
    },
    hub: "v2",
    storage: "v2",
  });
  expect(await conversionLosses(fleet, { objects: 5 })).toEqual([]);
}, 60_000);
