/** Checks of a sent object that several verbs share, and the errors of writes. */
import { goQuoted } from "../field-error.ts";
import type { KubeObject } from "../hooks.ts";
import { keyOf } from "../registry/resource.ts";
import { badRequest, conflict, notFound, StatusError } from "../status.ts";
import type { ApiCall } from "./api-call.ts";

/** The reason why a change conflicts with another one. */
export const modified = "the object has been modified; please apply your changes to the latest version and try again";

/** Requires a name in the path. @throws StatusError 400 when the path names a collection */
export function checkNamed({ name }: { readonly name: string }): void {
  if (name === "") throw badRequest("name must be provided");
}

/** Requires the name of the path. @throws StatusError 400 when the object has none or another one. */
export function checkName({ metadata: { name } }: KubeObject, expected: string): void {
  if (!name)
    throw badRequest(`the name of the object (${expected} based on URL) was undeterminable: name must be provided`);
  if (name !== expected)
    throw badRequest(`the name of the object (${name}) does not match the name on the URL (${expected})`);
}

/** Requires the namespace of the path. @throws StatusError 400 when the object names another one. */
export function ensureNamespace({ resource, target }: ApiCall, { metadata }: KubeObject): void {
  const expected = resource.row.namespaced ? target.namespace : "";
  if (metadata.namespace === undefined || metadata.namespace === "" || expected === "") {
    if (expected === "") delete metadata.namespace;
    else metadata.namespace = expected;
  } else if (metadata.namespace !== expected) {
    throw badRequest("the namespace of the provided object does not match the namespace sent on the request");
  }
}

/** Rejects new objects in a namespace that does not exist or is being deleted. */
export function checkNamespaceOpen(
  { kernel, resource: { row }, target }: ApiCall,
  name: string | undefined = target.name,
): void {
  if (!kernel.admission.plugins.has("NamespaceLifecycle")) return;
  if (!row.namespaced || target.hasEmptyNamespace || row.kind === "LocalSubjectAccessReview") return;
  const namespace = kernel.reader.get({ group: "", plural: "namespaces" }, { name: target.namespace });
  if (namespace === undefined) throw notFound({ group: "", plural: "namespaces" }, target.namespace);
  const { phase } = (namespace["status"] ?? {}) as { phase?: string };
  if (phase !== "Terminating") return;
  const subject = row.group === "" ? row.plural : `${row.plural}.${row.group}`;
  const why = `unable to create new content in namespace ${target.namespace} because it is being terminated`;
  const named = name === "" ? subject : `${subject} ${JSON.stringify(name)}`;
  throw new StatusError(403, "Forbidden", {
    message: `${named} is forbidden: ${why}`,
    details: {
      ...(name === "" ? {} : { name }),
      ...(row.group === "" ? {} : { group: row.group }),
      kind: row.plural,
      causes: [
        {
          reason: "NamespaceTerminating",
          message: `namespace ${target.namespace} is being terminated`,
          field: "metadata.namespace",
        },
      ],
    },
  });
}

/** Drops repeated owners, with a warning. @param when the step of the request at which they are noticed */
export function checkOwners({ warnings }: ApiCall, { metadata }: KubeObject, when = ""): void {
  const owners = metadata.ownerReferences;
  if (!Array.isArray(owners) || owners.length < 2) return;
  const texts = new Set<string>();
  const distinct = owners.filter((owner) => {
    const uid = typeof owner === "object" && owner !== null ? JSON.stringify(owner) : "";
    if (texts.has(uid)) return false;
    texts.add(uid);
    return true;
  });
  if (distinct.length === owners.length) return;
  const twice = owners.find((owner, index) => owners.findIndex(({ uid }) => uid === owner.uid) !== index);
  const warning = `.metadata.ownerReferences contains duplicate entries${when}; API server dedups owner references in 1.20+, and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: ${twice?.uid ?? ""}`;
  // A patch is applied again when another write came first.
  if (!warnings.includes(warning)) warnings.push(warning);
  metadata.ownerReferences = distinct;
}

/** Checks that the version is a number. @throws StatusError 500 */
export function checkVersionText({ metadata: { resourceVersion = "" } }: KubeObject): void {
  if (/^[0-9]*$/.test(resourceVersion)) return;
  const message = `strconv.ParseUint: parsing ${goQuoted(resourceVersion)}: invalid syntax`;
  throw new StatusError(500, "", { message });
}

/** Makes the error for a UID that is not that of the present object. */
export function preconditionFailed(
  { resource, target }: ApiCall,
  { uid, live, isDryRun }: { readonly uid: string; readonly live: string; readonly isDryRun: boolean },
): Error {
  const { row } = resource;
  // A dry run reads through another layer of the storage, whose keys lack the common prefix.
  const path = `${isDryRun ? "" : "/registry"}/${storagePrefix(row)}/${keyOf(resource, target.namespace, target.name)}`;
  const detail = `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${live}`;
  const why = `StorageError: invalid object, Code: 4, Key: ${path}, ResourceVersion: 0, AdditionalErrorMsg: ${detail}`;
  return conflict(row, target.name, { why });
}

const prefixes: Readonly<Record<string, string>> = {
  replicationcontrollers: "controllers",
  endpoints: "services/endpoints",
  nodes: "minions",
  services: "services/specs",
  ingresses: "ingress",
};

/** Returns the real server's storage prefix of a kind, which its errors contain. */
function storagePrefix({ custom, group, plural }: ApiCall["resource"]["row"]): string {
  if (custom || group === "apiextensions.k8s.io" || group === "apiregistration.k8s.io") return `${group}/${plural}`;
  return (Object.hasOwn(prefixes, plural) ? prefixes[plural] : undefined) ?? plural;
}

/** Returns the kind's name in a rejection: events of both groups are the same internally. */
export function invalidKind(row: { readonly group: string }, kind: string): { group: string; kind: string } {
  return { group: row.group === "events.k8s.io" ? "" : row.group, kind };
}

/** The alphabet of generated names, without vowels so that no words arise. */
const letters = "bcdfghjklmnpqrstvwxz2456789";

/** Appends five random characters to the base of a name. */
export function generatedName(base: string): string {
  let suffix = "";
  for (let index = 0; index < 5; index += 1) suffix += letters[Math.floor(Math.random() * letters.length)] ?? "x";
  return `${base.slice(0, 58)}${suffix}`;
}
