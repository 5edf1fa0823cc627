/** How the real server names the Go types behind a kind, as its messages quote them. */

/** The Go package and name of a kind's internal form, such as `core.ConfigMap`. */
export function internalType({ group, kind }: { readonly group: string; readonly kind: string }): string {
  const name = group === "" || kind === "Event" || kind === "EventList" ? "core" : (group.split(".")[0] ?? "");
  return `${name}.${kind}`;
}
