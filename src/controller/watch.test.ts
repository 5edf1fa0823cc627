import { expect, test } from "bun:test";
import { Node, Pod } from "../resource/builtin/index.ts";
import { declarationsOf } from "./declarations.ts";
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

test("watch takes namespaces as a list or by their labels, and nothing else", () => {
  const { namespaces } = kindWatch(watch(Pod, { namespaces: { labels: { team: ["b", "a"] } } })).options;
  expect(namespaces).toEqual({ labels: "team in (a,b)" });
  expect(kindWatch(watch(Pod, { namespaces: ["x"] })).options.namespaces).toEqual(["x"]);
  expect(() => watch(Pod, { namespaces: { label: "a" } } as object)).toThrow("a list of names, or { labels: … }");
  expect(() => watch(Node, { namespaces: { labels: "team=a" } })).toThrow("Cannot watch Node: it has no namespaces");
});

test("select and keep are refused where whole objects are needed", () => {
  const reconcile = async (): Promise<void> => {};
  const primary = { for: watch(Pod, { select: "metadata" }), reconcile } as const;
  expect(() => declarationsOf(primary)).toThrow("Cannot declare Pod in `for` or `owns` with `select`");
  const owner = { for: Pod, owns: [watch(Node, { keep: ["spec"] })], reconcile } as const;
  expect(() => declarationsOf(owner)).toThrow("Cannot declare Node in `for` or `owns` with `keep`");
});
