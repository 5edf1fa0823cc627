/** Messages whose JSON is not an object with their fields. */
import { WireReader } from "./wire-reader.ts";

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
  return json === "" ? null : (JSON.parse(json) as unknown);
}
