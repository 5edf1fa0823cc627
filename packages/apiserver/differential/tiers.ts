/**
 * How much of an answer is compared: every word where operators meet it, elsewhere the part that programs act upon,
 * which is status, reason and the fields of `causes`. Only refusals and warnings have words: objects, lists, tables and
 * events of watches are compared as a whole in both tiers.
 */
import type { Answer } from "./case.ts";

export type Tier = "words" | "outcome";

const coreWordForWord =
  "configmaps namespaces pods podtemplates replicationcontrollers secrets serviceaccounts services";

/** Tiers of the built-in groups; all other groups have custom kinds, which are compared word for word. */
const tiersOfGroups: Readonly<Record<string, Tier>> = {
  "admissionregistration.k8s.io": "words",
  "apiextensions.k8s.io": "words",
  "apiregistration.k8s.io": "outcome",
  apps: "words",
  "authentication.k8s.io": "words",
  "authorization.k8s.io": "words",
  autoscaling: "outcome",
  batch: "words",
  "certificates.k8s.io": "outcome",
  "coordination.k8s.io": "outcome",
  "discovery.k8s.io": "outcome",
  "events.k8s.io": "outcome",
  "flowcontrol.apiserver.k8s.io": "outcome",
  "internal.apiserver.k8s.io": "outcome",
  "networking.k8s.io": "outcome",
  "node.k8s.io": "outcome",
  policy: "outcome",
  "rbac.authorization.k8s.io": "words",
  "resource.k8s.io": "outcome",
  "scheduling.k8s.io": "outcome",
  "storage.k8s.io": "outcome",
  "storagemigration.k8s.io": "outcome",
};

/** Finds the tier of a request by the group and the resource of its path; discovery is compared word for word. */
export function tierOf(path: string): Tier {
  const [root, ...rest] = path.split("?")[0]!.split("/").filter(Boolean);
  if (root === "openapi") return "words";
  if (root !== "api" && root !== "apis") return "outcome";
  const group = root === "api" ? "" : (rest.shift() ?? "");
  const [, first, , namespaced] = rest;
  if (first === undefined) return "words";
  const resource = first === "namespaces" && namespaced !== undefined ? namespaced : first;
  if (group === "") return coreWordForWord.split(" ").includes(resource) ? "words" : "outcome";
  return tiersOfGroups[group] ?? "words";
}

/** Kinds about which kube-apiserver warns and this server does not. */
const withoutWarnings = /^\/api\/v1\/(?:namespaces\/[^/]+\/)?(?:services|secrets|serviceaccounts)(?:[/?]|$)/;

/** Finds the tier of warnings: word for word for pods, their templates and custom objects. */
export function tierOfWarnings(path: string): Tier {
  return withoutWarnings.test(path) ? "outcome" : "words";
}

interface Tiers {
  readonly tier: Tier;
  /** @default the tier */
  readonly warnings?: Tier;
}

/** Groups whose kinds have few rules here beyond their schemas: some objects are stored that kube-apiserver finds invalid. */
const unvalidated = ["discovery.k8s.io", "flowcontrol.apiserver.k8s.io", "resource.k8s.io", "storage.k8s.io"];

/** Whether objects of a kind are stored that kube-apiserver finds invalid. */
export function isUnvalidated({ group, plural }: { readonly group: string; readonly plural: string }): boolean {
  return unvalidated.includes(group) || plural === "persistentvolumes";
}

/** Whether kube-apiserver refuses an object that may be stored here. */
export function isOfItsValidation(path: string, { status }: Answer): boolean {
  const [, root, group = "", plural = ""] = path.split(/[/?]/);
  return status === 422 && isUnvalidated({ group: root === "apis" ? group : "", plural });
}

/** Returns the part of an answer that its tiers compare. */
export function comparedPart({ status, headers, body }: Answer, { tier, warnings = tier }: Tiers): Answer {
  const { warning, ...others } = headers;
  const hasWarning = warnings === "words" && warning !== undefined;
  return { status, headers: hasWarning ? headers : others, body: partOf(body, tier) };
}

interface Refusal {
  readonly code?: number;
  readonly reason?: string;
  readonly message?: string;
  readonly details?: { readonly causes?: readonly Cause[] };
}

interface Cause {
  readonly field?: string;
  readonly message?: string;
}

function partOf(value: unknown, tier: Tier): unknown {
  if (Array.isArray(value)) return value.map((item) => partOf(item, tier));
  if (typeof value !== "object" || value === null) return value;
  const fields = value as Readonly<Record<string, unknown>>;
  if (fields["kind"] === "Status" && fields["status"] === "Failure") {
    const refusal = fields as Refusal;
    return tier === "outcome" || isOfDecoder(fields) ? outcome(refusal) : withoutFreeWords(withoutRepetition(refusal));
  }
  // A watch reports a refusal as the object of an event.
  return fields["type"] === "ERROR" ? { ...fields, object: partOf(fields["object"], tier) } : value;
}

/** Returns the part of a refusal that programs act upon; a field with several mistakes counts once. */
function outcome({ code, reason, details }: Refusal): object {
  const fields = [...new Set((details?.causes ?? []).map(({ field }) => field ?? ""))].toSorted();
  return { kind: "Status", code, reason, fields };
}

/** Removes repeated causes, because Go's validation finds some mistakes in several passes. */
function withoutRepetition({ details, ...refusal }: Refusal): Refusal {
  if (details?.causes === undefined) return { ...refusal, ...(details && { details }) };
  const causes = new Map(details.causes.map((cause) => [JSON.stringify([cause.field, cause.message]), cause]));
  return { ...refusal, details: { ...details, causes: [...causes.values()] } };
}

/**
 * Whether a refusal says that a body cannot be read: its words are those of Go's decoders, except where strict decoding
 * names fields.
 */
export function isOfDecoder(body: unknown): boolean {
  if (typeof body !== "object" || body === null) return false;
  const { code, message = "" } = body as Refusal;
  const isStrict = message.includes("strict decoding error") && !message.includes("already set in map");
  return code === 400 && !isStrict;
}

/**
 * Removes the words that are free in both tiers: structs as Go prints them, differences of two structs, patched text
 * that cannot be decoded, and values as Go's libraries print them.
 */
function withoutFreeWords(value: unknown): unknown {
  if (typeof value === "string") return textWithoutFreeWords(value);
  if (Array.isArray(value)) return value.map(withoutFreeWords);
  if (typeof value !== "object" || value === null) return value;
  if ((value as Cause).field === "patch") return { ...value, message: "<text>" };
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [name, withoutFreeWords(field)]));
}

function textWithoutFreeWords(text: string): string {
  const short = text
    .replace(/(Forbidden: [^\n]*)\n[^]*/, "$1<difference>")
    .replace(/((?:patch: Invalid value|unknown patch type|response|json parse error): )[^]*/, "$1<text>")
    .replace(/(unable to convert unstructured object to [^:]*: )[^]*/, "$1<text>")
    .replace(/(json: cannot unmarshal )[^]*/, "$1<text>")
    .replace(/^(map: |list element types|The order in patch list)[^]*/, "$1<text>")
    .replace(/("<secret contents redacted>": )[^\n,]*/g, "$1<text>")
    .replace(/(accessor error: )[^]*?(?= is of the type)/g, "$1<value>")
    .replace(/(expected [\w ]+, got )[^]*?(?=\n {2}\.|$)/g, "$1<value>");
  let [result, rest] = ["", short];
  for (;;) {
    const start = /value: (?=\{|\[\{)/.exec(rest);
    if (start === null) return result + rest;
    const from = start.index + start[0].length;
    result += `${rest.slice(0, from)}<object>`;
    rest = rest.slice(from + lengthOfObject(rest.slice(from)));
  }
}

/** Returns the length of the JSON object or list at the beginning of a text. */
function lengthOfObject(text: string): number {
  let depth = 0;
  for (const { 0: token, index } of text.matchAll(/"(?:[^"\\]|\\.)*"|[{}[\]]/g)) {
    if (token === "{" || token === "[") depth++;
    else if ((token === "}" || token === "]") && --depth === 0) return index + 1;
  }
  return text.length;
}
