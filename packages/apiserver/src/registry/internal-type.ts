/** Names the Go types behind a kind as the real server's messages do. */

/** Returns the Go package and name of a kind's internal type, such as `core.ConfigMap`. */
export function internalType({ group, kind }: { readonly group: string; readonly kind: string }): string {
  const name = group === "" || kind === "Event" || kind === "EventList" ? "core" : (group.split(".")[0] ?? "");
  return `${name}.${kind}`;
}
