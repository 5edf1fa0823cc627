import { expect, test } from "bun:test";
import { z } from "zod";
import { ConfigMap, Deployment } from "../resource/builtin/index.ts";
import { defineResource } from "../resource/define.ts";
import { asDefinition } from "./brand.ts";
import { checkConflicts } from "./conflicts.ts";
import { defineController, definePlugin } from "./define.ts";
import { definitionsOf } from "./module-definitions.ts";

const reconcile = async (): Promise<void> => {};
const Widget = defineResource({ group: "a.b", version: "v1", kind: "Widget", spec: z.object({ size: z.int() }) });

test("definitionsOf takes every export once, alone or in an array, and leaves the rest", () => {
  const controller = defineController({ for: Widget, reconcile });
  const plugin = definePlugin({ name: "p", setup() {} });
  const found = definitionsOf({
    default: [Widget, controller],
    controller,
    plugin,
    Deployment,
    text: "x",
    list: [1, null],
  });
  expect(found.controllers).toHaveLength(1);
  expect(found.resources).toEqual([Widget]);
  expect(found.plugins.map(({ name }) => name)).toEqual(["p"]);
});

test("definitionsOf says what to do when there is no definition", () => {
  expect(() => definitionsOf({})).toThrow("it exports nothing; export what defineController");
  expect(() => definitionsOf({ a: 1, default: Deployment })).toThrow("its exports (a, default) are none");
});

test("asDefinition refuses other versions of the contract", () => {
  const other = (version: number) => ({ [Symbol.for("binnacle.definition")]: version });
  expect(() => asDefinition(other(2))).toThrow("contract version 2: this binnacle has 1; use a newer binnacle");
  expect(() => asDefinition(other(0))).toThrow(
    "contract version 0: this binnacle has 1; import its SDK from 'binnacle'",
  );
});

test("checkConflicts names both files", () => {
  const module = (file: string, ...exports: unknown[]) => ({ file, definitions: definitionsOf({ default: exports }) });
  const named = (name: string) => defineController({ name, for: ConfigMap, reconcile });
  expect(() => checkConflicts([module("a.ts", named("x")), module("b.ts", named("x"))])).toThrow(
    "Two controllers are called 'x', in a.ts and in b.ts: give one of them another 'name'",
  );
  expect(() => checkConflicts([module("a.ts", named("x"), named("x"))])).toThrow("twice in a.ts");
  const same = defineResource({ group: "a.b", version: "v1", kind: "Widget", spec: z.object({ size: z.int() }) });
  const other = defineResource({ group: "a.b", version: "v1", kind: "Widget", spec: z.object({ size: z.string() }) });
  checkConflicts([module("a.ts", Widget), module("b.ts", same)]);
  expect(() => checkConflicts([module("a.ts", Widget), module("b.ts", other)])).toThrow(
    "The kind Widget of a.b is defined differently, in a.ts and in b.ts",
  );
});
