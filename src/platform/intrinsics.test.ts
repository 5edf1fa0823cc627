import { expect, test } from "bun:test";

/** Runs the code in a process of its own, so that its changes end with it. */
function inProcess(code: string): unknown {
  const module = JSON.stringify(`${import.meta.dirname}/intrinsics.ts`);
  const program = `
    const { keepIntrinsics, restoreIntrinsics } = await import(${module});
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
