/** Validates containers. */
import { environment } from "./env-rules.ts";
import type { Field } from "../field.ts";
import { dnsLabel, portName } from "../formats.ts";
import { devices, mounts } from "./mount-rules.ts";
import { lifecycle, probes } from "./probe-rules.ts";
import { resources } from "./resource-rules.ts";
import { securityContext } from "./security-rules.ts";

/** The parts of the pod that its containers are validated against. */
export interface PodScope {
  readonly volumes: ReadonlySet<string>;
  readonly volumeDevices: ReadonlySet<string>;
  readonly restartPolicy: string;
  /** The names of the pod's resource claims. */
  readonly claims: ReadonlySet<string>;
  readonly gracePeriod: number | undefined;
  /** Whether the pod shares the node's user namespace. */
  readonly hostUsers: boolean;
}

export function containers(list: Field, scope: PodScope): void {
  if (list.empty) return list.required();
  const names = new Set<string>();
  for (const container of list.items) {
    anyContainer(container, scope);
    const name = container.at("name");
    if (names.has(name.text)) name.duplicate();
    names.add(name.text);
    lifecycle(container.at("lifecycle"), scope.gracePeriod);
    probes(container, scope.gracePeriod);
    restartRules(container);
  }
  hostPorts(list.items);
}

export function initContainers(list: Field, scope: PodScope, regular: Field): void {
  const names = new Set(regular.items.map((each) => each.at("name").text));
  for (const container of list.items) {
    anyContainer(container, scope);
    const restart = container.at("restartPolicy");
    const isSidecar = restart.text === "Always";
    if (!restart.present) {
      if (!container.at("restartPolicyRules").empty)
        restart.required("must specify restartPolicy when restart rules are used");
    } else restartRules(container);
    const name = container.at("name");
    if (names.has(name.text)) name.duplicate();
    else if (name.text !== "") names.add(name.text);
    hostPorts([container]);
    if (isSidecar) {
      lifecycle(container.at("lifecycle"), scope.gracePeriod);
      probes(container, scope.gracePeriod);
      continue;
    }
    for (const part of ["lifecycle", "livenessProbe", "readinessProbe", "startupProbe"]) {
      if (container.at(part).present)
        container.at(part).forbidden("may not be set for init containers without restartPolicy=Always");
    }
    for (const policy of container.at("resizePolicy").items) {
      if (policy.at("restartPolicy").text === "RestartContainer")
        policy
          .at("restartPolicy")
          .invalid("must not be set to 'RestartContainer' for non-sidecar initContainers", "RestartContainer");
    }
  }
}

const policies = ["Always", "IfNotPresent", "Never"];

/** Validates the fields that all kinds of containers share. */
export function anyContainer(container: Field, scope: PodScope): void {
  const name = container.at("name");
  if (name.require()) name.matches(dnsLabel);
  container.at("image").require();
  const termination = container.at("terminationMessagePolicy");
  if (termination.require()) termination.oneOf(["File", "FallbackToLogsOnError"], { sorted: false });
  ports(container.at("ports"));
  environment(container);
  mounts(container, scope.volumes);
  devices(container, scope);
  container.at("imagePullPolicy").requireOneOf(policies);
  resources(container.at("resources"), scope.claims);
  resizePolicy(container.at("resizePolicy"), scope.restartPolicy);
  securityContext(container.at("securityContext"), { hostUsers: scope.hostUsers });
}

function ports(list: Field): void {
  const names = new Set<string>();
  for (const port of list.items) {
    const [name, number, host] = [port.at("name"), port.at("containerPort"), port.at("hostPort")];
    if (name.text !== "" && name.matches(portName)) {
      if (names.has(name.text)) name.duplicate();
      names.add(name.text);
    }
    if (number.number === 0) number.required();
    else number.inRange(1, 65535);
    if (host.number !== 0) host.inRange(1, 65535);
    port.at("protocol").requireOneOf(["SCTP", "TCP", "UDP"]);
  }
}

function hostPorts(list: readonly Field[]): void {
  const names = new Set<string>();
  for (const container of list) {
    for (const port of container.at("ports").items) {
      const host = port.at("hostPort");
      if (host.number === 0) continue;
      const what = `${port.at("protocol").text}/${port.at("hostIP").text}/${host.number}`;
      if (names.has(what)) host.duplicate(what);
      names.add(what);
    }
  }
}

function resizePolicy(list: Field, restartPolicy: string): void {
  const seen = new Set<string>();
  for (const policy of list.items) {
    const [name, restart] = [policy.at("resourceName"), policy.at("restartPolicy")];
    if (seen.has(name.text)) policy.duplicate(name.text);
    seen.add(name.text);
    list.with(name.text).requireOneOf(["cpu", "memory"]);
    list.with(restart.text).requireOneOf(["NotRequired", "RestartContainer"]);
    if (restartPolicy === "Never" && restart.text !== "NotRequired")
      list.invalid("must be 'NotRequired' when pod `restartPolicy` is 'Never'", restart.text);
  }
}

function restartRules(container: Field): void {
  const [policy, rules] = [container.at("restartPolicy"), container.at("restartPolicyRules")];
  if (!policy.present) {
    if (rules.empty) return;
    policy.required("must specify restartPolicy when restart rules are used");
  } else policy.oneOf(["Always", "Never", "OnFailure"]);
  if (rules.items.length > 20) rules.tooMany(20);
  for (const rule of rules.items) {
    rule.at("action").oneOf(["Restart", "RestartAllContainers"]);
    const codes = rule.at("exitCodes");
    if (!codes.present) {
      codes.required("must be specified");
      continue;
    }
    codes.at("operator").oneOf(["In", "NotIn"]);
    if (codes.at("values").items.length > 255) codes.at("values").tooMany(255);
  }
}
