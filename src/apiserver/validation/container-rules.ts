/** Rules of containers. */
import type { Field } from "./field.ts";
import { configMapKey, dnsLabel, dnsSubdomain, envVarName, portName, qualifiedName } from "./formats.ts";
import { isNegative, quantityOrder } from "./quantities.ts";

/** What the containers of a pod are checked against. */
export interface PodScope {
  readonly volumes: ReadonlySet<string>;
  readonly volumeDevices: ReadonlySet<string>;
  readonly restartPolicy: string;
}

const policies = ["Always", "IfNotPresent", "Never"];

export function containers(list: Field, scope: PodScope): void {
  if (list.empty) list.required();
  const names = new Set<string>();
  for (const container of list.items) {
    containerBasics(container, names);
    containerRest(container, scope, true);
  }
  hostPorts(list);
}

export function initContainers(list: Field, scope: PodScope, regular: Field): void {
  const names = new Set(regular.items.map((each) => each.at("name").text));
  for (const container of list.items) {
    containerBasics(container, names);
    const restart = container.at("restartPolicy");
    const isSidecar = restart.text === "Always";
    containerRest(container, scope, isSidecar);
    if (isSidecar) continue;
    for (const name of ["livenessProbe", "readinessProbe", "startupProbe", "lifecycle"]) {
      const field = container.at(name);
      if (field.present) field.forbidden("may not be set for init containers without restartPolicy=Always");
    }
  }
  hostPorts(list);
}

function containerBasics(container: Field, names: Set<string>): void {
  const [name, image] = [container.at("name"), container.at("image")];
  if (name.require()) name.matches(dnsLabel);
  if (names.has(name.text)) name.duplicate();
  else if (name.text !== "") names.add(name.text);
  if (image.require() && image.text !== image.text.trim())
    image.invalid("must not have leading or trailing whitespace");
  if (container.at("imagePullPolicy").require()) container.at("imagePullPolicy").oneOf(policies);
  const termination = container.at("terminationMessagePolicy");
  if (termination.require()) termination.oneOf(["File", "FallbackToLogsOnError"]);
}

function containerRest(container: Field, scope: PodScope, takesProbes: boolean): void {
  const restart = container.at("restartPolicy");
  if (restart.present) restart.oneOf(["Always", "Never", "OnFailure"]);
  if (takesProbes) {
    const lifecycle = container.at("lifecycle");
    for (const hook of ["postStart", "preStop"]) {
      if (lifecycle.at(hook).present) handler(lifecycle.at(hook), ["exec", "httpGet", "tcpSocket", "sleep"]);
    }
    for (const name of ["livenessProbe", "readinessProbe", "startupProbe"]) probe(container.at(name), name);
  }
  ports(container.at("ports"));
  environment(container);
  mounts(container, scope);
  resources(container.at("resources"));
  securityContext(container.at("securityContext"));
}

function ports(list: Field): void {
  const names = new Set<string>();
  for (const port of list.items) {
    const [name, number, host] = [port.at("name"), port.at("containerPort"), port.at("hostPort")];
    if (name.text !== "") {
      if (name.matches(portName)) {
        if (names.has(name.text)) name.duplicate();
        names.add(name.text);
      }
    }
    if (number.number === 0) number.required();
    else number.inRange(1, 65535);
    if (host.number !== 0) host.inRange(1, 65535);
    if (port.at("protocol").require()) port.at("protocol").oneOf(["SCTP", "TCP", "UDP"]);
  }
}

function hostPorts(list: Field): void {
  const taken = new Set<string>();
  for (const container of list.items) {
    for (const port of container.at("ports").items) {
      const host = port.at("hostPort");
      if (host.number === 0) continue;
      const what = `${port.at("protocol").text}/${port.at("hostIP").text}/${host.number}`;
      if (taken.has(what)) host.duplicate(what);
      taken.add(what);
    }
  }
}

const sources = ["fieldRef", "resourceFieldRef", "configMapKeyRef", "secretKeyRef", "fileKeyRef"];
const fieldPaths = new Set([
  "metadata.name",
  "metadata.namespace",
  "metadata.uid",
  "spec.nodeName",
  "spec.serviceAccountName",
  "status.hostIP",
  "status.hostIPs",
  "status.podIP",
  "status.podIPs",
]);
const resourcePaths = [
  "limits.cpu",
  "limits.ephemeral-storage",
  "limits.memory",
  "requests.cpu",
  "requests.ephemeral-storage",
  "requests.memory",
];

function environment(container: Field): void {
  for (const variable of container.at("env").items) {
    const name = variable.at("name");
    if (name.require()) name.matches(envVarName);
    const from = variable.at("valueFrom");
    if (!from.present) continue;
    const given = sources.filter((source) => from.at(source).present);
    if (given.length === 0) {
      from.invalid(
        "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`",
        "",
      );
    } else if (variable.at("value").text !== "") {
      from.invalid("may not be specified when `value` is not empty", "");
    } else if (given.length > 1) {
      from.invalid("may not have more than one field specified at a time", "");
    }
    if (from.at("fieldRef").present) fieldReference(from.at("fieldRef"), fieldPaths);
    if (from.at("resourceFieldRef").present) resourceReference(from.at("resourceFieldRef"));
    for (const source of ["configMapKeyRef", "secretKeyRef"]) {
      const reference = from.at(source);
      if (!reference.present) continue;
      reference.at("name").matches(dnsSubdomain);
      if (reference.at("key").require()) reference.at("key").matches(configMapKey);
    }
  }
  for (const source of container.at("envFrom").items) {
    const prefix = source.at("prefix");
    if (prefix.text !== "") prefix.matches(envVarName);
    const given = ["configMapRef", "secretRef"].filter((name) => source.at(name).present);
    for (const name of given) {
      const reference = source.at(name).at("name");
      if (reference.require()) reference.matches(dnsSubdomain);
    }
    const list = container.at("envFrom");
    if (given.length === 0) list.invalid("must specify one of: `configMapRef` or `secretRef`", "");
    else if (given.length > 1) list.invalid("may not have more than one field specified at a time", "");
  }
}

export function fieldReference(reference: Field, allowed: ReadonlySet<string>): void {
  const [version, path] = [reference.at("apiVersion"), reference.at("fieldPath")];
  if (!version.require() || !path.require()) return;
  const subscript = /^(metadata\.(labels|annotations))\['(.*)'\]$/.exec(path.text);
  if (subscript) {
    const key = subscript[3] ?? "";
    for (const detail of qualifiedName(subscript[2] === "annotations" ? key.toLowerCase() : key))
      path.invalid(detail, path.text);
  } else if (!allowed.has(path.text)) {
    const isKnown = fieldPaths.has(path.text) || /^metadata\.(labels|annotations)$/.test(path.text);
    if (isKnown) path.oneOf([...allowed]);
    else path.invalid(`error converting fieldPath: field label not supported: ${path.text}`);
  }
}

export function resourceReference(reference: Field): void {
  const resource = reference.at("resource");
  if (!resource.require()) return;
  if (/^(limits|requests)\.hugepages-/.test(resource.text)) return;
  resource.oneOf(resourcePaths);
}

function mounts(container: Field, { volumes, volumeDevices }: PodScope): void {
  const paths = new Set<string>();
  for (const mount of container.at("volumeMounts").items) {
    const [name, path] = [mount.at("name"), mount.at("mountPath")];
    name.require();
    if (!volumes.has(name.text)) name.notFound(name.text);
    path.require();
    if (paths.has(path.text)) path.invalid("must be unique", path.text);
    paths.add(path.text);
    const sub = mount.at("subPath");
    if (sub.text.startsWith("/")) sub.invalid("must be a relative path");
    else if (sub.text.split("/").includes("..")) sub.invalid("must not contain '..'");
  }
  for (const device of container.at("volumeDevices").items) {
    const name = device.at("name");
    name.require();
    if (name.text !== "" && !volumeDevices.has(name.text) && !volumes.has(name.text)) name.notFound(name.text);
    device.at("devicePath").require();
  }
}

function resources(field: Field): void {
  const [limits, requests] = [field.at("limits"), field.at("requests")];
  for (const list of [limits, requests]) {
    for (const name of list.keys) {
      const entry = list.key(name);
      if (!name.includes("/") && !/^(cpu|memory|ephemeral-storage|storage)$|^hugepages-/.test(name)) {
        entry.with(name).invalid("must be a standard resource for containers", name);
      } else if (name.includes("/")) entry.with(name).matches(qualifiedName);
      if (isNegative(entry.value)) entry.invalid("must be greater than or equal to 0", String(entry.value));
    }
    if (list !== requests) continue;
    for (const name of requests.keys) {
      const limit = limits.fields[name];
      if (limit === undefined) continue;
      const asked = requests.fields[name];
      if (quantityOrder(asked, limit) > 0) {
        requests.invalid(`must be less than or equal to ${name} limit of ${String(limit)}`, String(asked));
      }
    }
  }
}

function securityContext(context: Field): void {
  if (!context.present) return;
  for (const name of ["runAsUser", "runAsGroup"]) if (context.at(name).present) context.at(name).inRange(0, 2147483647);
  seccomp(context.at("seccompProfile"));
  const escalation = context.at("allowPrivilegeEscalation");
  if (escalation.value === false && context.at("privileged").value === true) {
    context.invalid("cannot set `allowPrivilegeEscalation` to false and `privileged` to true", context.value);
  }
}

export function seccomp(profile: Field): void {
  if (!profile.present) return;
  const type = profile.at("type");
  if (type.text === "") type.required("type is required when seccompProfile is set");
  else if (type.text === "Localhost") {
    if (!profile.at("localhostProfile").present)
      profile.at("localhostProfile").required("must be set when seccomp type is Localhost");
  } else type.oneOf(["Localhost", "RuntimeDefault", "Unconfined"]);
}

function handler(field: Field, kinds: readonly string[]): void {
  const given = kinds.filter((kind) => field.at(kind).present);
  for (const kind of given.slice(1)) field.at(kind).forbidden("may not specify more than 1 handler type");
  const first = field.at(given[0] ?? "");
  switch (given[0]) {
    case undefined:
      field.required("must specify a handler type");
      return;
    case "exec":
      if (first.at("command").empty) first.at("command").required();
      return;
    case "httpGet":
      first.at("path").require();
      port(first.at("port"));
      if (!["HTTP", "HTTPS"].includes(first.at("scheme").text)) first.at("scheme").oneOf(["HTTP", "HTTPS"]);
      return;
    case "tcpSocket":
      port(first.at("port"));
      return;
    case "grpc":
      first.at("port").inRange(1, 65535);
      return;
    default:
  }
}

/** A number or the name of a port. */
export function port(field: Field): void {
  if (typeof field.value === "string") field.matches(portName);
  else field.inRange(1, 65535);
}

function probe(field: Field, name: string): void {
  if (!field.present) return;
  handler(field, ["exec", "httpGet", "tcpSocket", "grpc"]);
  for (const part of [
    "initialDelaySeconds",
    "timeoutSeconds",
    "periodSeconds",
    "successThreshold",
    "failureThreshold",
  ]) {
    field.at(part).nonNegative();
  }
  const grace = field.at("terminationGracePeriodSeconds");
  if (grace.present && name === "readinessProbe") grace.invalid("must not be set for readinessProbes", grace.value);
  else if (grace.present && grace.number <= 0) grace.invalid("must be greater than 0", grace.value);
  const success = field.at("successThreshold");
  if (name !== "readinessProbe" && success.number !== 1 && success.number >= 0)
    success.invalid("must be 1", success.number);
}
