/** Validates a pod's status. */
import type { Fields } from "../../hooks.ts";
import { addressProblem, isAddress } from "../addresses.ts";
import type { Field } from "../field.ts";
import { each, inner } from "../fill.ts";
import { dnsLabel, dnsSubdomain, qualifiedName } from "../formats.ts";

const own = new Set(["PodScheduled", "Ready", "Initialized"]);
const lists = ["containerStatuses", "initContainerStatuses", "ephemeralContainerStatuses"];

export function podStatus(object: Field, old: Fields): void {
  const [status, before] = [object.at("status"), inner(old, "status")];
  conditions(status.at("conditions"));
  const node = status.at("nominatedNodeName");
  if (node.text !== "" && node.text !== before["nominatedNodeName"]) {
    node.matches(dnsSubdomain);
    if (inner(old, "spec")["nodeName"]) node.forbidden("may not be set on pods that are already bound to a node");
  }
  const observed = status.at("observedGeneration");
  if (observed.number < 0) observed.invalid("must be a non-negative integer", observed.number);
  status.at("qosClass").immutable(before["qosClass"]);
  states(status, { old, before });
  claims(status.at("resourceClaimStatuses"), object.at("spec"));
  extendedClaim(status.at("extendedResourceClaimStatus"), object.at("spec"));
  addresses(status);
  for (const list of lists) users(status.at(list), object.at("spec").at("os").at("name").text);
  for (const [list, from] of [
    ["containerStatuses", "containers"],
    ["initContainerStatuses", "initContainers"],
  ] as const)
    allocated(status.at(list), object.at("spec").at(from));
  for (const each of status.at("ephemeralContainerStatuses").items) {
    const field = each.at("allocatedResourcesStatus");
    if (!field.empty) field.forbidden("must not be specified in container status");
  }
}

function extendedClaim(claim: Field, spec: Field): void {
  if (!claim.present) return;
  const containers = new Map(
    ["initContainers", "containers"].flatMap((list) => spec.at(list).items.map((one) => [one.at("name").text, one])),
  );
  const mappings = claim.at("requestMappings");
  if (mappings.empty) mappings.required("at least one request mapping is required");
  const seen = new Set<string>();
  for (const mapping of mappings.items) {
    const [container, resource] = [mapping.at("containerName"), mapping.at("resourceName")];
    const of = containers.get(container.text);
    if (of === undefined)
      container.invalid(
        "must match the name of an entry in spec.initContainers.name or spec.containers.name",
        container.text,
      );
    else if (!of.at("resources").at("requests").keys.includes(resource.text))
      resource.invalid(
        "must match the extended resource name of an entry in spec.initContainers.resources.requests or spec.containers.resources.requests",
        resource.text,
      );
    const request = mapping.at("requestName").text;
    claim.at("requestName").with(request).matches(dnsLabel);
    const key = `${container.text} ${resource.text} ${request}`;
    if (seen.has(key)) {
      container.duplicate(container.text);
      resource.duplicate(resource.text);
      mapping.at("requestName").duplicate(request);
    }
    seen.add(key);
  }
  const name = claim.at("resourceClaimName");
  if (name.require()) name.matches(dnsSubdomain);
}

function conditions(list: Field): void {
  for (const condition of list.items) {
    const observed = condition.at("observedGeneration");
    if (observed.number < 0) observed.invalid("must be a non-negative integer", observed.number);
    const type = condition.at("type").text;
    if (!own.has(type)) condition.at("Type").with(type).matches(qualifiedName);
  }
}

/** A terminated container stays terminated, unless the restart policy restarts it. */
function states(status: Field, { old, before }: { readonly old: Fields; readonly before: Fields }): void {
  const policy = inner(old, "spec")["restartPolicy"];
  for (const list of lists) {
    for (const [index, earlier] of each(before, list).entries()) {
      const ended = inner(earlier, "state")["terminated"] as { exitCode?: number } | undefined;
      if (!ended) continue;
      const now = status.at(list).items.find((one) => one.at("name").text === earlier["name"]);
      if (!now || now.at("state").at("terminated").present) continue;
      const restarts = policy === "Always" || (policy === "OnFailure" && (ended.exitCode ?? 0) !== 0);
      if (restarts && list !== "ephemeralContainerStatuses") continue;
      status.at(`${list}[${index}]`).at("state").forbidden("may not be transitioned to non-terminated state");
    }
  }
}

function claims(list: Field, spec: Field): void {
  const known = new Set(spec.at("resourceClaims").items.map((claim) => claim.at("name").text));
  const seen = new Set<string>();
  for (const claim of list.items) {
    const [name, claimName] = [claim.at("name"), claim.at("resourceClaimName")];
    if (!known.has(name.text)) name.invalid("must match the name of an entry in `spec.resourceClaims`", name.text);
    if (seen.has(name.text)) name.duplicate();
    seen.add(name.text);
    if (claimName.present) claimName.matches(dnsSubdomain);
  }
}

function addresses(status: Field): void {
  for (const name of ["podIPs", "hostIPs"]) {
    const single = name === "podIPs" ? status.at("podIP").text : "";
    const statuses = status.at(name);
    const list = statuses.empty && single !== "" ? statuses.with([{ ip: single }]) : statuses;
    const texts = list.items.map((item) => item.at("ip").text);
    if (name === "hostIPs" && texts.length > 0 && status.at("hostIP").text !== texts[0])
      list.items[0]?.at("ip").invalid("must be equal to `hostIP`", texts[0]);
    for (const [index, text] of texts.entries()) {
      const problem = addressProblem(text);
      if (problem !== undefined) list.items[index]?.with(text).invalid(problem, text);
    }
    if (texts.length < 2) continue;
    const wrong = texts.find((text) => !isAddress(text));
    if (wrong !== undefined)
      list.add("Internal", `failed to check for dual stack with error:invalid IP[${texts.indexOf(wrong)}]: ${wrong}`);
    const families = new Set(texts.map((text) => text.includes(":")));
    if (wrong !== undefined || families.size < 2 || texts.length > 2)
      list.invalid("may specify no more than one IP for each IP family");
  }
}

function users(list: Field, system: string): void {
  for (const status of list.items) {
    const linux = status.at("user").at("linux");
    if (!linux.present) continue;
    if (system === "windows") linux.forbidden("cannot be set for a windows pod");
    for (const name of ["uid", "gid"]) linux.at(name).inRange(0, 2147483647);
    for (const group of linux.at("supplementalGroups").items) group.inRange(0, 2147483647);
  }
}

function allocated(list: Field, containers: Field): void {
  for (const status of list.items) {
    const container = containers.items.find((one) => one.at("name").text === status.at("name").text);
    for (const resource of status.at("allocatedResourcesStatus").items) {
      if (container) allocatedName(resource.at("name"), container.at("resources"));
      const seen = new Set<string>();
      for (const device of resource.at("resources").items) {
        const [health, message, id] = [device.at("health"), device.at("message"), device.at("resourceID")];
        health.oneOf(["Healthy", "Unhealthy", "Unknown"]);
        if (message.present && message.text === "") message.required("must be non-empty if specified");
        if (seen.has(id.text)) id.duplicate(id.text);
        seen.add(id.text);
      }
    }
  }
}

function allocatedName(name: Field, resources: Field): void {
  if (!name.text.startsWith("claim:")) {
    if (resources.at("requests").fields[name.text] === undefined)
      name.invalid("must match one of the container's resource requests", name.text);
    return;
  }
  const known = resources
    .at("claims")
    .items.map((claim) => [claim.at("name").text, claim.at("request").text].filter((part) => part !== "").join("/"));
  if (!known.includes(name.text.slice("claim:".length)))
    name.invalid(
      "must match one of the container's resource claims in a format 'claim:<claimName>/<request>' or 'claim:<claimName>' if request is empty",
      name.text,
    );
}
