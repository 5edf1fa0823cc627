/** In which form the client wants its answer. */
import { StatusError } from "../status.ts";

/** `object` is what is stored; the others are made from it. */
export type Form = "object" | "Table" | "PartialObjectMetadata" | "APIGroupDiscoveryList";

export interface Accepted {
  readonly form: Form;
  /** The version of `meta.k8s.io`, or of `apidiscovery.k8s.io`. */
  readonly formVersion: string;
  /** Metadata was asked for by the name that lists have. */
  readonly isListForm: boolean;
  readonly yaml: boolean;
}

const plain: Accepted = { form: "object", formVersion: "", isListForm: false, yaml: false };
const plainYaml: Accepted = { ...plain, yaml: true };

const metaForms = { group: "meta.k8s.io", versions: ["v1", "v1beta1"] };
/** Its older version, v2beta1, is served no more. */
const discoveryForms = { group: "apidiscovery.k8s.io", versions: ["v2"] };

const types = ["application/json", "application/yaml", "application/vnd.kubernetes.protobuf"];
const streams = ["application/json;stream=watch", "application/vnd.kubernetes.protobuf;stream=watch"];

/**
 * What stands before the handler: a `route` looks at media types alone and names those it has, and a `listRoute` has
 * more of them.
 */
export type Served = "route" | "listRoute" | "handler";

/**
 * The first form of an `Accept` header that the server can answer in.
 *
 * @throws StatusError 406 when there is none.
 */
export function accepted(header: string | null, forms: readonly Form[], served: Served): Accepted {
  if (header === null || header === "" || header === "application/json") return plain;
  const clauses = header.split(",");
  if (served === "route" || served === "listRoute") checkRoute(clauses, served === "listRoute");
  const found = negotiated(clauses, forms);
  if (found !== undefined) return found;
  const message = `only the following media types are accepted: ${types.join(", ")}`;
  throw new StatusError(406, "NotAcceptable", { message });
}

/** In which form a `Status` is answered; `undefined` when the client accepts none of them. */
export function acceptedStatus(header: string | null): Accepted | undefined {
  if (header === null || header === "" || header === "application/json") return plain;
  return negotiated(header.split(","), []);
}

function negotiated(clauses: readonly string[], forms: readonly Form[]): Accepted | undefined {
  for (const clause of preferred(clauses)) {
    const [type = "", ...parameters] = clause.split(";").map((part) => part.trim());
    const yaml = type === "application/yaml";
    if (type !== "application/json" && !yaml && type !== "*/*" && type !== "application/*") continue;
    const parameter = (name: string): string | undefined =>
      parameters.find((text) => text.startsWith(`${name}=`))?.slice(name.length + 1);
    const asked = parameter("as");
    const [group, formVersion = ""] = [parameter("g"), parameter("v")];
    if (asked === undefined) {
      if (group !== undefined || formVersion !== "") continue; // a form without a name is none
      return yaml ? plainYaml : plain;
    }
    const isListForm = asked === "PartialObjectMetadataList";
    const form = (isListForm ? "PartialObjectMetadata" : asked) as Form;
    if (!forms.includes(form)) continue;
    const known = form === "APIGroupDiscoveryList" ? discoveryForms : metaForms;
    if (group !== known.group || !known.versions.includes(formVersion)) continue;
    return { form, formVersion, isListForm, yaml };
  }
  return undefined;
}

/** What a client wants most comes first; those it wants as much keep their order. */
export function preferred(clauses: readonly string[]): readonly string[] {
  if (!clauses.some((clause) => clause.includes("q="))) return clauses;
  const quality = (clause: string): number => {
    const found = /;\s*q=([0-9.]+)\s*(?:;|$)/.exec(clause);
    return found === null ? 1 : Number(found[1]);
  };
  return clauses.toSorted((left, right) => quality(right) - quality(left));
}

/** @throws StatusError 406 when no clause is a type of the route, whatever its parameters. */
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

/** @throws StatusError 406 unless the client accepts the type, for what the server has in no other form. */
export function acceptsOnly(header: string | null, only: string): void {
  const clauses = (header ?? "").split(",").map((clause) => clause.split(";", 1)[0]!.trim());
  if (clauses.some((type) => type === "" || type === "*/*" || type === only)) return;
  throw notRepresentable([only]);
}
