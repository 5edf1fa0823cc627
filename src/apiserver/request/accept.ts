/** In which form the client wants its answer. */
import { StatusError } from "../status.ts";

/** `object` is what is stored; the others are made from it. */
export type Form = "object" | "Table" | "PartialObjectMetadata" | "APIGroupDiscoveryList";

export interface Accepted {
  readonly form: Form;
  /** The version of `meta.k8s.io`, or of `apidiscovery.k8s.io`. */
  readonly formVersion: string;
  readonly yaml: boolean;
}

const plain: Accepted = { form: "object", formVersion: "", yaml: false };

const types = ["application/json", "application/yaml", "application/vnd.kubernetes.protobuf"];

/**
 * The first form of an `Accept` header that the server can answer in.
 *
 * @throws StatusError 406 when there is none.
 */
export function accepted(header: string | null, forms: readonly Form[], custom = false): Accepted {
  if (header === null || header === "" || header === "application/json") return plain;
  for (const clause of header.split(",")) {
    const [type = "", ...parameters] = clause.split(";").map((part) => part.trim());
    const yaml = type === "application/yaml";
    if (type !== "application/json" && !yaml && type !== "*/*" && type !== "application/*") continue;
    const parameter = (name: string): string | undefined =>
      parameters.find((text) => text.startsWith(`${name}=`))?.slice(name.length + 1);
    // A list of metadata is asked for by its own name.
    const form = parameter("as")?.replace(/^PartialObjectMetadataList$/, "PartialObjectMetadata");
    if (form === undefined) return { ...plain, yaml };
    const formVersion = parameter("v") ?? "";
    const group = parameter("g");
    if (!forms.includes(form as Form)) continue;
    if (form === "APIGroupDiscoveryList" ? group !== "apidiscovery.k8s.io" : group !== "meta.k8s.io") continue;
    if (!["v1", "v1beta1", "v2", "v2beta1"].includes(formVersion)) continue;
    return { form: form as Form, formVersion, yaml };
  }
  const message = custom
    ? `only the following media types are accepted: ${types.slice(0, 2).join(", ")}`
    : `406: Not Acceptable\n\nAvailable representations: ${types.join(", ")}`;
  throw new StatusError(406, "NotAcceptable", { message, ...(custom ? {} : { details: {} }) });
}
