/** String functions for rules: regular expressions, CEL's extended strings, named formats. */
import type { Environment } from "@marcbachmann/cel-js";
import { hasFormat } from "../schema/formats.ts";
import { goRegExp } from "../schema/go-regexp.ts";
import { dns1035Label, dnsLabel, dnsSubdomain, labelValue, qualifiedName } from "../validation/formats.ts";

export class NamedFormat {
  readonly name: string;

  constructor(name: string) {
    this.name = name;
  }

  /** The length of the pattern that stands for the format in the cost of a validation. */
  get patternSize(): number {
    return patternSizes[this.name] ?? 0;
  }
}

const patternSizes: Readonly<Record<string, number>> = {
  dns1123Label: 30,
  dns1123Subdomain: 60,
  dns1035Label: 30,
  qualifiedName: 60,
  dns1123LabelPrefix: 30,
  dns1123SubdomainPrefix: 60,
  dns1035LabelPrefix: 30,
  labelValue: 40,
  uri: 1103,
  uuid: 70,
  byte: 84,
  date: 71,
  datetime: 71,
};

class FormatNamespace {
  readonly name = "format";
}

export function registerStrings(environment: Environment): void {
  environment
    .registerFunction("string.find(string): string", (text: string, pattern: string) => all(text, pattern)[0] ?? "")
    .registerFunction("string.findAll(string): list<string>", (text: string, pattern: string) => all(text, pattern))
    .registerFunction("string.findAll(string, int): list<string>", (text: string, pattern: string, most: bigint) =>
      most < 0n ? all(text, pattern) : all(text, pattern).slice(0, Number(most)),
    )
    .registerFunction("string.charAt(int): string", (text: string, index: bigint) => charAt(text, index))
    .registerFunction("string.replace(string, string): string", (text: string, from: string, to: string) =>
      text.split(from).join(to),
    )
    .registerFunction(
      "string.replace(string, string, int): string",
      (text: string, from: string, to: string, most: bigint) => replaceSome(text, { from, to, most }),
    )
    .registerFunction("string.format(list): string", (text: string, values: unknown[]) => format(text, values));
  registerNamedFormats(environment);
}

function all(text: string, pattern: string): string[] {
  const expression = goRegExp(pattern);
  if (!expression) throw new Error(`error parsing regexp: ${pattern}`);
  return expression.all(text);
}

function charAt(text: string, index: bigint): string {
  const characters = Array.from(text);
  if (index < 0n || index > BigInt(characters.length)) throw new Error(`index out of range: ${index}`);
  return characters[Number(index)] ?? "";
}

function replaceSome(text: string, { from, to, most }: { from: string; to: string; most: bigint }): string {
  if (most < 0n) return text.split(from).join(to);
  const parts = text.split(from);
  const count = Math.min(Number(most), parts.length - 1);
  return [parts.slice(0, count + 1).join(to), ...parts.slice(count + 1)].join(from);
}

/** Formats with `%s`, `%d`, `%f`, `%e`, `%b`, `%x`, `%X`, `%o` and `%%`. */
function format(text: string, values: readonly unknown[]): string {
  let next = 0;
  return text.replace(/%(?:\.(\d+))?([sdfebxXo%])/g, (_, precision: string | undefined, verb: string) => {
    if (verb === "%") return "%";
    if (next >= values.length) throw new Error(`index ${next} out of range`);
    return formatOne(values[next++], { verb, precision: precision === undefined ? 6 : Number(precision) });
  });
}

function formatOne(value: unknown, { verb, precision }: { verb: string; precision: number }): string {
  const number = Number(value);
  switch (verb) {
    case "d":
      return String(value);
    case "f":
      return number.toFixed(precision);
    case "e":
      return number.toExponential(precision).replace(/e([+-])(\d)$/, "e$10$2");
    case "b":
      return typeof value === "boolean" ? String(Number(value)) : BigInt(number).toString(2);
    case "o":
      return BigInt(number).toString(8);
    case "x":
    case "X": {
      const text = typeof value === "string" ? Buffer.from(value).toString("hex") : BigInt(number).toString(16);
      return verb === "x" ? text : text.toUpperCase();
    }
    default:
      return celText(value);
  }
}

function celText(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(celText).join(", ")}]`;
  if (value instanceof Date) return value.toISOString().replace(".000Z", "Z");
  if (typeof value !== "object" || value === null) return String(value);
  const entries = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return `{${entries.map(([name, field]) => `${name}: ${celText(field)}`).join(", ")}}`;
}

/** Functions that return, for each format, the mistakes of a text in the words of kube-apiserver. */
const named: Readonly<Record<string, (text: string) => readonly string[]>> = {
  dns1123Label: dnsLabel,
  dns1123Subdomain: dnsSubdomain,
  dns1035Label,
  qualifiedName,
  dns1123LabelPrefix: (text) => dnsLabel(asWhole(text)),
  dns1123SubdomainPrefix: (text) => dnsSubdomain(asWhole(text)),
  dns1035LabelPrefix: (text) => dns1035Label(asWhole(text)),
  labelValue,
  uri: (text) => unless("uri", { text, detail: `parse ${JSON.stringify(text)}: invalid URI for request` }),
  uuid: (text) => unless("uuid", { text, detail: "does not match the UUID format" }),
  byte: (text) => unless("byte", { text, detail: "invalid base64" }),
  date: (text) => unless("date", { text, detail: "invalid date" }),
  datetime: (text) => unless("datetime", { text, detail: "invalid datetime" }),
};

function unless(format: string, { text, detail }: { readonly text: string; readonly detail: string }): string[] {
  return hasFormat(format, text) === true ? [] : [detail];
}

/** A prefix may end in a hyphen, because the rest of the name follows it. */
function asWhole(text: string): string {
  return text.length > 1 && text.endsWith("-") ? `${text.slice(0, -1)}a` : text;
}

/**
 * Registers calls such as `format.dns1123Label().validate(text)`, which return nothing for a valid text and a list of
 * errors otherwise.
 */
function registerNamedFormats(environment: Environment): void {
  environment
    .registerType("NamedFormat", { ctor: NamedFormat, fields: { name: "string" } })
    .registerType("FormatNamespace", { ctor: FormatNamespace, fields: {} })
    .registerConstant("format", "FormatNamespace", new FormatNamespace());
  for (const name of Object.keys(named)) {
    environment.registerFunction(`FormatNamespace.${name}(): NamedFormat`, () => new NamedFormat(name));
  }
  environment.registerFunction("FormatNamespace.named(string): dyn", (_: unknown, name: string) =>
    optionalOf(environment, Object.hasOwn(named, name) ? new NamedFormat(name) : undefined),
  );
  environment.registerFunction(
    "NamedFormat.validate(string): optional<list<string>>",
    ({ name }: NamedFormat, text: string) => optionalOf(environment, nonEmpty(named[name]!(text))),
  );
}

function nonEmpty(list: readonly string[]): readonly string[] | undefined {
  return list.length === 0 ? undefined : list;
}

function optionalOf(environment: Environment, value: unknown): unknown {
  return environment.evaluate(value === undefined ? "optional.none()" : "optional.of(self)", { self: value });
}
