/** The string formats that definitions may name; any other format has no effect. */
import { isIP, isIPv4, isIPv6 } from "node:net";

const date = /^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])$/;
const dateTime = /^(\d{4}-\d\d-\d\d)[Tt ](\d\d:\d\d:\d\d)(\.\d+)?([Zz]|[+-]\d\d:?\d\d)$/;
const hostname =
  /^([a-zA-Z0-9\p{S}\p{L}]((-?[a-zA-Z0-9\p{S}\p{L}]{0,62})?)|([a-zA-Z0-9\p{S}\p{L}](([a-zA-Z0-9-\p{S}\p{L}]{0,61}[a-zA-Z0-9\p{S}\p{L}])?)(\.)){1,}([a-zA-Z\p{L}]){2,63})$/u;
const hex = "[0-9a-fA-F]";

function matching(pattern: string): (text: string) => boolean {
  const expression = new RegExp(pattern);
  return (text) => expression.test(text);
}

const formats: Readonly<Record<string, (text: string) => boolean>> = {
  byte: (text) => text.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(text),
  bsonobjectid: (text) => /^[0-9a-fA-F]{24}$/.test(text),
  cidr: isCidr,
  creditcard: (text) => /^\d{13,19}$/.test(text.replace(/[ -]/g, "")),
  date: (text) => date.test(text) && isDay(text),
  datetime: (text) => {
    const [, day, time] = dateTime.exec(text) ?? [];
    return day !== undefined && date.test(day) && /^([01]\d|2[0-3]):[0-5]\d:[0-5]\d$/.test(time!);
  },
  duration: (text) => isDuration(text),
  email: (text) => /^([^<>@]*<[^\s@<>]+@[^\s@<>]+>|[^\s@<>]+@[^\s@<>]+)$/.test(text.trim()),
  hexcolor: (text) => /^#?([0-9a-fA-F]{3}|[0-9a-fA-F]{6})$/.test(text),
  hostname: (text) => hostname.test(text) && text.length <= 253,
  // Leading zeros are allowed, as before Go 1.17.
  ipv4: (text) => isIPv4(text.replace(/\b0+(?=\d)/g, "")),
  ipv6: (text) => isIPv6(text),
  isbn: (text) => /^(\d{9}[\dX]|\d{13})$/.test(text.replace(/[ -]/g, "")),
  isbn10: (text) => /^\d{9}[\dX]$/.test(text.replace(/[ -]/g, "")),
  isbn13: (text) => /^\d{13}$/.test(text.replace(/[ -]/g, "")),
  k8slongname: (text) =>
    /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/.test(text) && text.length <= 253,
  k8sshortname: (text) => /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/.test(text) && text.length <= 63,
  mac: matching(`^${hex}{2}([:-]${hex}{2}){5,7}$`),
  password: () => true,
  rgbcolor: (text) => /^rgb\(\s*\d{1,3}\s*,\s*\d{1,3}\s*,\s*\d{1,3}\s*\)$/.test(text),
  ssn: (text) => /^\d{3}[- ]?\d{2}[- ]?\d{4}$/.test(text),
  uri: isRequestUri,
  uuid: matching(`^${hex}{8}-?${hex}{4}-?${hex}{4}-?${hex}{4}-?${hex}{12}$`),
  uuid3: matching(`^${hex}{8}-?${hex}{4}-?3${hex}{3}-?${hex}{4}-?${hex}{12}$`),
  uuid4: matching(`^${hex}{8}-?${hex}{4}-?4${hex}{3}-?[89abAB]${hex}{3}-?${hex}{12}$`),
  uuid5: matching(`^${hex}{8}-?${hex}{4}-?5${hex}{3}-?[89abAB]${hex}{3}-?${hex}{12}$`),
};

/** Returns the formats of strings in a schema that are not checked. */
export function unknownFormats(schema: unknown, unknown: Set<string> = new Set()): Set<string> {
  if (typeof schema !== "object" || schema === null) return unknown;
  const { type, format } = schema as { type?: unknown; format?: unknown };
  if (type === "string" && typeof format === "string" && format !== "" && format !== "date-time") {
    if (knownFormat(format) === undefined) unknown.add(format);
  }
  for (const part of Object.values(schema)) unknownFormats(part, unknown);
  return unknown;
}

/** Whether a string has a format; `undefined` for formats without effect. */
export function hasFormat(format: string, text: string): boolean | undefined {
  return knownFormat(format)?.(text);
}

function knownFormat(format: string): ((text: string) => boolean) | undefined {
  const name = format.replaceAll("-", "");
  return Object.hasOwn(formats, name) ? formats[name] : undefined;
}

export function isCidr(text: string): boolean {
  const [, address, length] = /^([^/]+)\/(\d{1,3})$/.exec(text) ?? [];
  if (address === undefined) return false;
  const family = isIP(address);
  return family !== 0 && Number(length) <= (family === 4 ? 32 : 128);
}

/** Whether the calendar has the day; JavaScript would accept 30 February as a day in March. */
function isDay(text: string): boolean {
  const at = Date.parse(text);
  return !Number.isNaN(at) && new Date(at).toISOString().startsWith(text);
}

const isoDuration = /^-?P(?=.)(\d+W|(\d+Y)?(\d+M)?(\d+D)?(T(?=.)(\d+H)?(\d+M)?(\d+(\.\d+)?S)?)?)$/;

function isDuration(text: string): boolean {
  return (
    isoDuration.test(text) ||
    /^[+-]?(0|(\d+(\.\d*)?|\.\d+)(ns|us|µs|μs|ms|s|m|h)((\d+(\.\d*)?|\.\d+)(ns|us|µs|μs|ms|s|m|h))*)$/.test(text) ||
    /^\d+\s*(ns|us|µs|ms|s|m|h|d|w|sec|second|min|minute|hr|hour|day|week|wk)s?$/i.test(text)
  );
}

function isRequestUri(text: string): boolean {
  return /^([a-zA-Z][a-zA-Z0-9+.-]*:|\/)\S*$/.test(text);
}
