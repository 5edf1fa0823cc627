/** Validates pods and pod templates. */
import { affinity } from "./affinity-rules.ts";
import { addressProblem } from "../addresses.ts";
import { matchingProfiles, podAnnotations } from "./pod-annotations.ts";
import { containers, initContainers, type PodScope } from "./container-rules.ts";
import { ephemeralContainers } from "./ephemeral-rules.ts";
import type { Field } from "../field.ts";
import { dnsLabel, dnsSubdomain, labelValue, qualifiedName, searchDomain } from "../formats.ts";
import { validateAnnotations, validateLabels } from "../metadata.ts";
import { podResources } from "./pod-resources.ts";
import { containerResourceName, requirements } from "./resource-rules.ts";
import { hostProcesses, podSecurityContext } from "./security-rules.ts";
import { spread, tolerations } from "./scheduling-rules.ts";
import { volumes } from "./volume-rules.ts";

export interface PodOptions {
  /** The pod's name; `""` for templates. */
  readonly name?: string;
  /** Whether it is a pod and no template. @default false */
  readonly isPod?: boolean;
}

/** Validates labels and annotations of a template; its errors name them like fields of the template. */
export function templateMetadata(template: Field): void {
  const { labels, annotations } = template.at("metadata").fields;
  validateLabels(template.at("labels").with(labels));
  validateAnnotations(template.at("annotations").with(annotations));
  podAnnotations(template.at("annotations").with(annotations), template.at("spec"));
}

export function podTemplate(template: Field): void {
  const spec = template.at("spec");
  templateMetadata(template);
  podSpec(spec, {});
  matchingProfiles(template.at("metadata").at("annotations").fields, spec);
  if (!spec.at("ephemeralContainers").empty)
    spec.at("ephemeralContainers").forbidden("ephemeral containers not allowed in pod template");
}

export function podSpec(spec: Field, { name = "", isPod = false }: PodOptions): void {
  const { names, claims } = volumes(spec.at("volumes"), { podName: name, isPod });
  const restartPolicy = spec.at("restartPolicy");
  const grace = spec.at("terminationGracePeriodSeconds");
  const scope: PodScope = {
    volumes: names,
    volumeDevices: claims,
    restartPolicy: restartPolicy.text,
    claims: new Set(spec.at("resourceClaims").items.map((each) => each.at("name").text)),
    gracePeriod: grace.present ? grace.number : undefined,
    hostUsers: spec.at("hostUsers").value !== false,
  };
  resourceClaims(spec.at("resourceClaims"));
  containers(spec.at("containers"), scope);
  initContainers(spec.at("initContainers"), scope, spec.at("containers"));
  ephemeralContainers(spec, scope);
  if (spec.at("resources").present) podResources(spec);
  hostNetwork(spec, isPod);
  if (restartPolicy.require()) restartPolicy.oneOf(["Always", "OnFailure", "Never"], { sorted: false });
  const dns = spec.at("dnsPolicy");
  if (dns.require()) dns.oneOf(["ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"], { sorted: false });
  for (const key of spec.at("nodeSelector").keys) {
    const value = String(spec.at("nodeSelector").fields[key]);
    spec.at("nodeSelector").with(key).matches(qualifiedName);
    spec.at("nodeSelector").with(value).matches(labelValue);
  }
  sharedNamespaces(spec);
  podSecurityContext(spec.at("securityContext"));
  affinity(spec.at("affinity"));
  dnsConfig(spec.at("dnsConfig"), dns.text);
  for (const gate of spec.at("readinessGates").items) gate.at("conditionType").matches(qualifiedName);
  schedulingGates(spec.at("schedulingGates"));
  spread(spec.at("topologySpreadConstraints"));
  hostProcesses(spec);
  hostUsers(spec);
  hostnameOverride(spec);
  scalars(spec);
  fileVolumes(spec);
}

function address(field: Field): void {
  const problem = addressProblem(field.text);
  if (problem !== undefined) field.invalid(problem, field.text);
}

/** Validates the fields with a single value. */
function scalars(spec: Field): void {
  const [account, node] = [spec.at("serviceAccountName"), spec.at("nodeName")];
  if (account.text !== "") account.matches(dnsSubdomain);
  if (node.text !== "") node.matches(dnsSubdomain);
  const deadline = spec.at("activeDeadlineSeconds");
  if (deadline.present) deadline.inRange(1, 2147483647);
  for (const part of ["hostname", "subdomain"]) if (spec.at(part).text !== "") spec.at(part).matches(dnsLabel);
  tolerations(spec.at("tolerations"));
  for (const alias of spec.at("hostAliases").items) {
    const ip = alias.at("ip");
    address(ip);
    for (const host of alias.at("hostnames").items) host.matches(dnsSubdomain);
  }
  const [priority, runtime, preemption] = [
    spec.at("priorityClassName"),
    spec.at("runtimeClassName"),
    spec.at("preemptionPolicy"),
  ];
  if (priority.text !== "") priority.matches(dnsSubdomain);
  if (runtime.present) runtime.matches(dnsSubdomain);
  if (preemption.present && preemption.require())
    preemption.oneOf(["PreemptLowerPriority", "Never"], { sorted: false });
  const overhead = spec.at("overhead");
  if (overhead.present) requirements(overhead.with({ limits: overhead.value }), containerResourceName);
  system(spec);
}

function system(spec: Field): void {
  const os = spec.at("os");
  if (!os.present || !os.at("name").require()) return;
  if (!os.with(os.at("name").value).oneOf(["linux", "windows"])) return;
  const context = spec.at("securityContext");
  const isLinux = os.at("name").text === "linux";
  const refuse = (field: Field): void => {
    if (field.present)
      field.forbidden(isLinux ? "windows options cannot be set for a linux pod" : "cannot be set for a windows pod");
  };
  if (isLinux) refuse(context.at("windowsOptions"));
  else windowsContext(spec, refuse);
  for (const list of ["initContainers", "containers", "ephemeralContainers"]) {
    for (const container of spec.at(list).items) {
      const inner = container.at("securityContext");
      for (const name of isLinux ? ["windowsOptions"] : linuxContainers) refuse(inner.at(name));
    }
  }
}

const linuxContainers =
  "appArmorProfile seLinuxOptions seccompProfile capabilities readOnlyRootFilesystem privileged allowPrivilegeEscalation procMount runAsUser runAsGroup".split(
    " ",
  );

/** Rejects security options that only Linux has. HostProcess containers need the network of the node. */
function windowsContext(spec: Field, refuse: (field: Field) => void): void {
  const context = spec.at("securityContext");
  for (const name of ["appArmorProfile", "seLinuxOptions"]) refuse(context.at(name));
  refuse(spec.at("hostUsers"));
  for (const name of ["hostPID", "hostIPC"]) if (spec.at(name).value === true) refuse(spec.at(name));
  for (const name of ["seccompProfile", "fsGroup", "fsGroupChangePolicy", "sysctls"]) refuse(context.at(name));
  refuse(spec.at("shareProcessNamespace"));
  const users = ["runAsUser", "runAsGroup", "supplementalGroups", "supplementalGroupsPolicy", "seLinuxChangePolicy"];
  for (const name of users) refuse(context.at(name));
}

function resourceClaims(list: Field): void {
  const names = new Set<string>();
  for (const claim of list.items) {
    const [name, own, template] = [
      claim.at("name"),
      claim.at("resourceClaimName"),
      claim.at("resourceClaimTemplateName"),
    ];
    if (name.text === "") name.required();
    else if (names.has(name.text)) name.duplicate();
    else {
      name.matches(dnsLabel);
      names.add(name.text);
    }
    if (own.present && template.present)
      claim.invalid("at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified");
    if (!own.present && !template.present)
      claim.invalid("must specify one of: `resourceClaimName`, `resourceClaimTemplateName`");
    for (const each of [own, template]) if (each.present) each.matches(dnsSubdomain);
  }
}

function hostNetwork(spec: Field, isPod: boolean): void {
  if (spec.at("hostNetwork").value !== true) return;
  for (const container of spec.at("containers").items) {
    for (const port of container.at("ports").items) {
      const host = port.at("hostPort");
      if ((isPod || host.number !== 0) && host.number !== port.at("containerPort").number)
        host.invalid("must match `containerPort` when `hostNetwork` is true", host.number);
    }
  }
}

function sharedNamespaces(spec: Field): void {
  const shared = spec.at("shareProcessNamespace");
  if (shared.value === true && spec.at("hostPID").value === true)
    spec
      .at("securityContext")
      .at("shareProcessNamespace")
      .invalid("ShareProcessNamespace and HostPID cannot both be enabled", true);
}

function dnsConfig(config: Field, policy: string): void {
  const servers = config.at("nameservers");
  if (policy === "None") {
    if (!config.present) return config.required("must provide `dnsConfig` when `dnsPolicy` is None");
    if (servers.empty) return servers.required("must provide at least one DNS nameserver when `dnsPolicy` is None");
  }
  if (!config.present) return;
  if (servers.items.length > 3) servers.invalid("must not have more than 3 nameservers");
  for (const server of servers.items) address(server);
  const searches = config.at("searches");
  if (searches.items.length > 32) searches.invalid("must not have more than 32 search paths");
  if (searches.items.map(({ text }) => text).join(" ").length > 2048)
    searches.invalid("must not have more than 2048 characters (including spaces) in the search list");
  for (const search of searches.items) {
    if (search.text !== ".") search.with(search.text.replace(/\.$/, "")).matches(searchDomain);
  }
  for (const option of config.at("options").items)
    if (option.at("name").text === "") option.required("must not be empty");
}

function schedulingGates(list: Field): void {
  const seen = new Set<string>();
  for (const gate of list.items) {
    const name = gate.at("name").text;
    gate.with(name).matches(qualifiedName);
    if (seen.has(name)) gate.duplicate(name);
    seen.add(name);
  }
}

function hostUsers(spec: Field): void {
  if (spec.at("hostUsers").value !== false) return;
  const reason = "when `hostUsers` is false";
  if (spec.at("hostNetwork").value === true) spec.at("hostNetwork").forbidden(reason);
  if (spec.at("hostPID").value === true) spec.at("HostPID").forbidden(reason);
  if (spec.at("hostIPC").value === true) spec.at("HostIPC").forbidden(reason);
  for (const list of ["initContainers", "containers"]) {
    for (const container of spec.at(list).items) {
      if (!container.at("volumeDevices").empty) container.at("volumeDevices").forbidden(reason);
    }
  }
}

function hostnameOverride(spec: Field): void {
  const field = spec.at("hostnameOverride");
  if (!field.present) return;
  if (spec.at("setHostnameAsFQDN").value === true)
    field.forbidden("may not be specified when setHostnameAsFQDN is true");
  if (spec.at("hostNetwork").value === true) field.forbidden("may not be specified when hostNetwork is true");
  if (field.text.length > 64) field.tooLong(64);
  field.matches(dnsSubdomain);
}

function fileVolumes(spec: Field): void {
  const sources = new Map(spec.at("volumes").items.map((volume) => [volume.at("name").text, volume]));
  for (const list of ["initContainers", "containers"]) {
    for (const container of spec.at(list).items) {
      for (const variable of container.at("env").items) {
        const reference = variable.at("valueFrom").at("fileKeyRef");
        if (!reference.present) continue;
        const name = reference.at("volumeName");
        const volume = sources.get(name.text);
        if (!volume) name.notFound(name.text);
        else if (!volume.at("emptyDir").present) name.invalid("referenced volume must be of type emptyDir", name.text);
      }
    }
  }
}

/** Validates rules that apply to pods and not to templates. */
export function podOnly(spec: Field): void {
  if (spec.at("serviceAccountName").text === "") {
    for (const volume of spec.at("volumes").items) {
      for (const source of volume.at("projected").at("sources").items) {
        const token = source.at("serviceAccountToken");
        if (token.present) token.forbidden("must not be specified when serviceAccountName is not set");
      }
    }
  }
  for (const list of ["containers", "initContainers"]) {
    for (const container of spec.at(list).items) {
      const image = container.at("image");
      if (image.text !== image.text.trim()) image.invalid("must not have leading or trailing whitespace", image.text);
    }
  }
}
