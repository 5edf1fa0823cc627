/** Negotiates the form of a response. */
import { StatusError } from "../status.ts";

/** The encoding of a response. */
export type Media = "json" | "yaml" | "protobuf";

/** `object` is the stored form; the others are derived from it. */
export type Form = "object" | "Table" | "PartialObjectMetadata" | "APIGroupDiscoveryList";

export interface Accepted {
  readonly form: Form;
  /** The version of `meta.k8s.io` or `apidiscovery.k8s.io`. */
  readonly formVersion: string;
  /** Whether metadata was requested by the name of its list form. */
  readonly isListForm: boolean;
  readonly media: Media;
}

/** The stored form, in JSON. */
export const plain: Accepted = { form: "object", formVersion: "", isListForm: false, media: "json" };

const metaForms = { group: "meta.k8s.io", versions: ["v1", "v1beta1"] };
/** The older version, v2beta1, is not served any more. */
const discoveryForms = { group: "apidiscovery.k8s.io", versions: ["v2"] };

const types = ["application/json", "application/yaml", "application/vnd.kubernetes.protobuf"];
const streams = ["application/json;stream=watch", "application/vnd.kubernetes.protobuf;stream=watch"];

/**
 * The part of the server that handles a path: a `route` checks media types alone and has its own, a `listRoute` has
 * further ones.
 */
export type Served = "route" | "listRoute" | "handler";

interface Written {
  /** Whether the response can be encoded in protobuf, or only the metadata of objects can. @default false */
  readonly protobuf?: boolean | "metadata";
}

/**
 * Returns the first form of an `Accept` header that the server can serve.
 *
 * @throws StatusError 406 when there is none.
 */
export function accepted(
  header: string | null,
  forms: readonly Form[],
  { served, ...written }: Written & { readonly served: Served },
): Accepted {
  if (header === null || header === "" || header === "application/json") return plain;
  const clauses = header.split(",");
  if (served === "route" || served === "listRoute") checkRoute(clauses, served === "listRoute");
  const form = negotiated(clauses, forms, written);
  if (form !== undefined) return form;
  const message = `only the following media types are accepted: ${types.join(", ")}`;
  throw new StatusError(406, "NotAcceptable", { message });
}

/** Returns the form of a `Status`; `undefined` when the client accepts none. */
export function acceptedStatus(header: string | null): Accepted | undefined {
  if (header === null || header === "" || header === "application/json") return plain;
  return negotiated(header.split(","), [], { protobuf: true });
}

const medias: Readonly<Record<string, Media>> = {
  "application/json": "json",
  "application/*": "json",
  "*/*": "json",
  "application/yaml": "yaml",
  "application/vnd.kubernetes.protobuf": "protobuf",
};

function negotiated(
  clauses: readonly string[],
  forms: readonly Form[],
  { protobuf = false }: Written,
): Accepted | undefined {
  for (const clause of preferred(clauses)) {
    const [type = "", ...parameters] = clause.split(";").map((part) => part.trim());
    const media = Object.hasOwn(medias, type) ? medias[type] : undefined;
    if (media === undefined || (media === "protobuf" && protobuf === false)) continue;
    const parameter = (name: string): string | undefined =>
      parameters
        .map((text) => text.split(/=(.*)/s, 2))
        .find(([found]) => found!.trimEnd() === name)?.[1]
        ?.trimStart();
    const kind = parameter("as");
    const [group, formVersion = ""] = [parameter("g"), parameter("v")];
    if (kind === undefined) {
      if (group !== undefined || formVersion !== "") continue; // a form needs a name
      if (media === "protobuf" && protobuf === "metadata") continue;
      return media === "json" ? plain : { ...plain, media };
    }
    const isListForm = kind === "PartialObjectMetadataList";
    const form = (isListForm ? "PartialObjectMetadata" : kind) as Form;
    // Tables are not encoded in protobuf.
    if (!forms.includes(form) || (media === "protobuf" && form === "Table")) continue;
    const known = form === "APIGroupDiscoveryList" ? discoveryForms : metaForms;
    if (group !== known.group || !known.versions.includes(formVersion)) continue;
    return { form, formVersion, isListForm, media };
  }
  return undefined;
}

/** Sorts clauses by preference; equally preferred ones keep their order. */
export function preferred(clauses: readonly string[]): readonly string[] {
  if (!clauses.some((clause) => clause.includes("q="))) return clauses;
  const quality = (clause: string): number => {
    const quality = /; *q *=([^;]*)/.exec(clause)?.[1];
    if (quality === undefined) return 1;
    // A quality that Go cannot parse counts as 0.
    return /^[0-9]*(?:\.[0-9]*)?$/.test(quality) ? Number(quality) || 0 : 0;
  };
  return clauses.toSorted((left, right) => quality(right) - quality(left));
}

/** Checks the media types. @throws StatusError 406 when no clause is a type of the route, whatever its parameters. */
function checkRoute(clauses: readonly string[], isList: boolean): void {
  for (const clause of clauses) {
    const type = clause.split(";", 1)[0]!.trim();
    if (type === "*/*" || types.includes(type)) return;
  }
  throw notRepresentable(isList ? [...types, ...streams] : types);
}

function notRepresentable(known: readonly string[]): StatusError {
  const message = `406: Not Acceptable\n\nAvailable representations: ${known.join(", ")}`;
  return new StatusError(406, "NotAcceptable", { message, details: {} });
}

/**
 * Requires one media type, for responses that have only one form. @throws StatusError 406 unless the client accepts the
 * type.
 */
export function acceptsOnly(header: string | null, only: string): void {
  if (header === null || header === "") return;
  const clauses = header.split(",").map((clause) => clause.split(";", 1)[0]!.trim());
  if (clauses.some((type) => type === "*/*" || type === only)) return;
  throw notRepresentable([only]);
}
