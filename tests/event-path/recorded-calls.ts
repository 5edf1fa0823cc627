/** Loaded before a program: each file of src notes when one of its functions with a body is called. */
import { plugin, Transpiler } from "bun";
import { join } from "node:path";

const root = join(import.meta.dirname, "../..");
/** In what the transpiler prints, the body of a function or of another block begins at the end of a line. */
const BODY = /(?:\)|=>) \{$/;
/** The heads of blocks that are no functions; a function may still begin in them. */
const OTHER = /^(?:\} )?(?:if|for|while|switch|catch|else|do|try|return|class|export class)\b/;
const FUNCTION = /=> \{$|\bfunction\b/;

const calls = new Set<string>();

/** Returns the files that were called since the last time, relative to the checkout, in order. */
export function takeCalls(): readonly string[] {
  const files = [...calls];
  calls.clear();
  return files;
}

Object.assign(globalThis, { calledFrom: (file: string) => void calls.add(file) });

plugin({
  name: "recorded calls",
  setup(build) {
    const transpiler = new Transpiler({ loader: "ts", target: "bun" });
    build.onLoad({ filter: /\/src\/.*\.ts$/ }, async ({ path }) => {
      const text = await Bun.file(path).text();
      if (!path.startsWith(join(root, "src/"))) return { contents: text, loader: "ts" };
      const call = ` calledFrom(${JSON.stringify(path.slice(root.length + 1))});`;
      const lines = transpiler.transformSync(text).split("\n");
      const noting = lines.map((line) => {
        const head = line.trim();
        return BODY.test(head) && (!OTHER.test(head) || FUNCTION.test(head)) ? line + call : line;
      });
      return { contents: noting.join("\n"), loader: "js" };
    });
  },
});
