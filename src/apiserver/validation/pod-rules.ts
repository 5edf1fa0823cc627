/** Rules of pods and of the templates of pods. */
import { isIP } from "node:net";
import { containers, initContainers, type PodScope, seccomp } from "./container-rules.ts";
import type { Field } from "./field.ts";
import { dnsLabel, dnsSubdomain, labelValue, qualifiedName } from "./formats.ts";
import { validateAnnotations, validateLabels } from "./metadata.ts";
import { affinity } from "./affinity-rules.ts";
import { labelSelector } from "./selector-rules.ts";
import { volumes } from "./volume-rules.ts";

export interface PodOptions {
  /** `""` for templates. */
  readonly name?: string;
}

export function podTemplate(template: Field): void {
  const { labels, annotations } = template.at("metadata").fields;
  validateLabels(template.at("labels").with(labels));
  validateAnnotations(template.at("annotations").with(annotations));
  podSpec(template.at("spec"), {});
}

export function podSpec(spec: Field, { name = "" }: PodOptions): void {
  const { names, claims } = volumes(spec.at("volumes"), name);
  const restartPolicy = spec.at("restartPolicy");
  const scope: PodScope = { volumes: names, volumeDevices: claims, restartPolicy: restartPolicy.text };
  containers(spec.at("containers"), scope);
  initContainers(spec.at("initContainers"), scope, spec.at("containers"));
  if (restartPolicy.require()) restartPolicy.oneOf(["Always", "OnFailure", "Never"], { sorted: false });
  const dns = spec.at("dnsPolicy");
  if (dns.require()) dns.oneOf(["ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"]);
  for (const key of spec.at("nodeSelector").keys) {
    const value = String(spec.at("nodeSelector").fields[key]);
    spec.at("nodeSelector").with(key).matches(qualifiedName);
    spec.at("nodeSelector").with(value).matches(labelValue);
  }
  security(spec);
  affinity(spec.at("affinity"));
  if (name !== "") tokenProjections(spec);
  const account = spec.at("serviceAccountName");
  if (account.text !== "") account.matches(dnsSubdomain);
  const node = spec.at("nodeName");
  if (node.text !== "") node.matches(dnsSubdomain);
  const deadline = spec.at("activeDeadlineSeconds");
  if (deadline.present) deadline.inRange(1, 2147483647);
  for (const part of ["hostname", "subdomain"]) if (spec.at(part).text !== "") spec.at(part).matches(dnsLabel);
  tolerations(spec.at("tolerations"));
  for (const alias of spec.at("hostAliases").items) {
    const ip = alias.at("ip");
    if (isIP(ip.text) === 0) ip.invalid("must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)", ip.text);
    for (const host of alias.at("hostnames").items) host.matches(dnsSubdomain);
  }
  for (const gate of spec.at("readinessGates").items) gate.at("conditionType").matches(qualifiedName);
  spread(spec.at("topologySpreadConstraints"));
  const priorityClass = spec.at("priorityClassName");
  if (priorityClass.text !== "") priorityClass.matches(dnsSubdomain);
}

function security(spec: Field): void {
  const context = spec.at("securityContext");
  for (const name of ["fsGroup", "runAsUser", "runAsGroup"])
    if (context.at(name).present) context.at(name).inRange(0, 2147483647);
  for (const group of context.at("supplementalGroups").items) group.inRange(0, 2147483647);
  seccomp(context.at("seccompProfile"));
}

function tokenProjections(spec: Field): void {
  if (spec.at("serviceAccountName").text !== "") return;
  for (const volume of spec.at("volumes").items) {
    for (const source of volume.at("projected").at("sources").items) {
      const token = source.at("serviceAccountToken");
      if (token.present) token.forbidden("must not be specified when serviceAccountName is not set");
    }
  }
}

const effects = ["NoSchedule", "PreferNoSchedule", "NoExecute"];

export function tolerations(list: Field): void {
  for (const toleration of list.items) {
    const [key, operator, effect] = [toleration.at("key"), toleration.at("operator"), toleration.at("effect")];
    if (key.text !== "") key.matches(qualifiedName);
    else if (operator.text !== "Exists") {
      operator.invalid(
        'operator must be Exists when `key` is empty, which means "match all values and all keys"',
        operator.text,
      );
    }
    if (toleration.at("tolerationSeconds").present && effect.text !== "NoExecute") {
      effect.invalid("effect must be 'NoExecute' when `tolerationSeconds` is set", effect.text);
    }
    if (operator.text === "" || operator.text === "Equal") {
      if (toleration.at("value").text !== "") toleration.at("value").matches(labelValue);
    } else if (operator.text === "Exists") {
      if (toleration.at("value").text !== "")
        operator.invalid("value must be empty when `operator` is 'Exists'", toleration.at("value").text);
    } else operator.oneOf(["Equal", "Exists"]);
    if (effect.text !== "") effect.oneOf(effects, { sorted: false });
  }
}

function spread(list: Field): void {
  const seen = new Map<string, number>();
  for (const [index, constraint] of list.items.entries()) {
    const [skew, key, when] = [
      constraint.at("maxSkew"),
      constraint.at("topologyKey"),
      constraint.at("whenUnsatisfiable"),
    ];
    if (skew.number <= 0) skew.invalid("must be greater than zero", skew.number);
    if (key.text === "") key.required("can not be empty");
    when.oneOf(["DoNotSchedule", "ScheduleAnyway"]);
    const pair = `{${key.text}, ${when.text}}`;
    const first = seen.get(pair);
    if (first !== undefined) list.items[first]?.at("{topologyKey, whenUnsatisfiable}").duplicate(pair);
    else seen.set(pair, index);
    if (constraint.at("labelSelector").present) labelSelector(constraint.at("labelSelector"));
  }
}
