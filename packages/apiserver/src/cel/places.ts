/** The positions of an expression's parts as cel-go counts them: a call is at its parenthesis, an operator at its sign. */
import type { CelNode } from "./node.ts";

export class Places {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  of(node: CelNode): number {
    const { op, args, start } = node;
    switch (op) {
      case "value":
      case "id":
      case "list":
      case "map":
      case "!_":
      case "-_":
        return start;
      case ".":
      case ".?":
        return this.dot(node);
      case "call":
        return this.#after(start, "(");
      case "rcall": {
        const [name, receiver] = args as [string, CelNode];
        const from = this.#text.indexOf(name, this.#after(receiver.end, "."));
        return this.#after(from, "(");
      }
      case "[]":
      case "[?]":
        return this.#after((args as [CelNode])[0].end, "[");
      case "?:":
        return this.#after((args as [CelNode])[0].end, "?");
      default:
        return this.#after((args as [CelNode])[0].end, op);
    }
  }

  /** Returns the position of a selection's dot. */
  dot({ args }: CelNode): number {
    return this.#after((args as [CelNode])[0].end, ".");
  }

  /** Returns the position of the first of these signs after an offset. */
  #after(from: number, sign: string): number {
    const index = this.#text.indexOf(sign, from);
    return index < 0 ? from : index;
  }

  /** Formats an error message with the line that it refers to. */
  error(offset: number, what: string): string {
    const before = this.#text.slice(0, offset);
    const line = before.split("\n").length;
    const column = offset - (before.lastIndexOf("\n") + 1);
    const text = this.#text.split("\n")[line - 1] ?? "";
    return `ERROR: <input>:${line}:${column + 1}: ${what}\n | ${text}\n | ${".".repeat(column)}^`;
  }
}
