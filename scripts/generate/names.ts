/** Maps schema names to files and to names that are unique over all of them, so that one index can export them. */

/** Types whose short name belongs to another group's kind or better-known type; these get their group as a prefix. */
const prefixed = new Set([
  "io.k8s.api.core.v1.EndpointPort",
  "io.k8s.api.core.v1.Event",
  "io.k8s.api.core.v1.EventSeries",
  "io.k8s.api.core.v1.ResourceClaim",
  "io.k8s.api.flowcontrol.v1.Subject",
  "io.k8s.api.storage.v1.TokenRequest",
  "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.ServiceReference",
  "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.WebhookClientConfig",
  "io.k8s.kube-aggregator.pkg.apis.apiregistration.v1.ServiceReference",
]);

const builtin =
  /^io\.k8s\.(?:api|apiextensions-apiserver\.pkg\.apis|kube-aggregator\.pkg\.apis)\.([a-z]+)\.(v\d+)\.(\w+)$/;

export interface SchemaName {
  /** The file without its suffix: the group's first label, `core`, or `meta` for what all groups share. */
  readonly file: string;
  /** The version; `undefined` for shared schemas. */
  readonly version: string | undefined;
  readonly short: string;
}

/** Parses a schema's name; `undefined` for schemas that are not built in, such as those of installed CRDs. */
export function schemaName(id: string): SchemaName | undefined {
  const [, file, version, short] = builtin.exec(id) ?? [];
  if (file && short) return { file, version, short };
  if (id.startsWith("io.k8s.apimachinery.")) return { file: "meta", version: undefined, short: id.split(".").at(-1)! };
  return undefined;
}

/**
 * Names every schema: plain in its group's preferred version, with the version behind it (`…V1`) in an older one that
 * has the same name, with the group in front where another group keeps the name.
 *
 * @throws when two schemas would still share a name: a new one belongs into the table above.
 */
export function uniqueNames(
  ids: readonly string[],
  preferred: ReadonlyMap<string, readonly string[]>,
): Map<string, string> {
  const parsed = ids.map((id) => ({ id, ...schemaName(id)! }));
  const names = new Map<string, string>();
  const owners = new Map<string, string>();
  for (const { id, file, version, short } of parsed) {
    const order = preferred.get(file) ?? [];
    const newer = parsed.some(
      (other) =>
        other.file === file && other.short === short && order.indexOf(other.version!) < order.indexOf(version!),
    );
    const name = `${prefixed.has(id) ? capital(file) : ""}${short}${newer ? capital(version!) : ""}`;
    const other = owners.get(name);
    if (other) throw new Error(`${id} and ${other} share the name ${name}: list one in scripts/generate/names.ts`);
    owners.set(name, id);
    names.set(id, name);
  }
  return names;
}

function capital(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}
