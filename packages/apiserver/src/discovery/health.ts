/** Serves `/version` and the health checks. */
import type { Fields } from "../hooks.ts";
import { kubernetesVersion } from "../kubernetes-version.ts";
import { acceptsOnly } from "../request/accept.ts";
import { answerObject } from "../request/answer.ts";
import { checkConsumed } from "../request/body.ts";
import { methodNotAllowed } from "../status.ts";

const version = {
  major: "1",
  minor: "36",
  emulationMajor: "1",
  emulationMinor: "36",
  minCompatibilityMajor: "1",
  minCompatibilityMinor: "35",
  gitVersion: kubernetesVersion,
  gitCommit: "$Format:%H$",
  gitTreeState: "",
  buildDate: "1970-01-01T00:00:00Z",
  goVersion: "go1.26.8",
  compiler: "gc",
  platform: `${process.platform}/${process.arch === "x64" ? "amd64" : process.arch}`,
};

const hooks = [
  "start-apiserver-admission-initializer",
  "generic-apiserver-start-informers",
  "priority-and-fairness-config-consumer",
  "priority-and-fairness-filter",
  "storage-object-count-tracker-hook",
  "start-apiextensions-informers",
  "start-apiextensions-controllers",
  "crd-informer-synced",
  "start-system-namespaces-controller",
  "peer-endpoint-reconciler-controller",
  "start-cluster-authentication-info-controller",
  "start-kube-apiserver-identity-lease-controller",
  "start-kube-apiserver-identity-lease-garbage-collector",
  "storage-readiness",
  "start-legacy-token-tracking-controller",
  "start-service-ip-repair-controllers",
  "rbac/bootstrap-roles",
  "scheduling/bootstrap-system-priority-classes",
  "priority-and-fairness-config-producer",
  "bootstrap-controller",
  "start-kubernetes-service-cidr-controller",
  "start-kube-aggregator-informers",
  "apiservice-status-local-available-controller",
  "apiservice-status-remote-available-controller",
  "apiservice-registration-controller",
  "apiservice-discovery-controller",
  "kube-apiserver-autoregistration",
  "autoregister-completion",
  "apiservice-openapi-controller",
  "apiservice-openapiv3-controller",
].map((name) => (name === "autoregister-completion" ? name : `poststarthook/${name}`));

/**
 * The names of kube-apiserver's health checks, which tools ask for one by one. All of them pass, because the server is
 * ready from its first request on.
 */
const checks: Readonly<Record<string, readonly string[]>> = {
  healthz: ["ping", "log", "loopback-serving-certificate", "etcd", ...hooks],
  livez: ["ping", "log", "loopback-serving-certificate", "etcd", ...hooks],
  readyz: ["ping", "log", "etcd", "etcd-readiness", "informer-sync", ...hooks, "shutdown"],
};

/** Returns the name and the kind of each check, in the order of their names. */
export function healthChecks(): (readonly [name: string, kind: string])[] {
  const all = Object.entries(checks).flatMap(([kind, names]) => names.map((name) => [name, kind] as const));
  return all.toSorted(([one, first], [other, second]) => (one + first < other + second ? -1 : 1));
}

/** Returns the paths of all checks for the list of paths. */
export function healthPaths(): string[] {
  return Object.entries(checks).flatMap(([name, known]) => [`/${name}`, ...known.map((check) => `/${name}/${check}`)]);
}

const json: ReadonlySet<string> = new Set(["application/json"]);

/** Serves `/version`; `undefined` for any other path. @throws StatusError 405, 406 or 415 */
export function about(request: Request, path: string): Response | undefined {
  if (!/^\/version\/*$/.test(path)) return undefined;
  if (request.method !== "GET") throw methodNotAllowed();
  checkConsumed(request, json);
  acceptsOnly(request.headers.get("accept"), "application/json");
  return answerObject(request, version satisfies Fields, { pretty: true });
}

/**
 * Serves `/healthz`, `/livez`, `/readyz` and each of their checks; `undefined` for any other path.
 *
 * @param problem why objects cannot be stored; then `etcd` fails, and `/readyz` with it. `undefined` when they can.
 */
export function health({ pathname, searchParams }: URL, problem: string | undefined): Response | undefined {
  const [, name = "", ...check] = pathname.split("/");
  const known = Object.hasOwn(checks, name) ? checks[name] : undefined;
  if (known === undefined) return undefined;
  if (problem !== undefined && name === "readyz" && (check.length === 0 || check.join("/") === "etcd")) {
    const excluded = searchParams.getAll("exclude");
    if (check.length > 0) return text(`internal server error: ${problem}\n`, 500);
    if (!excluded.includes("etcd")) return text(verbose(name, { known, excluded, problem }), 500);
  }
  if (check.length > 0) return known.includes(check.join("/")) ? text("ok") : undefined;
  return text(searchParams.has("verbose") ? verbose(name, { known, excluded: searchParams.getAll("exclude") }) : "ok");
}

interface Checked {
  readonly known: readonly string[];
  readonly excluded: readonly string[];
  readonly problem?: string;
}

function verbose(name: string, { known, excluded, problem }: Checked): string {
  const lines = known.map((check) => {
    if (check === "etcd" && problem !== undefined) return `[-]etcd failed: ${problem}`;
    return `[+]${check}${excluded.includes(check) ? " excluded:" : ""} ok`;
  });
  const others = excluded.filter((check) => !known.includes(check)).map((check) => JSON.stringify(check));
  if (others.length > 0) lines.push(`warn: some health checks cannot be excluded: no matches for ${others.join(", ")}`);
  return `${[...lines, `${name} check ${problem === undefined ? "passed" : "failed"}`].join("\n")}\n`;
}

function text(body: string, status = 200): Response {
  const headers = { "content-type": "text/plain; charset=utf-8", "x-content-type-options": "nosniff" };
  return new Response(body, { status, headers: { ...headers, "cache-control": "no-cache, private" } });
}
