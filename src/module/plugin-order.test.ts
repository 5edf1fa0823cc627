import { expect, test } from "bun:test";
import { missingPlugin, moduleOrder, pluginOrder, requirementProblems } from "./plugin-order.ts";

const plugin = (name: string, ...requires: readonly string[]) => ({ name, requires });
const names = (plugins: readonly { readonly name: string }[]) => plugins.map(({ name }) => name);

test("plugins come after those that they require, and otherwise by name", () => {
  expect(names(pluginOrder([plugin("c"), plugin("b", "c", "absent"), plugin("a", "b")]))).toEqual(["c", "b", "a"]);
  expect(names(pluginOrder([plugin("b"), plugin("a")]))).toEqual(["a", "b"]);
  expect(() => pluginOrder([plugin("a", "b"), plugin("b", "c"), plugin("c", "b")])).toThrow("circle: b → c → b;");
  expect(() => pluginOrder([plugin("a", "a")])).toThrow("circle: a → a;");
});

test("a missing plugin is named with the one that requires it", () => {
  expect(missingPlugin([plugin("a", "b", "c")], (name) => name === "b")).toStartWith(
    "plugin 'a' requires the plugin 'c', which no module has",
  );
  expect(missingPlugin([plugin("a", "b")], () => true)).toBeUndefined();
});

test("modules start after those whose plugins theirs require, and otherwise in their order", () => {
  const order = (...modules: readonly (readonly [string, ...ReturnType<typeof plugin>[]])[]) =>
    moduleOrder(modules, ([, ...plugins]) => plugins)
      .map(([name]) => name)
      .join(" ");
  expect(order(["a", plugin("x", "z")], ["b"], ["c", plugin("z", "y"), plugin("y")], ["d"])).toBe("b c a d");
  expect(order(["b"], ["a"])).toBe("b a");
  expect(order(["a", plugin("x", "absent")], ["b", plugin("y", "x")], ["c"])).toBe("c a b");
});

test("what keeps modules from starting together is said for each", () => {
  const module = (file: string, ...plugins: readonly ReturnType<typeof plugin>[]) => ({
    file,
    definitions: { plugins },
  });
  expect(requirementProblems([module("a.ts", plugin("x", "y")), module("b.ts", plugin("y"))])).toEqual([]);
  const problems = requirementProblems([
    module("a.ts", plugin("x", "y")),
    module("b.ts", plugin("y", "x")),
    module("c.ts", plugin("z", "absent")),
  ]);
  expect(problems).toEqual([
    expect.stringContaining("c.ts: plugin 'z' requires the plugin 'absent', which no module has"),
    expect.stringContaining("Plugins require each other in a circle: x → y → x"),
  ]);
});
