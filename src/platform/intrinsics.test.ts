import { expect, test } from "bun:test";

/** Runs the code in a process of its own, so that its changes end with it. */
function inProcess(code: string): unknown {
  const module = JSON.stringify(`${import.meta.dirname}/intrinsics.ts`);
  const program = `
    const { freezeIntrinsics, keepIntrinsics, restoreIntrinsics } = await import(${module});
    const write = process.stdout.write.bind(process.stdout), toText = JSON.stringify;
    keepIntrinsics();
    ${code}
    write(toText(answer));`;
  const { stdout, stderr } = Bun.spawnSync([process.execPath, "-e", program]);
  const text = stdout.toString();
  if (text === "") throw new Error(stderr.toString());
  return JSON.parse(text);
}

const changes: readonly [what: string, code: string, names: readonly string[]][] = [
  ["a method", "Array.prototype.map = () => 1;", ["Array.prototype.map"]],
  ["a function", "JSON.stringify = () => 'x';", ["JSON.stringify"]],
  ["a global", "globalThis.fetch = () => 1;", ["globalThis.fetch"]],
  ["a method that is taken away", "delete Promise.prototype.then;", ["Promise.prototype.then"]],
  ["an iterator", "Array.prototype[Symbol.iterator] = 1;", ["Array.prototype.Symbol(Symbol.iterator)"]],
  [
    "what loops meet",
    "Object.prototype.polluted = 1; String.prototype.red = 1;",
    ["Object.prototype.polluted", "String.prototype.red"],
  ],
  [
    "what finds changes",
    "Reflect.defineProperty = () => true; Map.prototype.get = 1;",
    ["Map.prototype.get", "Reflect.defineProperty"],
  ],
];
test.each(changes)("restoreIntrinsics puts %s back", (_, code, names) => {
  expect(
    inProcess(`${code}
    const first = restoreIntrinsics(), second = restoreIntrinsics();
    const answer = { first: first.map(({ name }) => name), second, works: [1].map((x) => x + 1), loops: Object.keys({}) };`),
  ).toEqual({ first: names, second: [], works: [2], loops: [] });
});

test("restoreIntrinsics finds nothing where nothing was changed, and lets additions be that nobody meets", () => {
  expect(
    inProcess(`
    Reflect.metadata = () => 1; globalThis.shared = 1; class Mine extends Map { get() { return 1; } }
    Object.defineProperty(Array.prototype, "last", { value: 1, enumerable: false, configurable: true });
    const answer = restoreIntrinsics();`),
  ).toEqual([]);
});

const fixed: readonly (readonly [what: string, code: string])[] = [
  ["JSON", "JSON.parse = () => 1"],
  ["JSON by a definition", "Object.defineProperty(JSON, 'stringify', { value: 1 })"],
  ["Promise", "Promise.prototype.then = () => 1"],
  ["Promise, taken away", "delete Promise.prototype.then"],
  ["Promise.all", "Promise.all = 1"],
  ["a timer", "globalThis.setTimeout = 1"],
  ["fetch", "globalThis.fetch = 1"],
  ["a global object", "globalThis.Map = 1"],
  ["an array's method", "Array.prototype.map = () => 1"],
  ["Object.prototype", "Object.prototype.polluted = 1"],
  ["Object.prototype through an object", "({}).__proto__.polluted = 1"],
  ["process.exit", "process.exit = () => 1"],
  ["the console", "console.log = () => 1"],
];
test.each(fixed)("freezeIntrinsics keeps %s from being changed", (_, code) => {
  expect(
    inProcess(`freezeIntrinsics(); let answer = "changed"; try { ${code}; } catch (error) { answer = error.name; }`),
  ).toBe("TypeError");
});

test("freezeIntrinsics lets objects have their own, and what it cannot protect is restored", () => {
  expect(
    inProcess(`
    freezeIntrinsics();
    class Failure extends Error { constructor() { super("x"); this.name = "Failure"; this.toString = () => "own"; } }
    const list = []; list.push = () => 7;
    const plain = { hasOwnProperty: 1 }; plain.toString = () => "plain";
    class Old {} Old.prototype.toString = () => "old"; Old.prototype.valueOf = () => 1;
    Object.defineProperty(Array.prototype, "last", { value: 1, enumerable: false, configurable: true });
    const own = [String(new Failure()), list.push(), String(plain), String(new Old())], before = restoreIntrinsics();
    Array.prototype[Symbol.iterator] = undefined; RegExp.prototype.exec = () => null; Array.prototype.first = 1;
    Function.prototype.call = undefined;
    const changed = restoreIntrinsics();
    const answer = { own, before, changed: changed.map(({ name }) => name).sort(), works: [...[1]].concat(/a/.exec("a")[0]) };`),
  ).toEqual({
    own: ["own", 7, "plain", "old"],
    before: [],
    changed: [
      "Array.prototype.Symbol(Symbol.iterator)",
      "Array.prototype.first",
      "Function.prototype.call",
      "RegExp.prototype.exec",
    ],
    works: [1, "a"],
  });
});
