/** Parses the path of a request into its subject, for messages, metrics and audit. */

export interface RequestTarget {
  /** The Kubernetes verb: get, list, watch, create, update, patch, delete, deletecollection. */
  readonly verb: string;
  /** The API group; empty for the core group. */
  readonly group: string;
  /** The plural; empty for a path that names no resource, such as `/version`. */
  readonly resource: string;
  readonly namespace: string | undefined;
  readonly name: string | undefined;
  readonly subresource: string | undefined;
  /** The text for messages, such as `deployments.apps/status shop/web`. */
  readonly what: string;
}

const VERBS: Readonly<Record<string, string>> = {
  GET: "get",
  POST: "create",
  PUT: "update",
  PATCH: "patch",
  DELETE: "delete",
};

/**
 * Reads method and path of a request as RBAC does.
 *
 * @see https://kubernetes.io/docs/reference/access-authn-authz/authorization/#determine-the-request-verb
 */
export function describeRequest(method: string, path: string, watch = false): RequestTarget {
  const verb = VERBS[method] ?? method.toLowerCase();
  const parts = path.split("/").filter(Boolean).map(decodePart);
  const rest = parts[0] === "api" ? parts.slice(2) : parts[0] === "apis" ? parts.slice(3) : [];
  if (rest.length === 0) {
    return { verb, group: "", resource: "", namespace: undefined, name: undefined, subresource: undefined, what: path };
  }
  const group = parts[0] === "api" ? "" : (parts[1] ?? "");
  let namespace: string | undefined;
  if (rest[0] === "namespaces" && rest.length > 2 && rest[2] !== "status" && rest[2] !== "finalize") {
    namespace = rest[1];
    rest.splice(0, 2);
  }
  const [resource = "", name, subresource] = rest;
  const collection: Record<string, string> = { get: watch ? "watch" : "list", delete: "deletecollection" };
  const kind = `${resource}${group && `.${group}`}${subresource ? `/${subresource}` : ""}`;
  const where =
    name === undefined
      ? namespace === undefined
        ? ""
        : ` in ${namespace}`
      : ` ${namespace === undefined ? "" : `${namespace}/`}${name}`;
  return {
    verb: name === undefined ? (collection[verb] ?? verb) : verb,
    group,
    resource,
    namespace,
    name,
    subresource,
    what: kind + where,
  };
}

function decodePart(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
