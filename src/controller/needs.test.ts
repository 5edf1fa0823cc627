import { expect, test } from "bun:test";
import { ConfigMap, Secret } from "../resource/builtin/core.ts";
import { handle } from "../resource/handle.ts";
import { bodiesOwnedBy } from "./needs.ts";
import { kindWatch, watch } from "./watch.ts";

const owner = () => handle({ apiVersion: "acme.io/v1", kind: "Thing", scope: "Namespaced", plural: "things" });

test("bodiesOwnedBy is one function for equal needs, so that a reload needs nothing more than before", () => {
  const bodies = bodiesOwnedBy(owner(), kindWatch(ConfigMap));
  expect(bodiesOwnedBy(owner(), kindWatch(Secret))).toBe(bodies);
  expect(bodiesOwnedBy(owner(), kindWatch(watch(ConfigMap, { track: "label" })))).not.toBe(bodies);
});
