/** Validates API services and devices. */
import type { Field } from "./field.ts";
import { inner } from "./fill.ts";
import { flowSchema, priorityLevel } from "./flowcontrol/flow-kinds.ts";
import { dns1035Label, dnsSubdomain, pathSegment } from "./formats.ts";
import { validateAnnotations, validateLabels } from "./metadata.ts";
import { nodeSelector } from "./selector-rules.ts";
import { isExtended } from "./core/resource-rules.ts";
import { configuration, deviceClaim, reservations, selector } from "./resource/claim-rules.ts";
import { slice } from "./resource/slice-rules.ts";
import type { Rules, RuleTable } from "./rules.ts";

const apiService: Rules = {
  nameFor: ({ spec }) => {
    const { group = "", version = "" } = (spec ?? {}) as { group?: string; version?: string };
    const wanted = `${version}.${group}`;
    return (name) => {
      const problems = pathSegment(name);
      if (problems.length > 0 || name === wanted) return problems;
      return [`must be \`spec.version+"."+spec.group\`: ${JSON.stringify(wanted)}`];
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

const templateFields = new Set(["annotations", "labels", "creationTimestamp"]);

/** Objects made from a template get only labels and annotations from it. */
function templateMetadata(metadata: Field): void {
  validateAnnotations(metadata.at("annotations"));
  validateLabels(metadata.at("labels"));
  for (const name of metadata.keys) {
    const field = metadata.at(name);
    if (
      !templateFields.has(name) &&
      field.present &&
      field.value !== "" &&
      !(Array.isArray(field.value) && field.empty)
    )
      field.forbidden("cannot be set");
  }
}

export const clusterKinds: RuleTable = {
  "apiregistration.k8s.io/APIService": apiService,
  "flowcontrol.apiserver.k8s.io/FlowSchema": flowSchema,
  "flowcontrol.apiserver.k8s.io/PriorityLevelConfiguration": priorityLevel,
  "resource.k8s.io/ResourceClaim": {
    check: (object) => deviceClaim(object.at("spec").at("devices")),
    checkNewOnly: true,
    update: (object, old) => object.at("spec").immutable(inner(old, "spec")),
    status: (object) => {
      const status = object.at("status");
      const places = status.at("allocation").at("nodeSelector");
      reservations(status.at("reservedFor"));
      if (!status.at("reservedFor").empty && !status.at("allocation").present)
        status.at("reservedFor").forbidden("may not be specified when `allocated` is not set");
      if (places.present) nodeSelector(places);
    },
  },
  "resource.k8s.io/ResourceClaimTemplate": {
    check: (object) => {
      const template = object.at("spec");
      templateMetadata(template.at("metadata"));
      deviceClaim(template.at("spec").at("devices"));
    },
    update: (object, old) => object.at("spec").immutable(inner(old, "spec")),
  },
  "resource.k8s.io/DeviceClass": {
    check: (object) => {
      for (const one of object.at("spec").at("selectors").items) selector(one);
      for (const one of object.at("spec").at("config").items) configuration(one);
      const extended = object.at("spec").at("extendedResourceName");
      if (extended.present && !isExtended(extended.text))
        extended.invalid("must be a valid extended resource name", extended.text);
    },
  },
  "resource.k8s.io/ResourceSlice": slice,
};
