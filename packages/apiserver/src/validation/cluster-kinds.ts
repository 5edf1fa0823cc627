/** Validates API services and claims of devices. */
import type { Fields } from "../hooks.ts";
import { each, inner } from "./fill.ts";
import { dns1035Label, dnsSubdomain, pathSegment } from "./formats.ts";
import type { Rules, RuleTable } from "./rules.ts";

const apiService: Rules = {
  nameFor: ({ spec }) => {
    const { group = "", version = "" } = (spec ?? {}) as { group?: string; version?: string };
    const expected = `${version}.${group}`;
    return (name) => {
      const problems = pathSegment(name);
      if (problems.length > 0 || name === expected) return problems;
      return [`must be \`spec.version+"."+spec.group\`: ${JSON.stringify(expected)}`];
    };
  },
  check: (object) => {
    const spec = object.at("spec");
    const [group, version] = [spec.at("group"), spec.at("version")];
    if (group.text === "") {
      if (version.text !== "v1") group.required("only v1 may have an empty group and it better be legacy kube");
    } else group.matches(dnsSubdomain);
    version.matches(dns1035Label);
    const [groupPriority, versionPriority] = [spec.at("groupPriorityMinimum"), spec.at("versionPriority")];
    if (groupPriority.number <= 0 || groupPriority.number > 20000)
      groupPriority.invalid("must be positive and less than 20000", groupPriority.number);
    if (versionPriority.number <= 0 || versionPriority.number > 1000)
      versionPriority.invalid("must be positive and less than 1000", versionPriority.number);
    const [service, skips, bundle] = [spec.at("service"), spec.at("insecureSkipTLSVerify"), spec.at("caBundle")];
    if (!service.present) {
      if (!bundle.empty) bundle.invalid("local APIServices may not have a caBundle", `${bundle.text.length} bytes`);
      if (skips.value === true) skips.invalid("local APIServices may not have insecureSkipTLSVerify");
      return;
    }
    for (const part of ["namespace", "name"]) if (service.at(part).text === "") service.at(part).required();
    const port = service.at("port");
    if (port.present && (port.number < 1 || port.number > 65535))
      port.invalid("port is not valid: must be between 1 and 65535, inclusive");
    if (skips.value === true && !bundle.empty) skips.invalid("may not be true if caBundle is present");
  },
};

/** Kinds that have no rules here, so only their schemas apply: nothing in this server or its cluster reads them. */
export const clusterKinds: RuleTable = {
  "apiregistration.k8s.io/APIService": apiService,
  "resource.k8s.io/ResourceClaim": {
    update: (object, old) => object.at("spec").immutable(inner(old, "spec")),
    status: (object) => {
      const status = object.at("status");
      if (!status.at("reservedFor").empty && !status.at("allocation").present)
        status.at("reservedFor").forbidden("may not be specified when `allocated` is not set");
    },
  },
  "resource.k8s.io/ResourceClaimTemplate": {
    update: (object, old) => object.at("spec").immutable(inner(old, "spec")),
  },
  "resource.k8s.io/ResourceSlice": {
    prepare: (object) => dropLists(inner(object, "spec")),
    prepareUpdate: (next) => dropLists(inner(next, "spec")),
    selectable: {
      "spec.nodeName": (object) => String(inner(object, "spec")["nodeName"] ?? ""),
      "spec.driver": (object) => String(inner(object, "spec")["driver"] ?? ""),
    },
  },
};

/** Removes fields of disabled features from the devices of a slice. */
function dropLists(spec: Fields): void {
  for (const one of each(spec, "devices")) {
    delete one["nodeAllocatableResourceMappings"];
    for (const attribute of Object.values(inner(one, "attributes"))) {
      for (const name of ["ints", "bools", "strings", "versions"]) delete (attribute as Fields)[name];
    }
  }
}
