import { expect, test } from "bun:test";
import * as fc from "fast-check";
import { z } from "zod";
import { jobTemplateSpec } from "../../resource/builtin/schemas.ts";
import { defineResource } from "../../resource/define.ts";
import { definitionOf } from "../../resource/definition.ts";
import { valuesOf } from "./generated-values.ts";

test("values of a large schema are small, and every field of a pod is in some of them", () => {
  const Kind = defineResource({
    group: "demo.example.com",
    version: "v1",
    kind: "Batch",
    spec: z.object({ template: jobTemplateSpec() }),
  });
  const template = definitionOf(Kind)!.versions[0]!.schema.properties!["spec"]!.properties!["template"]!;
  const values = fc.sample(valuesOf(template), { numRuns: 200, seed: 1 });
  const text = values.map((value) => JSON.stringify(value));
  expect(Math.max(...text.map(({ length }) => length))).toBeLessThan(64_000);
  expect(text.reduce((sum, { length }) => sum + length, 0) / text.length).toBeLessThan(6_000);
  const pod = template.properties!["spec"]!.properties!["template"]!.properties!["spec"]!;
  const unseen = Object.keys(pod.properties!).filter((name) => !text.some((one) => one.includes(`"${name}":`)));
  expect(unseen).toEqual([]);
});
