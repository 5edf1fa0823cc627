/** Warns of files in a volume that overwrite each other. */
import type { Fields } from "../../hooks.ts";
import { each, has, inner } from "../../validation/fill.ts";

interface Path {
  readonly path: string;
  readonly source: string;
}

/** Returns the warnings of overlapping paths in a volume. */
export function volumeWarnings(volume: Fields): string[] {
  const name = JSON.stringify(volume["name"]);
  const listed = (kind: string, source: Fields): string[] =>
    overlaps(pathsOf(source, "")).map((pair) => `volume ${name} (${kind}): overlapping paths: ${pair}`);
  const warnings: string[] = [];
  for (const [field, word, reference] of [
    ["configMap", "ConfigMap", "name"],
    ["secret", "Secret", "secretName"],
  ] as const) {
    const source = inner(volume, field);
    warnings.push(...listed(`${word} ${JSON.stringify(source[reference] ?? "")}`, source));
  }
  warnings.push(...listed("DownwardAPI", inner(volume, "downwardAPI")));
  if (!has(volume, "projected")) return warnings;
  const paths: Path[] = [];
  for (const source of each(inner(volume, "projected"), "sources")) {
    if (Object.values(source).every((part) => part === undefined || part === null)) {
      warnings.push(`volume ${name} (Projected) has no sources provided`);
      continue;
    }
    for (const path of projected(source)) {
      const pairs = colliding(paths, path);
      warnings.push(...pairs.map((pair) => `volume ${name} (Projected): overlapping paths: ${pair}`));
      paths.push(path);
    }
  }
  return warnings;
}

function pathsOf(source: Fields, quoted: string): Path[] {
  return each(source, "items").map(({ path }) => pathOf(path, quoted));
}

function pathOf(path: unknown, source: string): Path {
  return { path: String(path ?? "").replace(/(?<!\/)\/+$/, ""), source };
}

function projected(source: Fields): Path[] {
  for (const [field, word] of [
    ["configMap", "ConfigMap"],
    ["secret", "Secret"],
  ] as const) {
    const part = inner(source, field);
    if (has(part, "items")) return pathsOf(part, `${word} ${JSON.stringify(part["name"] ?? "")}`);
  }
  if (has(inner(source, "downwardAPI"), "items")) return pathsOf(inner(source, "downwardAPI"), "DownwardAPI");
  if (has(source, "serviceAccountToken"))
    return [pathOf(inner(source, "serviceAccountToken")["path"], "ServiceAccountToken")];
  if (has(source, "clusterTrustBundle")) {
    const { path, name, signerName } = inner(source, "clusterTrustBundle");
    return [pathOf(path, `ClusterTrustBundle ${JSON.stringify(name ?? signerName)}`)];
  }
  const certificate = inner(source, "podCertificate");
  return [
    pathOf(certificate["certificateChainPath"], "PodCertificate chain"),
    pathOf(certificate["keyPath"], "PodCertificate key"),
    pathOf(certificate["credentialBundlePath"], "PodCertificate credential bundle"),
  ].filter(({ path }) => path !== "");
}

function overlaps(paths: readonly Path[]): string[] {
  return paths.flatMap((path, index) => colliding(paths.slice(0, index), path));
}

function colliding(earlier: readonly Path[], one: Path): string[] {
  if (one.path === "") return [];
  return earlier
    .filter(
      ({ path }) => path !== "" && (`${path}/`.startsWith(`${one.path}/`) || `${one.path}/`.startsWith(`${path}/`)),
    )
    .map((other) => `${quoted(one)} with ${quoted(other)}`);
}

function quoted({ path, source }: Path): string {
  return JSON.stringify(path) + (source === "" ? "" : ` (${source})`);
}
