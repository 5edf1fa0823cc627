/** Messages whose JSON is not an object with their fields. */
import { parseJson, writeJson } from "../numbers.ts";
import { WireReader } from "./wire-reader.ts";
import type { WireWriter } from "./wire-writer.ts";

const machinery = "k8s.io.apimachinery.pkg";

/** Converts a message's bytes to its JSON, by the name of the message. */
export const fromOwnMessage: ReadonlyMap<string, (bytes: Uint8Array) => unknown> = new Map([
  [`${machinery}.api.resource.Quantity`, (bytes) => read(bytes).text(1) || "0"],
  [`${machinery}.util.intstr.IntOrString`, intOrString],
  [`${machinery}.apis.meta.v1.Time`, (bytes) => time(bytes, 0)],
  [`${machinery}.apis.meta.v1.MicroTime`, (bytes) => time(bytes, 6)],
  [`${machinery}.apis.meta.v1.Duration`, (bytes) => duration(read(bytes).number(1))],
  [`${machinery}.apis.meta.v1.FieldsV1`, embedded],
  [`${machinery}.runtime.RawExtension`, embedded],
  ["k8s.io.apiextensions_apiserver.pkg.apis.apiextensions.v1.JSON", embedded],
]);

interface Read {
  text(number: number): string;
  number(number: number): number;
  readonly isEmpty: boolean;
}

function read(bytes: Uint8Array): Read {
  const values = new Map<number, Uint8Array | bigint>();
  for (const { number, content } of new WireReader(bytes).fields()) values.set(number, content);
  return {
    isEmpty: values.size === 0,
    text(number) {
      const value = values.get(number);
      return value instanceof Uint8Array ? new TextDecoder().decode(value) : "";
    },
    number(number) {
      const value = values.get(number);
      return typeof value === "bigint" ? Number(BigInt.asIntN(64, value)) : 0;
    },
  };
}

function intOrString(bytes: Uint8Array): number | string {
  const fields = read(bytes);
  return fields.number(1) === 1 ? fields.text(3) : fields.number(2);
}

/** Go's zero time is encoded as nothing. */
function time(bytes: Uint8Array, digits: 0 | 6): string | null {
  const fields = read(bytes);
  if (fields.isEmpty) return null;
  const seconds = new Date(fields.number(1) * 1000).toISOString().slice(0, 19);
  if (digits === 0) return `${seconds}Z`;
  const micros = Math.floor(fields.number(2) / 1000);
  return `${seconds}.${String(micros).padStart(6, "0")}Z`;
}

/** Formats a duration as Go does, with the units that occur in such fields. */
function duration(nanoseconds: number): string {
  const seconds = nanoseconds / 1e9;
  const hours = Math.floor(seconds / 3600);
  const minutes = Math.floor((seconds % 3600) / 60);
  const rest = `${seconds % 60}s`;
  return hours > 0 ? `${hours}h${minutes}m${rest}` : minutes > 0 ? `${minutes}m${rest}` : rest;
}

function embedded(bytes: Uint8Array): unknown {
  const json = read(bytes).text(1);
  return json === "" ? null : parseJson(json);
}

type Write = (to: WireWriter, value: unknown) => void;

/** Writes the fields of a message from the last to the first; an absent value is written as Go's zero value. */
export const writeOwn: ReadonlyMap<string, Write> = new Map<string, Write>([
  [`${machinery}.api.resource.Quantity`, (to, value) => to.text(1, String(value ?? "0"))],
  [`${machinery}.util.intstr.IntOrString`, writeIntOrString],
  [`${machinery}.apis.meta.v1.Time`, writeTime],
  [`${machinery}.apis.meta.v1.MicroTime`, writeTime],
  [`${machinery}.apis.meta.v1.Duration`, (to, value) => to.number(1, nanoseconds(String(value ?? "0s")))],
  [`${machinery}.apis.meta.v1.FieldsV1`, writeEmbedded],
  [`${machinery}.runtime.RawExtension`, writeEmbedded],
  ["k8s.io.apiextensions_apiserver.pkg.apis.apiextensions.v1.JSON", writeEmbedded],
]);

function writeIntOrString(to: WireWriter, value: unknown): void {
  const isText = typeof value === "string";
  to.text(3, isText ? value : "");
  to.number(2, isText ? 0 : Number(value ?? 0));
  to.number(1, isText ? 1 : 0);
}

function writeTime(to: WireWriter, value: unknown): void {
  if (typeof value !== "string") return;
  to.number(2, Number((/\.(\d+)Z$/.exec(value)?.[1] ?? "0").padEnd(9, "0")));
  to.number(1, Math.floor(Date.parse(value) / 1000));
}

/** Converts a Go duration such as `1h2m3.5s` to nanoseconds. */
function nanoseconds(text: string): number {
  const units: Readonly<Record<string, number>> = { h: 3600e9, m: 60e9, s: 1e9, ms: 1e6, us: 1e3, ns: 1 };
  let sum = 0;
  for (const [, digits = "0", unit = "s"] of text.matchAll(/(?<![\d.])([\d.]+)(h|ms|m|us|ns|s)/g))
    sum += Number(digits) * (units[unit] ?? 0);
  return text.startsWith("-") ? -sum : sum;
}

function writeEmbedded(to: WireWriter, value: unknown): void {
  if (value !== undefined && value !== null) to.text(1, writeJson(value));
}
