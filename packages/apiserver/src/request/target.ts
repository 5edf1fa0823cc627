/** Parses what a path refers to. */

/** A resource, one of its objects, or a subresource. */
export interface Target {
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  /** The namespace; `""` where the path has none. */
  readonly namespace: string;
  /** Whether the path names an empty namespace, as in `namespaces//pods`. */
  readonly hasEmptyNamespace: boolean;
  /** The name; `""` for the whole collection. */
  readonly name: string;
  /** The subresource; `""` for the object itself. */
  readonly subresource: string;
  /** The path after the subresource, as in `pods/x/proxy/index.html`. */
  readonly rest: string;
  /** Whether it has the old form `/api/v1/watch/…`. */
  readonly watchPath: boolean;
}

const namespaceSubresources: ReadonlySet<string> = new Set(["status", "finalize"]);

/**
 * Parses a path such as `/apis/apps/v1/namespaces/default/deployments/web/scale`; `undefined` when it refers to no
 * resource.
 *
 * @param path decoded
 */
export function parseTarget(path: string): Target | undefined {
  const parts = path.split("/").slice(1);
  while (parts.at(-1) === "") parts.pop();
  const core = parts[0] === "api";
  if (!core && parts[0] !== "apis") return undefined;
  const [group, version, ...found] = core ? ["", ...parts.slice(1)] : parts.slice(1);
  if (group === undefined || version === undefined || found.length === 0) return undefined;
  // An empty namespace stands for all namespaces.
  const hasEmptyNamespace = found[0] === "namespaces" && found[1] === "" && found.length > 2;
  if (hasEmptyNamespace) found.splice(0, 2);
  if (found.includes("")) return undefined;
  const watchPath = found[0] === "watch" && found.length > 1;
  let rest = watchPath ? found.slice(1) : found;
  let namespace = "";
  if (rest[0] === "namespaces" && rest[1] !== undefined) {
    namespace = rest[1];
    if (rest[2] !== undefined && !namespaceSubresources.has(rest[2])) rest = rest.slice(2);
    // A namespace has no namespace itself, although its path looks like that of a namespaced object.
    else if (core) namespace = "";
  }
  const [plural = "", name = "", subresource = "", ...more] = rest;
  return { group, version, plural, namespace, hasEmptyNamespace, name, subresource, rest: more.join("/"), watchPath };
}
