/**
 * The types of CEL and their assignability, after the ideas of cel-go's checker. @see
 * https://github.com/google/cel-spec/blob/master/doc/langdef.md#gradual-type-checking
 */

export type Kind =
  "dyn" | "error" | "null" | "primitive" | "wellKnown" | "list" | "map" | "type" | "opaque" | "struct" | "param";

export interface Type {
  readonly kind: Kind;
  /** The name, such as `int`, `list`, `optional_type` or `google.protobuf.Duration`. */
  readonly name: string;
  readonly params: readonly Type[];
  /** The fields of a struct; those of libraries have none that are known. */
  readonly fields?: () => ReadonlyMap<string, Type>;
}

function make(kind: Kind, name: string, params: readonly Type[] = []): Type {
  return { kind, name, params };
}

export const dyn: Type = make("dyn", "dyn");
export const errorType: Type = make("error", "!error!");
export const nullType: Type = make("null", "null_type");
export const bool: Type = make("primitive", "bool");
export const int: Type = make("primitive", "int");
export const uint: Type = make("primitive", "uint");
export const double: Type = make("primitive", "double");
export const string: Type = make("primitive", "string");
export const bytes: Type = make("primitive", "bytes");
export const duration: Type = make("wellKnown", "google.protobuf.Duration");
export const timestamp: Type = make("wellKnown", "google.protobuf.Timestamp");

export function listOf(items: Type): Type {
  return make("list", "list", [items]);
}

export function mapOf(keys: Type, values: Type): Type {
  return make("map", "map", [keys, values]);
}

export function typeOf(type: Type): Type {
  return make("type", "type", [type]);
}

export function optionalOf(type: Type): Type {
  return make("opaque", "optional_type", [type]);
}

export function param(name: string): Type {
  return make("param", name);
}

/** Makes an object type; its fields are created when they are first used. */
export function struct(name: string, fields: () => ReadonlyMap<string, Type>): Type {
  let types: ReadonlyMap<string, Type> | undefined;
  return { kind: "struct", name, params: [], fields: () => (types ??= fields()) };
}

const named: ReadonlyMap<string, Type> = new Map(
  [dyn, nullType, bool, int, uint, double, string, bytes, duration, timestamp].map((type) => [type.name, type]),
);

const simple: readonly Type[] = [nullType, bool, int, uint, double, string, bytes, duration, timestamp];

/** Returns the part of a type that is known for a variable: only simple types, lists and maps. */
export function remembered(type: Type): Type {
  if (type.kind === "list" || type.kind === "map") return { ...type, params: type.params.map(remembered) };
  return simple.some((one) => isSame(one, type)) ? type : dyn;
}

/**
 * Parses a type such as `map(string,list(A))`; single capitals are parameters, dotted names are opaque types or
 * structs without fields.
 */
export function parseType(text: string): Type {
  const known = named.get(text);
  if (known !== undefined) return known;
  if (/^[A-Z]$/.test(text)) return param(text);
  const open = text.indexOf("(");
  if (open < 0) {
    if (text === "list") return listOf(dyn);
    if (text === "map") return mapOf(dyn, dyn);
    if (text === "type") return make("type", "type");
    return text.startsWith("net.") ? make("opaque", text) : make("struct", text);
  }
  const params = splitParams(text.slice(open + 1, -1)).map(parseType);
  const name = text.slice(0, open);
  const kind = name === "list" || name === "map" || name === "type" ? name : "opaque";
  return make(kind, name, params);
}

function splitParams(text: string): string[] {
  const parts: string[] = [];
  let depth = 0;
  let start = 0;
  for (let at = 0; at < text.length; at++) {
    if (text[at] === "(") depth++;
    else if (text[at] === ")") depth--;
    else if (text[at] === "," && depth === 0) {
      parts.push(text.slice(start, at).trim());
      start = at + 1;
    }
  }
  return [...parts, text.slice(start).trim()];
}

/** Formats a type as the checker's messages do. */
export function shown(type: Type): string {
  if (type === duration) return "duration";
  if (type === timestamp) return "timestamp";
  if (type.kind === "null") return "null";
  return type.params.length === 0 ? type.name : `${type.name}(${type.params.map(shown).join(", ")})`;
}

/** Formats a type as Go prints it. */
export function printed(type: Type): string {
  return type.params.length === 0 ? type.name : `${type.name}(${type.params.map(printed).join(", ")})`;
}

export function isSame(one: Type, other: Type): boolean {
  if (one === other) return true;
  if (one.kind !== other.kind || one.name !== other.name || one.params.length !== other.params.length) return false;
  return one.params.every((each, index) => isSame(each, other.params[index]!));
}

export function isDynOrError({ kind }: Type): boolean {
  return kind === "dyn" || kind === "error";
}

/** Returns the type that an optional holds; `undefined` for any other type. */
export function unwrapped(type: Type): Type | undefined {
  return type.kind === "opaque" && type.name === "optional_type" ? type.params[0] : undefined;
}

/** The type that each type parameter stands for. */
export type Bindings = ReadonlyMap<string, Type>;

/** Returns the bindings under which the first types are assignable to the second; `undefined` when there are none. */
export function assign(bindings: Bindings, from: readonly Type[], to: readonly Type[]): Bindings | undefined {
  const copy = new Map(bindings);
  return fitAll(copy, from, to) ? copy : undefined;
}

function fitAll(bindings: Map<string, Type>, from: readonly Type[], to: readonly Type[]): boolean {
  return from.length === to.length && from.every((type, index) => fits(bindings, type, to[index]!));
}

function fits(bindings: Map<string, Type>, from: Type, to: Type): boolean {
  if (to.kind === "param") {
    const { valid, bound } = stands(bindings, from, to);
    if (valid) return true;
    if (bound) return false;
  }
  if (from.kind === "param") return stands(bindings, to, from).valid;
  if (isDynOrError(from) || isDynOrError(to)) return true;
  if (from.kind === "null") return isNullable(to);
  if (to.kind === "null") return isNullable(from);
  switch (from.kind) {
    case "primitive":
    case "wellKnown":
    case "struct":
      return from.kind === to.kind && from.name === to.name;
    case "type":
      return to.kind === "type";
    default:
      return from.kind === to.kind && from.name === to.name && fitAll(bindings, from.params, to.params);
  }
}

function isNullable({ kind }: Type): boolean {
  return kind === "null" || kind === "opaque" || kind === "struct" || kind === "wellKnown";
}

function stands(
  bindings: Map<string, Type>,
  type: Type,
  parameter: Type,
): { readonly valid: boolean; readonly bound: boolean } {
  if (isSame(type, parameter)) return { valid: true, bound: true };
  const known = bindings.get(parameter.name);
  if (known !== undefined) {
    if (isSame(type, known)) return { valid: true, bound: true };
    if (!fits(bindings, type, known)) return { valid: false, bound: true };
    const general = mostGeneral(type, known);
    if (!occursIn(bindings, parameter, general)) bindings.set(parameter.name, general);
    return { valid: true, bound: true };
  }
  if (occursIn(bindings, parameter, type)) return { valid: false, bound: false };
  bindings.set(parameter.name, type);
  return { valid: true, bound: false };
}

function occursIn(bindings: Bindings, parameter: Type, within: Type): boolean {
  if (isSame(parameter, within)) return true;
  if (within.kind === "param") {
    const known = bindings.get(within.name);
    return known !== undefined && occursIn(bindings, parameter, known);
  }
  return within.params.some((each) => occursIn(bindings, parameter, each));
}

/** Returns the more general one of two types that are assignable to each other. */
export function mostGeneral(one: Type, other: Type): Type {
  return saysNoMore(one, other) ? one : other;
}

function saysNoMore(one: Type, other: Type): boolean {
  if (one.kind === "dyn" || one.kind === "param") return true;
  if (other.kind === "dyn" || other.kind === "param" || one.kind !== other.kind) return false;
  if (one.kind === "type") return true;
  if (one.name !== other.name || one.params.length !== other.params.length) return false;
  return one.params.every((each, index) => saysNoMore(each, other.params[index]!));
}

/** Replaces type parameters by their bindings. @param asDyn whether unbound ones become `dyn` */
export function substitute(bindings: Bindings, type: Type, asDyn = false): Type {
  if (type.kind === "param") {
    const known = bindings.get(type.name);
    if (known !== undefined) return substitute(bindings, known, asDyn);
    return asDyn ? dyn : type;
  }
  if (type.params.length === 0) return type;
  return { ...type, params: type.params.map((each) => substitute(bindings, each, asDyn)) };
}
