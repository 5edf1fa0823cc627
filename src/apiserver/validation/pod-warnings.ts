/** What is allowed in pods and still a mistake: told in `Warning` headers. */
import type { Fields } from "../hooks.ts";
import { each, has, inner } from "./fill.ts";

/** The warnings of a pod's spec; `path` is where it is, such as `template.spec`. */
export function podWarnings(spec: Fields, path: string): string[] {
  const warnings: string[] = [];
  const names = new Set<unknown>();
  for (const [index, { name }] of each(spec, "imagePullSecrets").entries()) {
    const at = `${path}.imagePullSecrets[${index}].name`;
    if (!name) warnings.push(`${at}: invalid empty name ""`);
    else if (names.has(name)) warnings.push(`${at}: duplicate name ${JSON.stringify(name)}`);
    names.add(name);
  }
  for (const [index, { ip }] of each(spec, "hostAliases").entries()) {
    const earlier = each(spec, "hostAliases").slice(0, index);
    if (earlier.some((one) => one["ip"] === ip)) {
      warnings.push(`${path}.hostAliases[${index}].ip: duplicate ip ${JSON.stringify(ip)}`);
    }
  }
  for (const volume of each(spec, "volumes")) warnings.push(...volumeWarnings(volume));
  for (const list of ["initContainers", "containers"]) {
    for (const [index, container] of each(spec, list).entries()) {
      warnings.push(...hidden(container, `${path}.${list}[${index}]`));
      warnings.push(...portWarnings(container, `${path}.${list}[${index}]`));
    }
  }
  if (Number(spec["terminationGracePeriodSeconds"]) < 0) {
    warnings.push(
      `${path}.terminationGracePeriodSeconds: must be >= 0; negative values are invalid and will be treated as 1`,
    );
  }
  warnings.push(...selectsNothing(spec, path));
  return warnings;
}

function hidden(container: Fields, path: string): string[] {
  const seen = new Set<unknown>();
  return each(container, "env").flatMap(({ name }, index) => {
    if (!seen.has(name)) {
      seen.add(name);
      return [];
    }
    return [
      `${path}.env[${index}]: hides previous definition of ${JSON.stringify(name)}, which may be dropped when using apply`,
    ];
  });
}

function portWarnings(container: Fields, path: string): string[] {
  const warnings: string[] = [];
  const seen = new Map<string, number>();
  for (const [index, port] of each(container, "ports").entries()) {
    const at = `${path}.ports[${index}]`;
    if (port["hostIP"] && !port["hostPort"]) {
      const { name = "", containerPort = 0, protocol = "", hostIP } = port;
      const shown = `{Name:${String(name)} HostPort:0 ContainerPort:${String(containerPort)} Protocol:${String(protocol)} HostIP:${String(hostIP)}}`;
      warnings.push(`${at}: hostIP set without hostPort: ${shown}`);
    }
    const key = [port["containerPort"], port["protocol"], port["hostIP"], port["hostPort"]].join("/");
    const earlier = seen.get(key);
    if (earlier === undefined) seen.set(key, index);
    else warnings.push(`${at}: duplicate port definition with ${path}.ports[${earlier}]`);
  }
  return warnings;
}

function selectsNothing(spec: Fields, path: string): string[] {
  const warnings: string[] = [];
  const say = (at: string): void => {
    warnings.push(`${at}.labelSelector: a null labelSelector results in matching no pod`);
  };
  for (const kind of ["podAffinity", "podAntiAffinity"]) {
    const affinity = inner(inner(spec, "affinity"), kind);
    const [required, preferred] = ["required", "preferred"].map(
      (word) => `${word}DuringSchedulingIgnoredDuringExecution`,
    );
    for (const [index, term] of each(affinity, required ?? "").entries()) {
      if (!has(term, "labelSelector")) say(`${path}.affinity.${kind}.${required}[${index}]`);
    }
    for (const [index, term] of each(affinity, preferred ?? "").entries()) {
      if (!has(inner(term, "podAffinityTerm"), "labelSelector")) {
        say(`${path}.affinity.${kind}.${preferred}[${index}].podAffinityTerm`);
      }
    }
  }
  for (const [index, constraint] of each(spec, "topologySpreadConstraints").entries()) {
    if (!has(constraint, "labelSelector")) say(`${path}.topologySpreadConstraints[${index}]`);
  }
  return warnings;
}

function volumeWarnings(volume: Fields): string[] {
  const name = JSON.stringify(volume["name"]);
  const listed = (kind: string, source: Fields): string[] =>
    overlapping(each(source, "items").map(({ path }) => ({ path: String(path), shown: JSON.stringify(path) }))).map(
      (pair) => `volume ${name} (${kind}): overlapping paths: ${pair}`,
    );
  if (has(volume, "configMap")) {
    const source = inner(volume, "configMap");
    return listed(`ConfigMap ${JSON.stringify(source["name"])}`, source);
  }
  if (has(volume, "secret")) {
    const source = inner(volume, "secret");
    return listed(`Secret ${JSON.stringify(source["secretName"])}`, source);
  }
  if (has(volume, "downwardAPI")) return listed("DownwardAPI", inner(volume, "downwardAPI"));
  if (has(volume, "projected")) return projectedWarnings(inner(volume, "projected"), name);
  return [];
}

function projectedWarnings(projected: Fields, name: string): string[] {
  const warnings: string[] = [];
  const paths: Path[] = [];
  for (const source of each(projected, "sources")) {
    if (Object.values(source).every((part) => part === undefined || part === null)) {
      warnings.push(`volume ${name} (Projected) has no sources provided`);
    }
    const token = inner(source, "serviceAccountToken");
    if (token["path"])
      paths.push({ path: String(token["path"]), shown: `${JSON.stringify(token["path"])} (ServiceAccountToken)` });
  }
  return [...warnings, ...overlapping(paths).map((pair) => `volume ${name} (Projected): overlapping paths: ${pair}`)];
}

interface Path {
  readonly path: string;
  readonly shown: string;
}

function overlapping(paths: readonly Path[]): string[] {
  return paths.flatMap((one, index) => {
    const other = paths.slice(0, index).find(({ path }) => path === one.path || one.path.startsWith(`${path}/`));
    return other === undefined ? [] : [`${one.shown} with ${other.shown}`];
  });
}
