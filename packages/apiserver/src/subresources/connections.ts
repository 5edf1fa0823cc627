/** Serves `log`, `exec`, `attach`, `portforward` and `proxy`, as far as that is possible without nodes. */
import type { Fields, KubeObject } from "../hooks.ts";
import { attributesOf } from "../authorization/attributes.ts";
import { badRequest, forbidden, notFound, StatusError } from "../status.ts";
import { each, inner } from "../validation/fill.ts";
import { checkLogOptions } from "./log-options.ts";
import { type ApiCall, writeContext } from "../verbs/api-call.ts";

const names: ReadonlySet<string> = new Set(["log", "exec", "attach", "portforward", "proxy"]);

/** Whether a subresource connects to something outside of the server. */
export function isConnection(subresource: string): boolean {
  return names.has(subresource);
}

/** Whether a subresource is answered by a pod, a node or a service, and not by the server. */
export function isTunnel(subresource: string): boolean {
  return subresource !== "log" && names.has(subresource);
}

/** Handles a connection. @throws StatusError for everything except the empty log of a pod that has no node yet */
export async function connect(call: ApiCall, kind: string): Promise<Response> {
  const { target } = call;
  if (target.subresource === "portforward") checkPorts(call.query);
  if (upgrades.has(target.subresource)) mayCreate(call);
  // A log is read; everything else is a connection that admission may reject.
  if (target.subresource !== "log") await admit(call, kind);
  if (target.subresource === "proxy") {
    const problem = proxyProblem(call);
    const moved = problem instanceof Unreachable ? withSlash(call) : undefined;
    if (moved !== undefined) return moved;
    throw problem;
  }
  const { namespace, name, subresource } = target;
  if (subresource === "log") checkLogOptions(call.query, name);
  const pod = call.kernel.reader.get(pods, { namespace, name });
  if (pod === undefined) throw notFound(pods, name);
  const spec = inner(pod, "spec");
  const container = subresource === "portforward" ? "" : containerOf(call, pod, spec);
  const node = String(spec["nodeName"] ?? "");
  if (node === "" && subresource === "log")
    return new Response(null, { status: 204, headers: { "cache-control": "no-cache, private" } });
  if (node === "") throw badRequest(`pod ${name} does not have a host assigned`);
  const host = kubeletOf(call, node);
  const refused = `dial tcp ${host}: connect: connection refused`;
  if (subresource !== "log") throw plain(`error dialing backend: ${refused}`);
  throw plain(`Get "https://${host}/containerLogs/${namespace}/${name}/${container}": ${refused}`);
}

/** Redirects reads of a proxy's root to the same path with a trailing slash. */
function withSlash({ request, target }: ApiCall): Response | undefined {
  const { pathname, search } = new URL(request.url);
  const isRead = request.method === "GET" || request.method === "HEAD";
  if (target.rest !== "" || pathname.endsWith("/") || !isRead) return undefined;
  return new Response(null, {
    status: 301,
    headers: { location: `${pathname}/${search}`, "cache-control": "no-cache, private" },
  });
}

/** @throws StatusError 400 */
function checkPorts(query: URLSearchParams): void {
  for (const text of query.getAll("ports").flatMap((list) => list.split(","))) {
    if (/^\d+$/.test(text)) continue;
    throw badRequest(`cannot convert to []int32: strconv.ParseUint: parsing ${JSON.stringify(text)}: invalid syntax`);
  }
}

const pods = { group: "", plural: "pods" };

const upgrades: ReadonlySet<string> = new Set(["exec", "attach", "portforward"]);

/** Checks the permission to create, which an upgraded GET needs as a POST does. @throws StatusError 403 */
function mayCreate({ kernel, request, query, user }: ApiCall): void {
  const attributes = attributesOf(request.method, { path: new URL(request.url).pathname, query }, user);
  if (attributes.verb === "create") return;
  const { allowed, reason } = kernel.authorizer.authorize({ ...attributes, verb: "create" });
  if (!allowed) throw forbidden(pods, attributes.name, { why: reason });
}

async function admit(call: ApiCall, kind: string): Promise<void> {
  const { kernel, target } = call;
  const context = writeContext(call, "CONNECT", { name: target.name, dryRun: false });
  const object = { kind, apiVersion: "v1", ...connectOptions(call) } as unknown as KubeObject;
  const attributes = {
    context: { ...context, row: { ...context.row, kind } },
    object,
    oldObject: undefined,
    options: {},
  };
  await kernel.admission.mutate(attributes);
  await kernel.admission.validate(attributes);
}

/** Returns the connection options of the query; disabled switches are omitted. */
function connectOptions({ query, target }: ApiCall): Fields {
  if (target.subresource === "proxy") return { path: `/${target.rest}` };
  if (target.subresource === "portforward") {
    const ports = query.getAll("ports").flatMap((text) => text.split(",").map(Number));
    return ports.length === 0 ? {} : { ports };
  }
  const switches = ["stdin", "stdout", "stderr", "tty"].filter((name) => /^(1|t|true)$/i.test(query.get(name) ?? ""));
  const [container, command] = [query.get("container"), query.getAll("command")];
  return {
    ...Object.fromEntries(switches.map((name) => [name, true])),
    ...(container ? { container } : {}),
    ...(command.length > 0 && target.subresource === "exec" ? { command } : {}),
  };
}

/** Makes the error of the server for a Go error without a Status of its own. */
function plain(message: string): StatusError {
  return new StatusError(500, "", { message });
}

function containerOf({ query, target: { name } }: ApiCall, pod: KubeObject, spec: Fields): string {
  const lists = ["initContainers", "containers", "ephemeralContainers"];
  const all = lists.flatMap((list) => each(spec, list)).map((container) => String(container["name"]));
  const container = query.get("container") ?? "";
  if (container !== "") {
    if (all.includes(container)) return container;
    throw badRequest(`container ${container} is not valid for pod ${name}`);
  }
  const [first, ...others] = each(spec, "containers");
  if (others.length === 0) return String(first?.["name"] ?? "");
  throw badRequest(
    `a container name must be specified for pod ${pod.metadata.name}, choose one of: [${all.join(" ")}]`,
  );
}

/** The types of a node's addresses; its kubelet is reached at the first one that it has. */
const addressTypes = ["Hostname", "InternalDNS", "InternalIP", "ExternalDNS", "ExternalIP"];

function kubeletOf({ kernel, target }: ApiCall, name: string): string {
  const nodes = { group: "", plural: "nodes" };
  const node = kernel.reader.get(nodes, { name });
  // The registry of nodes reports a missing node under the name of the requested resource.
  if (node === undefined) throw notFound({ group: target.group, plural: target.plural }, name);
  const status = inner(node, "status");
  const addresses = each(status, "addresses") as { type?: string; address?: string }[];
  const candidates = addressTypes.map((wanted) => addresses.find(({ type }) => type === wanted)).find(Boolean);
  if (candidates?.address === undefined) {
    const known = addresses.map(({ type, address }) => `{${type} ${address}}`).join(" ");
    throw plain(`no preferred addresses found; known addresses: [${known}]`);
  }
  return `${candidates.address}:${Number(inner(inner(status, "daemonEndpoints"), "kubeletEndpoint")["Port"] ?? 10250)}`;
}

function proxyProblem(call: ApiCall): StatusError {
  const { target } = call;
  const kind = target.plural.slice(0, -1);
  const match = /^(?:(https?):)?([^:]+?)(?::([^:]*))?$/.exec(target.name);
  if (match === null) throw badRequest(`invalid ${kind} request ${JSON.stringify(target.name)}`);
  const [, , name = "", port = ""] = match;
  if (kind === "node") return unreachable(kubeletOf(call, name));
  return kind === "pod" ? podProblem(call, name, port) : serviceProblem(call, name, port);
}

/** Thrown when the destination of a proxy exists, but this server cannot reach it. */
class Unreachable extends StatusError {}

function unreachable(host: string): StatusError {
  const message = `error trying to reach service: dial tcp ${host}: connect: connection refused`;
  return new Unreachable(503, "ServiceUnavailable", { message });
}

function podProblem({ kernel, target }: ApiCall, name: string, port: string): StatusError {
  const pod = kernel.reader.get(pods, { namespace: target.namespace, name });
  if (pod === undefined) return notFound(pods, name);
  const [first] = each(inner(pod, "status"), "podIPs");
  if (first === undefined) return badRequest("address not allowed");
  const ports = each(inner(pod, "spec"), "containers").flatMap((container) => each(container, "ports"));
  const chosen = port || String(ports[0]?.["containerPort"] ?? "80");
  return unreachable(`${String(first["ip"])}:${chosen}`);
}

function serviceProblem({ kernel, target }: ApiCall, name: string, port: string): StatusError {
  const { namespace } = target;
  const services = { group: "", plural: "services" };
  let portName = port;
  if (/^\d+$/.test(port)) {
    const service = kernel.reader.get(services, { namespace, name });
    if (service === undefined) return notFound(services, name);
    const entry = each(inner(service, "spec"), "ports").find((one) => one["port"] === Number(port));
    if (entry === undefined) return unavailable(`no service port ${port} found for service ${JSON.stringify(name)}`);
    portName = String(entry["name"] ?? "");
  }
  const endpoints = kernel.reader.get({ group: "", plural: "endpoints" }, { namespace, name });
  if (endpoints === undefined) return notFound(services, name);
  const subsets = each(endpoints, "subsets");
  if (subsets.length === 0) return unavailable(`no endpoints available for service ${JSON.stringify(name)}`);
  for (const subset of subsets) {
    const target = each(subset, "ports").find((one) => String(one["name"] ?? "") === portName);
    const address = each(subset, "addresses").find((one) => inner(one, "targetRef")["kind"] === "Pod");
    if (target && address) return unreachable(`${String(address["ip"])}:${String(target["port"])}`);
  }
  return unavailable(`no endpoints available for service ${JSON.stringify(target.name)}`);
}

function unavailable(message: string): StatusError {
  return new StatusError(503, "ServiceUnavailable", { message });
}
