/** Types of expressions as far as the schema tells them: mistakes that are found before a rule ever runs. */
import { escapeName } from "./values.ts";
import { goRegExpError } from "../schema/go-regexp.ts";
import type { Schema } from "../schema/schema.ts";

/** A node of the parsed expression. */
export interface CelNode {
  readonly op: string;
  readonly args: unknown;
  readonly pos: number;
  readonly start: number;
  readonly end: number;
}

/** A type's name, a schema's type, or `dyn` for what is not known. */
interface CelType {
  readonly name: string;
  readonly schema?: Schema;
  /** What a list or map holds. */
  readonly holds?: CelType;
}

const dyn: CelType = { name: "dyn" };

function simple(name: string): CelType {
  return { name };
}

export interface CelContext {
  readonly expression: string;
  readonly schema: Schema;
  /** The object itself: it has no more metadata than the name. */
  readonly root: boolean;
}

export interface Checked {
  /** In the compiler's words, one for each mistake. */
  readonly errors: readonly string[];
  /** Of the whole: `bool`, `string`, `dyn`, … */
  readonly type: string;
}

export function checkTypes(node: CelNode, { expression, schema, root }: CelContext): Checked {
  const self = typeOfSchema(schema, root);
  const scope = new Map<string, CelType>([
    ["self", self],
    ["oldSelf", dyn],
  ]);
  const walker = new Walker(expression);
  const { name } = walker.visit(node, scope);
  return { errors: walker.errors, type: name };
}

/** The same of an expression whose variables may be anything. */
export function checkNames(node: CelNode, expression: string, variables: readonly string[]): Checked {
  const walker = new Walker(expression);
  const { name } = walker.visit(node, new Map(variables.map((variable) => [variable, dyn])));
  return { errors: walker.errors, type: name };
}

function typeOfSchema(schema: Schema | undefined, root = false): CelType {
  if (!schema || schema.intOrString || schema.nullable || schema.go) return dyn;
  switch (schema.type) {
    case "integer":
      return simple("int");
    case "number":
      return simple("double");
    case "boolean":
      return simple("bool");
    case "string":
      if (["date", "date-time", "datetime"].includes(schema.format ?? "")) return simple("google.protobuf.Timestamp");
      if (schema.format === "duration") return simple("google.protobuf.Duration");
      return simple(schema.format === "byte" ? "bytes" : "string");
    case "array": {
      const holds = typeOfSchema(schema.items);
      return { name: `list(${holds.name})`, holds };
    }
    case "object":
      if (schema.properties) return { name: "object", schema: root ? withMetadata(schema) : schema };
      if (schema.additional) {
        const holds = typeOfSchema(schema.additional);
        return { name: `map(string, ${holds.name})`, holds };
      }
      return dyn;
    default:
      return dyn;
  }
}

/** Of apiVersion, kind and metadata rules of the whole object see these. */
function withMetadata(schema: Schema): Schema {
  const metadata: Schema = { ...schema, embedded: false, properties: undefined, additional: undefined, type: "" };
  const properties = new Map(schema.properties);
  for (const name of ["apiVersion", "kind"]) {
    if (!properties.has(name)) properties.set(name, { ...metadata, type: "string", format: undefined });
  }
  properties.set("metadata", metadata);
  return { ...schema, properties };
}

type Scope = ReadonlyMap<string, CelType>;

const symbols: Readonly<Record<string, string>> = {
  "+": "_+_",
  "-": "_-_",
  "*": "_*_",
  "/": "_/_",
  "%": "_%_",
  "==": "_==_",
  "!=": "_!=_",
  "<": "_<_",
  "<=": "_<=_",
  ">": "_>_",
  ">=": "_>=_",
};
const numbers = ["int", "double", "uint"];
const loops = new Set("all exists exists_one existsOne map filter transformList transformMap sortBy".split(" "));
/** Types and namespaces that are written like variables. */
const globals = new Set(
  "sets format optional ip int uint double string bool bytes list map type null_type duration timestamp google".split(
    " ",
  ),
);

const functions = new Set(
  `has size int uint double string bool bytes dyn type duration timestamp matches quantity isQuantity url isURL ip isIP
  cidr isCIDR semver isSemver`.split(/\s+/),
);

/** Texts that are looked at before anything is evaluated. */
function isWrong(name: string, text: string): boolean {
  if (name === "timestamp") return Number.isNaN(Date.parse(text));
  if (name === "duration") return !/^[+-]?(0|((\d+(\.\d*)?|\.\d+)(ns|us|µs|μs|ms|s|m|h))+)$/.test(text);
  return name === "matches" && goRegExpError(text) !== undefined;
}

class Walker {
  readonly errors: string[] = [];
  readonly #expression: string;

  constructor(expression: string) {
    this.#expression = expression;
  }

  visit(node: CelNode, scope: Scope): CelType {
    const { op, args } = node;
    if (op === "value") return valueType(args);
    if (op === "id") return this.#name(node, scope);
    if (op === ".") return this.#field(node, scope);
    if (op === "[]") return this.visit((args as CelNode[])[0]!, scope).holds ?? this.#rest(args, scope);
    if (op === "rcall") return this.#method(node, scope);
    if (op === "call") return this.#call(node, scope);
    if (Object.hasOwn(symbols, op)) return this.#operator(node, scope);
    if (op === "in") return this.#membership(args as [CelNode, CelNode], scope);
    if (op === "!_") return this.#negation(node, scope);
    if (op === "list") return this.#list(args as CelNode[], scope);
    if (op === "&&" || op === "||") {
      this.#rest(args, scope);
      return simple("bool");
    }
    if (op === "?:") return this.#choice(args as CelNode[], scope);
    return this.#rest(args, scope);
  }

  #membership([item, list]: [CelNode, CelNode], scope: Scope): CelType {
    const [a, b] = [this.visit(item, scope), this.visit(list, scope)];
    if (isClear(a) && isClear(b)) {
      const at = this.#expression.indexOf("in", item.end);
      this.#report(at, `found no matching overload for '@in' applied to '(${a.name}, ${b.name})'`);
    }
    return simple("bool");
  }

  #negation({ args, pos }: CelNode, scope: Scope): CelType {
    const type = this.visit(args as CelNode, scope);
    if (isClear(type) && type.name !== "bool")
      this.#report(pos, `found no matching overload for '!_' applied to '(${type.name})'`);
    return simple("bool");
  }

  #list(items: readonly CelNode[], scope: Scope): CelType {
    const types = items.map((item) => this.visit(item, scope));
    const [first] = types;
    const odd = types.findIndex((type) => first && isClear(first) && isClear(type) && type.name !== first.name);
    if (odd > 0) this.#report(items[odd]!.start, `expected type '${first!.name}' but found '${types[odd]!.name}'`);
    return dyn;
  }

  #rest(args: unknown, scope: Scope): CelType {
    if (Array.isArray(args)) for (const inner of args) this.#rest(inner, scope);
    else if (isNode(args)) this.visit(args, scope);
    return dyn;
  }

  #choice([condition, left, right]: CelNode[], scope: Scope): CelType {
    if (condition) this.visit(condition, scope);
    const [a, b] = [left ? this.visit(left, scope) : dyn, right ? this.visit(right, scope) : dyn];
    if (condition && isClear(a) && isClear(b) && a.name !== b.name) {
      const at = this.#expression.indexOf("?", condition.end);
      this.#report(at, `found no matching overload for '_?_:_' applied to '(bool, ${a.name}, ${b.name})'`);
    }
    return a.name === b.name ? a : dyn;
  }

  #name({ args, pos }: CelNode, scope: Scope): CelType {
    const name = String(args);
    const known = scope.get(name);
    if (known || globals.has(name)) return known ?? dyn;
    this.#report(pos, `undeclared reference to '${name}' (in container '')`);
    return dyn;
  }

  #field({ args, pos }: CelNode, scope: Scope): CelType {
    const [inner, name] = args as [CelNode, string];
    const { schema } = this.visit(inner, scope);
    if (!schema?.properties) return this.#mapValue(inner, scope);
    for (const [field, property] of schema.properties)
      if (escapeName(field) === name || (name === "namespace" && field === name)) return typeOfSchema(property);
    this.#report(pos - 1, `undefined field '${name}'`);
    return dyn;
  }

  /** Without reporting what was reported already. */
  #mapValue(node: CelNode, scope: Scope): CelType {
    const type = new Walker(this.#expression).visit(node, scope);
    return type.name.startsWith("map(") ? type.holds! : dyn;
  }

  #method({ args }: CelNode, scope: Scope): CelType {
    const [name, receiver, list] = args as [string, CelNode, CelNode[]];
    const type = this.visit(receiver, scope);
    const [variable, ...bodies] = list;
    if (loops.has(name) && variable?.op === "id") {
      const item = type.name.startsWith("map(") ? simple("string") : (type.holds ?? dyn);
      const inner = new Map(scope).set(String(variable.args), item);
      // Two variables: not only the item but its place too.
      const second = bodies.length > 1 && bodies[0]!.op === "id" && name !== "map" ? bodies.shift() : undefined;
      if (second) inner.set(String(second.args), dyn).set(String(variable.args), dyn);
      for (const body of bodies) this.visit(body, inner);
      return name.startsWith("all") || name.startsWith("exists") ? simple("bool") : dyn;
    }
    this.#rest(list, scope);
    const [pattern] = list;
    if (name === "matches" && pattern?.op === "value" && isWrong(name, String(pattern.args)))
      this.#report(pattern.start, "invalid matches argument");
    if (name === "size") return simple("int");
    return ["startsWith", "endsWith", "contains", "matches"].includes(name) ? simple("bool") : dyn;
  }

  #call({ args, start }: CelNode, scope: Scope): CelType {
    const [name, list] = args as [string, CelNode[]];
    if (name === "has" && list.length === 1 && list[0]!.op !== "." && list[0]!.op !== ".?") {
      this.#report(list[0]!.start, "invalid argument to has() macro");
      return simple("bool");
    }
    if (!functions.has(name))
      this.#report(this.#expression.indexOf("(", start), `undeclared reference to '${name}' (in container '')`);
    this.#rest(list, scope);
    const [literal] = list;
    if (literal?.op === "value" && typeof literal.args === "string" && isWrong(name, literal.args))
      this.#report(literal.start, `invalid ${name} argument`);
    if (name === "has") return simple("bool");
    if (name === "size") return simple("int");
    return ["int", "double", "string", "bool"].includes(name) ? simple(name) : dyn;
  }

  #operator({ op, args }: CelNode, scope: Scope): CelType {
    const [left, right] = args as [CelNode, CelNode];
    const [a, b] = [this.visit(left, scope), this.visit(right, scope)];
    const compares = ["==", "!=", "<", "<=", ">", ">="].includes(op);
    if (isClear(a) && isClear(b) && !fits(op, a.name, b.name)) {
      const at = this.#expression.indexOf(op, left.end);
      this.#report(at, `found no matching overload for '${symbols[op]}' applied to '(${a.name}, ${b.name})'`);
    }
    if (compares) return simple("bool");
    return a.name === b.name ? a : dyn;
  }

  #report(offset: number, what: string): void {
    const before = this.#expression.slice(0, offset);
    const line = before.split("\n").length;
    const column = offset - (before.lastIndexOf("\n") + 1);
    const text = this.#expression.split("\n")[line - 1] ?? "";
    this.errors.push(`ERROR: <input>:${line}:${column + 1}: ${what}\n | ${text}\n | ${".".repeat(column)}^`);
  }
}

function isNode(value: unknown): value is CelNode {
  return typeof value === "object" && value !== null && typeof (value as CelNode).op === "string";
}

function valueType(value: unknown): CelType {
  if (typeof value === "bigint") return simple("int");
  if (typeof value === "number") return simple("double");
  if (typeof value === "string") return simple("string");
  return typeof value === "boolean" ? simple("bool") : dyn;
}

/** Types of which everything is known. */
function isClear({ name }: CelType): boolean {
  return ["int", "double", "string", "bool"].includes(name);
}

function fits(op: string, a: string, b: string): boolean {
  if (op === "==" || op === "!=") return a === b;
  if (["<", "<=", ">", ">="].includes(op)) return a === b || (numbers.includes(a) && numbers.includes(b));
  if (a !== b) return false;
  if (op === "+") return a !== "bool";
  return op === "%" ? a === "int" : numbers.includes(a);
}
