/** Parses the first document of a YAML text to a tree. */
import { type Mark, parseError, YamlError } from "./cursor.ts";
import { Scanner } from "./scanner.ts";
import type { Token, TokenType } from "./token.ts";

export type YamlNode =
  | {
      readonly kind: "scalar";
      readonly line: number;
      /** The tag; `""` when none was written. */
      readonly tag: string;
      readonly value: string;
      /** Whether its type follows from its text. */
      readonly isPlain: boolean;
    }
  | { readonly kind: "sequence"; readonly line: number; readonly items: readonly YamlNode[] }
  | { readonly kind: "mapping"; readonly line: number; readonly entries: readonly YamlEntry[] }
  | { readonly kind: "alias"; readonly line: number; readonly name: string; readonly target: YamlNode };

export interface YamlEntry {
  readonly key: YamlNode;
  readonly value: YamlNode;
}

/** Parses a document. @returns `undefined` when there is none. @throws YamlError */
export function parseDocument(text: string): YamlNode | undefined {
  return new Parser(text).document();
}

/** The anchor and tag in front of a node. */
interface Properties {
  readonly mark: Mark;
  readonly anchor: string | undefined;
  readonly tag: string;
}

class Parser {
  readonly #scanner: Scanner;
  readonly #handles = new Map<string, string>();
  readonly #anchors = new Map<string, YamlNode>();

  constructor(text: string) {
    this.#scanner = new Scanner(text);
  }

  document(): YamlNode | undefined {
    const first = this.#scanner.peek();
    if (first.type === "stream end") return undefined;
    this.#directives();
    const isExplicit = ["version directive", "tag directive", "document start"].includes(first.type);
    if (isExplicit) {
      const next = this.#scanner.peek();
      if (next.type !== "document start")
        throw parseError(next.mark, undefined, { why: "did not find expected <document start>" });
      this.#scanner.take();
    }
    const node =
      isExplicit && this.#isNext("version directive", "tag directive", "document start", "document end", "stream end")
        ? empty(this.#scanner.peek().mark)
        : this.#node({ isBlock: true, mayBeIndentless: false });
    this.#scanner.peek(); // this scans what follows, and throws if it is invalid
    return node;
  }

  #isNext(...types: readonly TokenType[]): boolean {
    return types.includes(this.#scanner.peek().type);
  }

  #directives(): void {
    let version: Token | undefined;
    while (this.#isNext("version directive", "tag directive")) {
      const directive = this.#scanner.peek();
      const fail = (why: string): Error => parseError(directive.mark, undefined, { why });
      if (directive.type === "version directive") {
        if (version !== undefined) throw fail("found duplicate %YAML directive");
        if (directive.value !== "1" || directive.more !== "1") throw fail("found incompatible YAML document");
        version = directive;
      } else {
        if (this.#handles.has(directive.value)) throw fail("found duplicate %TAG directive");
        this.#handles.set(directive.value, directive.more);
      }
      this.#scanner.take();
    }
    if (!this.#handles.has("!")) this.#handles.set("!", "!");
    if (!this.#handles.has("!!")) this.#handles.set("!!", "tag:yaml.org,2002:");
  }

  #node({ isBlock, mayBeIndentless }: { readonly isBlock: boolean; readonly mayBeIndentless: boolean }): YamlNode {
    const start = this.#scanner.peek();
    if (start.type === "alias") {
      this.#scanner.take();
      const target = this.#anchors.get(start.value);
      if (target === undefined) throw new YamlError(`unknown anchor '${start.value}' referenced`);
      return { kind: "alias", line: start.mark.line, name: start.value, target };
    }
    const properties = this.#properties(start.mark);
    const { type } = this.#scanner.peek();
    if (mayBeIndentless && type === "block entry") return this.#sequence(properties, () => this.#indentless());
    if (type === "scalar") return this.#scalar(properties);
    if (type === "flow sequence start") return this.#sequence(properties, () => this.#flowItems());
    if (type === "flow mapping start") return this.#mapping(properties, () => this.#flowEntries());
    if (isBlock && type === "block sequence start") return this.#sequence(properties, () => this.#blockItems());
    if (isBlock && type === "block mapping start") return this.#mapping(properties, () => this.#blockEntries());
    if (properties.anchor === undefined && properties.tag === "")
      throw parseError(this.#scanner.peek().mark, start.mark, { why: "did not find expected node content" });
    return this.#named(properties, empty(properties.mark, properties.tag));
  }

  #properties(mark: Mark): Properties {
    let anchor: string | undefined;
    let tag: Token | undefined;
    for (let count = 0; count < 2; count++) {
      if (anchor === undefined && this.#isNext("anchor")) anchor = this.#scanner.take().value;
      else if (tag === undefined && this.#isNext("tag")) tag = this.#scanner.take();
    }
    return { mark, anchor, tag: tag === undefined ? "" : this.#tag(tag, mark) };
  }

  #tag({ value, more, mark }: Token, start: Mark): string {
    if (value === "") return more;
    const prefix = this.#handles.get(value);
    if (prefix === undefined) throw parseError(mark, start, { why: "found undefined tag handle" });
    return prefix + more;
  }

  #named(properties: Properties, node: YamlNode): YamlNode {
    if (properties.anchor !== undefined) this.#anchors.set(properties.anchor, node);
    return node;
  }

  #scalar(properties: Properties): YamlNode {
    const { value, isPlain } = this.#scanner.take();
    const { tag, mark } = properties;
    const isUntyped = (tag === "" && isPlain) || tag === "!";
    return this.#named(properties, { kind: "scalar", line: mark.line, tag, value, isPlain: isUntyped });
  }

  /** An anchor is known inside of its own node, so that the node can refuse to contain itself. */
  #sequence(properties: Properties, items: () => Iterable<YamlNode>): YamlNode {
    const into: YamlNode[] = [];
    const node = this.#named(properties, { kind: "sequence", line: properties.mark.line, items: into });
    for (const item of items()) into.push(item);
    return node;
  }

  #mapping(properties: Properties, entries: () => Iterable<YamlEntry>): YamlNode {
    const into: YamlEntry[] = [];
    const node = this.#named(properties, { kind: "mapping", line: properties.mark.line, entries: into });
    for (const entry of entries()) into.push(entry);
    return node;
  }

  *#blockItems(): Iterable<YamlNode> {
    const { mark: start } = this.#scanner.take();
    while (this.#isNext("block entry")) {
      const mark = behind(this.#scanner.take());
      yield this.#isNext("block entry", "block end")
        ? empty(mark)
        : this.#node({ isBlock: true, mayBeIndentless: false });
    }
    this.#end("block end", start, "did not find expected '-' indicator");
  }

  *#indentless(): Iterable<YamlNode> {
    while (this.#isNext("block entry")) {
      const mark = behind(this.#scanner.take());
      yield this.#isNext("block entry", "key", "value", "block end")
        ? empty(mark)
        : this.#node({ isBlock: true, mayBeIndentless: false });
    }
  }

  *#blockEntries(): Iterable<YamlEntry> {
    const { mark: start } = this.#scanner.take();
    while (this.#isNext("key")) {
      const mark = behind(this.#scanner.take());
      const key = this.#isNext("key", "value", "block end")
        ? empty(mark)
        : this.#node({ isBlock: true, mayBeIndentless: true });
      yield { key, value: this.#blockValue() };
    }
    this.#end("block end", start, "did not find expected key");
  }

  #blockValue(): YamlNode {
    if (!this.#isNext("value")) return empty(this.#scanner.peek().mark);
    const mark = behind(this.#scanner.take());
    if (this.#isNext("key", "value", "block end")) return empty(mark);
    return this.#node({ isBlock: true, mayBeIndentless: true });
  }

  #end(type: TokenType, start: Mark, why: string): void {
    const next = this.#scanner.peek();
    if (next.type !== type) throw parseError(next.mark, start, { why });
    this.#scanner.take();
  }

  *#flowItems(): Iterable<YamlNode> {
    const { mark: start } = this.#scanner.take();
    for (let isFirst = true; !this.#isNext("flow sequence end"); isFirst = false) {
      if (!isFirst) {
        this.#separator(start, "did not find expected ',' or ']'");
        if (this.#isNext("flow sequence end")) break;
      }
      if (this.#isNext("key")) yield this.#pair();
      else yield this.#node({ isBlock: false, mayBeIndentless: false });
    }
    this.#scanner.take();
  }

  #separator(start: Mark, why: string): void {
    const next = this.#scanner.peek();
    if (next.type !== "flow entry") throw parseError(next.mark, start, { why });
    this.#scanner.take();
  }

  /** Parses a mapping with one entry in a sequence. */
  #pair(): YamlNode {
    const { mark } = this.#scanner.take();
    let key: YamlNode;
    if (this.#isNext("value", "flow entry", "flow sequence end")) key = empty(behind(this.#scanner.take()));
    else key = this.#node({ isBlock: false, mayBeIndentless: false });
    const value = this.#flowValue("flow sequence end");
    return { kind: "mapping", line: mark.line, entries: [{ key, value }] };
  }

  *#flowEntries(): Iterable<YamlEntry> {
    const { mark: start } = this.#scanner.take();
    for (let isFirst = true; !this.#isNext("flow mapping end"); isFirst = false) {
      if (!isFirst) {
        this.#separator(start, "did not find expected ',' or '}'");
        if (this.#isNext("flow mapping end")) break;
      }
      if (this.#isNext("key")) {
        this.#scanner.take();
        const key = this.#isNext("value", "flow entry", "flow mapping end")
          ? empty(this.#scanner.peek().mark)
          : this.#node({ isBlock: false, mayBeIndentless: false });
        yield { key, value: this.#flowValue("flow mapping end") };
      } else {
        const key = this.#node({ isBlock: false, mayBeIndentless: false });
        yield { key, value: empty(this.#scanner.peek().mark) };
      }
    }
    this.#scanner.take();
  }

  #flowValue(end: TokenType): YamlNode {
    if (this.#isNext("value")) {
      this.#scanner.take();
      if (!this.#isNext("flow entry", end)) return this.#node({ isBlock: false, mayBeIndentless: false });
    }
    return empty(this.#scanner.peek().mark);
  }
}

function behind({ mark }: Token): Mark {
  return { ...mark, column: mark.column + 1 };
}

function empty({ line }: Mark, tag = ""): YamlNode {
  return { kind: "scalar", line, tag, value: "", isPlain: tag === "" };
}
