/** Where the parts of an expression stand, as cel-go counts: calls at their parenthesis, operators at their sign. */
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

  /** The dot of a selection. */
  dot({ args }: CelNode): number {
    return this.#after((args as [CelNode])[0].end, ".");
  }

  /** The first of these signs from a place on. */
  #after(from: number, sign: string): number {
    const found = this.#text.indexOf(sign, from);
    return found < 0 ? from : found;
  }

  /** A message with the line that it is about. */
  error(offset: number, what: string): string {
    const before = this.#text.slice(0, offset);
    const line = before.split("\n").length;
    const column = offset - (before.lastIndexOf("\n") + 1);
    const text = this.#text.split("\n")[line - 1] ?? "";
    return `ERROR: <input>:${line}:${column + 1}: ${what}\n | ${text}\n | ${".".repeat(column)}^`;
  }
}
