/** The attributes of a request for authorization, derived from its method, path and query alone. */
import type { Attributes, UserInfo } from "../hooks.ts";
import type { ReadUrl } from "../request/url.ts";

const verbs: Readonly<Record<string, string>> = {
  POST: "create",
  GET: "get",
  HEAD: "get",
  PUT: "update",
  PATCH: "patch",
  DELETE: "delete",
};

/** The subresources of a namespace; any other name after a namespace is a resource inside of it. */
const namespaceSubresources: ReadonlySet<string> = new Set(["status", "finalize"]);

/** Reads the attributes of a request, whether or not anything is served at its path. */
export function attributesOf(method: string, { path, query }: ReadUrl, user: UserInfo): Attributes {
  const bare: Attributes = {
    user,
    verb: method.toLowerCase(),
    isResource: false,
    path,
    group: "",
    resource: "",
    subresource: "",
    namespace: "",
    name: "",
  };
  const [root, ...parts] = path.replace(/^\/+|(?<!\/)\/+$/g, "").split("/");
  if ((root !== "api" && root !== "apis") || parts.length < (root === "api" ? 2 : 3)) return bare;
  const group = root === "api" ? "" : (parts.shift() ?? "");
  parts.shift(); // skips the version
  const special = parts[0] === "watch" || parts[0] === "proxy" ? parts.shift() : undefined;
  let verb = special ?? verbs[method] ?? "";
  let namespace = "";
  let rest = parts;
  if (parts[0] === "namespaces" && parts[1] !== undefined) {
    namespace = parts[1];
    if (parts[2] !== undefined && !namespaceSubresources.has(parts[2])) rest = parts.slice(2);
  }
  const [resource = "", found = "", third = ""] = rest;
  let name = found;
  if (name === "" && verb === "get") {
    verb = asksToWatch(query) ? "watch" : "list";
    name = selectedName(query);
  }
  if (name === "" && verb === "delete") verb = "deletecollection";
  const subresource = special === "proxy" ? "" : third;
  return { user, verb, isResource: true, path, group, resource, subresource, namespace, name };
}

function asksToWatch(query: URLSearchParams): boolean {
  const value = query.get("watch");
  return value !== null && value !== "0" && value.toLowerCase() !== "false";
}

/**
 * Returns the single name that a field selector selects, so that a rule with `resourceNames` permits watching one
 * object.
 */
function selectedName(query: URLSearchParams): string {
  const selector = query.get("fieldSelector") ?? "";
  if (!selector.includes("metadata.name")) return "";
  for (const term of selector.split(",")) {
    const match = /^metadata\.name==?([^=!\\]*)$/.exec(term);
    const name = match?.[1];
    if (name !== undefined && name !== "." && name !== ".." && !/[/%]/.test(name)) return name;
  }
  return "";
}
