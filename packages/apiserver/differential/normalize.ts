/**
 * Replaces values that differ between any two servers: uids, current times, resource versions, generated names,
 * allocated addresses and ports, tokens. Each gets a number in the order of appearance within a case, so equal values
 * stay equal and different ones stay different.
 */
import { parse as parseYaml } from "yaml";
import type { Answer, CaseRecord, Exchange } from "./case.ts";

const uid = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;
const time = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g;
const token = /eyJ[\w-]+\.eyJ[\w-]+\.[\w-]+/g;
/** Numbered names of types in messages about expressions. */
const selfType = /\bselfType\d+/g;
/** Addresses of Services: those of the default range and of the ServiceCIDR that a case creates. */
const clusterIp = /\b10\.9[68]\.\d{1,3}\.\d{1,3}(?![\d/])/g;
const versionInText =
  /(resource ?version(?: in precondition| in object meta)?:? ?"?|resourceVersion\\?": ?\\?"|ResourceVersion in precondition: |ResourceVersion in object meta: |RV=|too old resource version: |current: |\()(\d{2,})\b/gi;
/** The resource version of an object that a server creates when it starts. */
const earlyVersion = /(resourceVersion\\+": ?\\+")\d(?=\\+")/g;
const ports: ReadonlySet<string> = new Set(["nodePort", "healthCheckNodePort"]);
/** Pages about kube-apiserver's flags and builds, which this server does not have. */
const unserved: ReadonlySet<unknown> = new Set(["/flagz", "/statusz"]);
const day = 24 * 60 * 60 * 1000;

/** Lists whose order is that of a map. */
const unordered: ReadonlySet<string> = new Set(["nonResourceRules", "resourceRules"]);

export function normalizeCase(record: CaseRecord): CaseRecord {
  const names = new Names();
  const exchanges = record.exchanges.map((exchange) => normalizeExchange(exchange, names));
  return { ...record, exchanges };
}

function normalizeExchange({ label, call, answer }: Exchange, names: Names): Exchange {
  const request = call.body as { metadata?: { generateName?: string } } | undefined;
  const object = answer.body as
    { metadata?: { name?: string; generateName?: string }; details?: { name?: string } } | undefined;
  const prefix = object?.metadata?.generateName ?? request?.metadata?.generateName;
  const generated = object?.metadata?.name ?? object?.details?.name;
  // A long prefix is shortened, so that there is room for five more characters.
  const base = prefix?.slice(0, 58) ?? "";
  if (base !== "" && generated?.startsWith(base) && generated !== prefix) names.generated(generated, base);
  const headers = Object.fromEntries(Object.entries(answer.headers).map(([name, text]) => [name, names.text(text)]));
  // The time of a bookmark is random, except for the one that ends the initial events.
  const isYaml = answer.headers["content-type"]?.startsWith("application/yaml") === true;
  const read = (one: unknown): unknown => (isYaml && typeof one === "string" ? parseYaml(one) : one);
  const events = Array.isArray(answer.body)
    ? answer.body.map(read).filter((event) => !isTimed(event))
    : read(answer.body);
  const body = normalizeValue(events, "", names);
  const normalized: Answer = { status: answer.status, headers, body };
  return { label, call: { ...call, path: names.text(call.path) }, answer: normalized };
}

function normalizeValue(value: unknown, key: string, names: Names): unknown {
  if (typeof value === "string") {
    if (key === "resourceVersion") return names.version(value);
    if (key === "caBundle") return "<authority>";
    if (key === "continue") return value === "" ? "" : "<continue>";
    return names.text(value);
  }
  if (typeof value === "number") return ports.has(key) && value >= 30000 ? names.of("port", String(value)) : value;
  if (Array.isArray(value)) {
    const served = key === "paths" ? value.filter((item) => !unserved.has(item)) : value;
    const items = served.map((item) => normalizeValue(item, "", names));
    if (key === "managedFields") return inOneOrderOfManagers(value, items);
    return unordered.has(key) ? items.toSorted(byText) : items;
  }
  if (typeof value !== "object" || value === null) return value;
  const object = value as Record<string, unknown>;
  const fields = isStatus(object) ? inOneOrder(object) : object;
  if (fields["type"] === "BOOKMARK") return { type: "BOOKMARK", object: bookmark(fields["object"], names) };
  if (isTable(fields)) return normalizeTable(fields, names);
  if (isEvent(fields) && isTable(fields["object"] as Record<string, unknown>))
    return { type: fields["type"], object: eventTable(fields["object"] as Record<string, unknown>, names) };
  const isList = (fields["items"] === null || Array.isArray(fields["items"])) && typeof fields["metadata"] === "object";
  const entries: [string, unknown][] = [];
  for (const [name, field] of Object.entries(fields)) {
    if (isList && name === "metadata") entries.push([name, listMetadata(field as Record<string, unknown>, names)]);
    else entries.push([names.text(name), normalizeValue(field, name, names)]);
  }
  return Object.fromEntries(entries);
}

function isTimed(event: unknown): boolean {
  if (typeof event !== "object" || event === null) return false;
  return (
    (event as { type?: unknown }).type === "BOOKMARK" && !JSON.stringify(event).includes("k8s.io/initial-events-end")
  );
}

interface InvalidStatus {
  readonly message: string;
  readonly details: { readonly causes: readonly Cause[] };
}

interface Cause {
  readonly field?: string;
  readonly message: string;
}

/** Whether an object is a refusal with several causes, some of which may be in the order of a map. */
function isStatus(fields: Record<string, unknown>): boolean {
  const { details, message } = fields as Partial<InvalidStatus>;
  return fields["kind"] === "Status" && typeof message === "string" && (details?.causes?.length ?? 0) > 1;
}

/** Fields of a custom object, and resources of containers and pods, are validated in the order of Go's maps. */
function inOneOrder(status: Record<string, unknown>): Record<string, unknown> {
  const { message, details } = status as unknown as InvalidStatus;
  const { causes } = details;
  const isCustom = / is invalid: /.test(message) && String((details as { group?: string }).group).endsWith(".test");
  const isUnordered = (cause: Cause): boolean => isCustom || /(^|\.)resources(\.|$)/.test(cause.field ?? "");
  const sorted = causes.filter(isUnordered).toSorted((one, other) => (textOf(one) < textOf(other) ? -1 : 1));
  const ordered = causes.map((cause) => (isUnordered(cause) ? sorted.shift()! : cause));
  const text = message.replace(causes.map(textOf).join(", "), () => ordered.map(textOf).join(", "));
  return { ...status, message: text, details: { ...details, causes: ordered } };
}

function textOf({ field, message }: Cause): string {
  return `${field ?? ""}: ${message}`;
}

function isEvent(fields: Record<string, unknown>): boolean {
  return typeof fields["type"] === "string" && typeof fields["object"] === "object" && fields["object"] !== null;
}

/** Normalizes the table of an event, which has the resource version of its only object. */
function eventTable(fields: Record<string, unknown>, names: Names): unknown {
  const { resourceVersion } = fields["metadata"] as Record<string, unknown>;
  const table = normalizeTable(fields, names) as { readonly metadata: object };
  return { ...table, metadata: { ...table.metadata, resourceVersion: names.version(String(resourceVersion)) } };
}

function isTable(fields: Record<string, unknown>): boolean {
  return fields["kind"] === "Table" && (Array.isArray(fields["rows"]) || fields["rows"] === null);
}

function normalizeTable(fields: Record<string, unknown>, names: Names): unknown {
  const { metadata, rows, ...rest } = fields;
  const normalizedRows = (rows as Record<string, unknown>[] | null)?.map((row) => {
    const cells = (row["cells"] as unknown[] | undefined)?.map((cell) =>
      typeof cell === "string"
        ? names.text(cell.replace(/^(\d+[smhd])+( ago)?$/, "<age>").replace(/\((\d+[smhd])+ ago\)$/, "(<age> ago)"))
        : cell,
    );
    return { cells, ...(normalizeValue({ ...row, cells: undefined }, "", names) as object), ...(cells && { cells }) };
  });
  const columns = normalizeValue(rest, "", names) as object;
  return {
    ...columns,
    metadata: listMetadata(metadata as Record<string, unknown>, names),
    rows: normalizedRows ?? null,
  };
}

/** A list's version counts every write to the server, also from elsewhere, so only its order can be compared. */
function listMetadata(metadata: Record<string, unknown>, names: Names): unknown {
  const normalized = normalizeValue({ ...metadata, resourceVersion: undefined }, "", names) as Record<string, unknown>;
  delete normalized["resourceVersion"];
  const version = metadata["resourceVersion"];
  if (version === undefined) return normalized;
  const isNumber = typeof version === "string" && /^\d+$/.test(version);
  const order = isNumber && Number(version) >= names.highest ? "<not older>" : "<older>";
  return { ...normalized, resourceVersion: version === "" ? "" : order };
}

/** A bookmark has the version of the server, independently of the objects of a case. */
function bookmark(value: unknown, names: Names): unknown {
  const object = value as Record<string, unknown> | null;
  const metadata = object?.["metadata"];
  if (object === null || typeof metadata !== "object" || metadata === null) return normalizeValue(value, "", names);
  if (isTable(object)) {
    const rows = (object["rows"] as Record<string, unknown>[] | null)?.map((row) => ({
      ...row,
      object: bookmark(row["object"], names),
    }));
    const table = normalizeTable({ ...object, rows: null }, names) as { readonly metadata: object };
    return { ...table, metadata: { ...table.metadata, resourceVersion: "<version>" }, rows: rows ?? null };
  }
  const rest = normalizeValue({ ...object, metadata: undefined }, "", names) as object;
  const { resourceVersion, ...others } = metadata as Record<string, unknown>;
  const version = /^\d+$/.test(String(resourceVersion)) ? "<version>" : resourceVersion;
  return { ...rest, metadata: { ...(normalizeValue(others, "", names) as object), resourceVersion: version } };
}

function byText(left: unknown, right: unknown): number {
  const [one, other] = [JSON.stringify(left), JSON.stringify(right)];
  return one < other ? -1 : one > other ? 1 : 0;
}

/**
 * Sorts entries of managed fields, and marks a list that is not in the server's order. That order is by seconds, which
 * differ between two servers; so each list is checked against its own times, and the entries are compared by managers.
 */
function inOneOrderOfManagers(entries: readonly unknown[], normalized: readonly unknown[]): unknown[] {
  const keyOf = (entry: unknown): string => {
    const { operation, time, manager, apiVersion, subresource } = (entry ?? {}) as Record<string, unknown>;
    return JSON.stringify([operation, time ?? "", manager, apiVersion, subresource ?? ""]);
  };
  const keys = entries.map(keyOf);
  const isOrdered = keys.every((key, index) => index === 0 || keys[index - 1]! <= key);
  return [...(isOrdered ? [] : ["<out of order>"]), ...normalized.toSorted(byManager)];
}

function byManager(left: unknown, right: unknown): number {
  const keyOf = (entry: unknown): unknown[] => {
    const { manager, operation, subresource } = (entry ?? {}) as Record<string, unknown>;
    return [manager, operation, subresource];
  };
  return byText(keyOf(left), keyOf(right)) || byText(left, right);
}

/** Removes managed fields from an object that a message quotes, because their order depends on seconds. */
function withoutManagedFields(text: string): string {
  const start = text.indexOf('"managedFields\\":[');
  const begin = start < 0 ? text.indexOf('"managedFields":[') : start;
  if (begin < 0) return text;
  const open = text.indexOf("[", begin);
  let depth = 0;
  for (let index = open; index < text.length; index++) {
    if (text[index] === "[") depth++;
    else if (text[index] === "]" && --depth === 0)
      return `${text.slice(0, open)}<managed fields>${text.slice(index + 1)}`;
  }
  return text;
}

/** Sorts the mistakes that server-side apply lists in the order of Go's maps. */
function mistakesInOneOrder(text: string): string {
  const start = text.indexOf("errors:\n  ");
  if (start < 0 || text.startsWith("apiVersion: ")) return text;
  const [first = "", ...lines] = text.slice(start).split("\n");
  return [text.slice(0, start) + first, ...lines.toSorted()].join("\n");
}

/** The values of a case that have numbers. */
class Names {
  readonly #seen = new Map<string, string>();
  readonly #counts = new Map<string, number>();
  readonly #generated = new Map<string, string>();
  highest = 0;

  of(kind: string, value: string): string {
    const key = `${kind} ${value}`;
    let name = this.#seen.get(key);
    if (name === undefined) {
      const count = (this.#counts.get(kind) ?? 0) + 1;
      this.#counts.set(kind, count);
      name = `<${kind} ${count}>`;
      this.#seen.set(key, name);
    }
    return name;
  }

  version(value: string): string {
    if (!/^\d+$/.test(value) || value === "0" || value === "1") return value;
    this.highest = Math.max(this.highest, Number(value));
    return this.of("version", value);
  }

  generated(name: string, prefix: string): void {
    const shape = /^[a-z0-9]{5}$/.test(name.slice(prefix.length)) ? "" : " of another shape";
    if (!this.#generated.has(name))
      this.#generated.set(name, `${prefix}<generated ${this.#generated.size + 1}${shape}>`);
  }

  text(value: string): string {
    if (value.length < 5) return value;
    let text = value;
    for (const [name, replacement] of this.#generated) text = text.replaceAll(name, replacement);
    return withoutManagedFields(mistakesInOneOrder(text))
      .replace(/X509SHA256=[0-9a-f]{64}/, "X509SHA256=<hash>")
      .replace(token, "<token>")
      .replace(selfType, "selfType")
      .replace(/127\.0\.0\.1:\d{4,5}/g, "127.0.0.1:<a port>")
      .replace(uid, (found) => (/^[0-]+$/.test(found) ? found : this.of("uid", found)))
      .replace(time, (found, fraction?: string) =>
        Math.abs(Date.parse(found) - Date.now()) < 400 * day ? (fraction ? "<micro time>" : "<time>") : found,
      )
      .replace(clusterIp, (found) =>
        found === "10.96.0.1" || found === "10.96.0.10" ? found : this.of("address", found),
      )
      .replace(/\b3[012]\d\d\d\b/g, (found) => this.#seen.get(`port ${found}`) ?? found)
      .replace(versionInText, (_, before: string) => `${before}<version>`)
      .replace(earlyVersion, "$1<version>");
  }
}
