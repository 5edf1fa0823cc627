import { expect, test } from "bun:test";
import { Pod } from "../resource/builtin/index.ts";
import { kindWatch, watch } from "./watch.ts";

test("watch takes labels as text and as an object, and refuses a wrong selector at once", () => {
  const text = kindWatch(watch(Pod, { labels: "tier in (b, a),app=web" }));
  expect(text.options.labels).toBe("app=web,tier in (a,b)");
  const object = kindWatch(watch(Pod, { labels: { tier: ["a", "b"], app: "web" } }));
  expect(object.options).toEqual(text.options);
  expect(() => watch(Pod, { labels: "app=a=b" })).toThrow('Cannot use label selector "app=a=b"');
});

test("watch names an option that it does not know", () => {
  expect(() => watch(Pod, { label: "app=web" } as object)).toThrow("Cannot watch Pod: unknown option 'label'");
});
