/** Validates resource slices, which list the devices of a driver. */
import type { Fields } from "../../hooks.ts";
import type { Field } from "../field.ts";
import { each, inner } from "../fill.ts";
import { dnsLabel, dnsSubdomain } from "../formats.ts";
import type { Rules } from "../rules.ts";
import { nodeSelector } from "../selector-rules.ts";
import { driverName } from "../core/volume-sources.ts";

const all = "exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required";

export const slice: Rules = {
  prepare: (object) => dropLists(inner(object, "spec")),
  prepareUpdate: (next) => dropLists(inner(next, "spec")),
  selectable: {
    "spec.nodeName": (object) => String(inner(object, "spec")["nodeName"] ?? ""),
    "spec.driver": (object) => String(inner(object, "spec")["driver"] ?? ""),
  },
  check: (object, { old }) => {
    const spec = object.at("spec");
    driverName(spec.at("driver"));
    pool(spec.at("pool"));
    if (old !== undefined) kept(spec, inner(old, "spec"));
    const given = places(spec, "must be either unset or set to a non-empty string");
    for (const name of ["allNodes", "perDeviceNodeSelection"]) {
      if (spec.at(name).value === false) spec.at(name).invalid("must be either unset or set to true", false);
      if (spec.at(name).value === true) given.push(`\`${name}\``);
    }
    if (given.length === 0) spec.required(all);
    else if (given.length > 1) spec.invalid(`${all}, but multiple fields are set`, `{${given.join(", ")}}`);
    if (spec.at("sharedCounters").present && spec.at("devices").present)
      spec.invalid("only one of `sharedCounters` or `devices` is allowed", "");
    devices(spec);
  },
};

/** Removes fields of disabled features. */
function dropLists(spec: Fields): void {
  for (const one of each(spec, "devices")) {
    delete one["nodeAllocatableResourceMappings"];
    for (const attribute of Object.values(inner(one, "attributes"))) {
      for (const name of ["ints", "bools", "strings", "versions"]) delete (attribute as Fields)[name];
    }
  }
}

function kept(spec: Field, before: Fields): void {
  const name = spec.at("pool").at("name");
  name.with(name.text).immutable(inner(before, "pool")["name"]);
  spec.at("driver").with(spec.at("driver").text).immutable(before["driver"]);
  spec.at("nodeName").immutable(before["nodeName"]);
}

function pool(field: Field): void {
  const [name, count, generation] = [field.at("name"), field.at("resourceSliceCount"), field.at("generation")];
  if (name.text === "") name.required();
  else {
    if (name.text.length > 253) name.tooLong(253);
    for (const part of name.text.split("/")) name.with(part).matches(dnsSubdomain);
  }
  if (count.number <= 0) count.invalid("must be greater than zero", count.number);
  if (generation.number < 0) generation.invalid("must be greater than or equal to zero");
}

/** Returns the fields that say where devices are. */
function places(field: Field, whenEmpty: string): string[] {
  const given: string[] = [];
  const [node, selector] = [field.at("nodeName"), field.at("nodeSelector")];
  if (node.present && node.text === "") node.invalid(whenEmpty, "");
  else if (node.present) {
    given.push("`nodeName`");
    node.matches(dnsSubdomain);
  }
  if (selector.present) {
    given.push("`nodeSelector`");
    nodeSelector(selector);
    const terms = selector.at("nodeSelectorTerms");
    if (terms.items.length !== 1) terms.invalid("must have exactly one node selector term", terms.value ?? null);
  }
  return given;
}

function devices(spec: Field): void {
  const names = new Set<string>();
  const isPerDevice = spec.at("perDeviceNodeSelection").value === true;
  for (const device of spec.at("devices").items) {
    const name = device.at("name");
    name.matches(dnsLabel);
    attributes(device);
    deviceNodes(device, isPerDevice);
    bindings(device);
    if (names.has(name.text)) device.duplicate(name.text);
    names.add(name.text);
  }
}

const identifier = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** Validates a name that may have a domain. */
export function qualified(key: Field): void {
  const parts = key.text.split("/");
  if (parts.length > 2) return key.invalid("must contain at most one slash", key.text);
  const [domain, name] = parts.length === 2 ? parts : [undefined, parts[0]];
  if (domain !== undefined) {
    if (domain === "") key.required("the domain must not be empty");
    else key.with(domain).matches(dnsSubdomain);
  }
  if (name === "") key.required("the name must not be empty");
  else if (!identifier.test(name ?? ""))
    key
      .with(name)
      .invalid(
        "a valid C identifier must start with alphabetic character or '_', followed by a string of alphanumeric characters or '_' (e.g. 'my_name',  or 'MY_NAME',  or 'MyName', regex used for validation is '[A-Za-z_][A-Za-z0-9_]*')",
      );
}

const version = /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?$/;

function attributes(device: Field): void {
  const list = device.at("attributes");
  for (const key of list.keys.toSorted()) {
    const attribute = list.key(key);
    qualified(list.with(key));
    const text = attribute.at("string");
    if (text.text.length > 64) text.tooLong(64);
    const release = attribute.at("version");
    if (release.present) {
      if (!version.test(release.text)) release.invalid("must be a string compatible with semver.org spec 2.0.0");
      if (release.text.length > 64) release.tooLong(64);
    }
    const given = ["bool", "int", "string", "version"].filter((name) => attribute.at(name).present);
    if (given.length === 0) attribute.invalid("exactly one value must be specified", "");
    else if (given.length > 1) {
      attribute.invalid("exactly one value must be specified");
    }
  }
  const capacity = device.at("capacity");
  for (const key of capacity.keys.toSorted()) {
    qualified(capacity.with(key));
    const policy = capacity.key(key).at("requestPolicy");
    if (policy.present && device.at("allowMultipleAllocations").value !== true)
      policy.forbidden("allowMultipleAllocations must be true");
  }
}

const perDevice = "is required when `perDeviceNodeSelection` is set to true in the ResourceSlice spec";

function deviceNodes(device: Field, isPerDevice: boolean): void {
  const anywhere = device.at("allNodes");
  if (!isPerDevice) {
    if (device.at("nodeName").present || device.at("nodeSelector").present || anywhere.present)
      device.invalid(
        "`nodeName`, `nodeSelector` and `allNodes` can only be set if `perDeviceNodeSelection` is set to true in the ResourceSlice spec",
        null,
      );
    return;
  }
  const given = places(device, "must not be empty");
  if (anywhere.value === true) given.push("`allNodes`");
  else if (anywhere.value === false) anywhere.invalid("must be either unset or set to true", false);
  const one = `exactly one of \`nodeName\`, \`nodeSelector\`, or \`allNodes\` ${perDevice}`;
  if (given.length === 0) device.required(one);
  else if (given.length > 1) device.invalid(one, `{${given.join(", ")}}`);
}

function bindings(device: Field): void {
  const [wanted, failed] = [device.at("bindingConditions"), device.at("bindingFailureConditions")];
  for (const list of [wanted, failed]) {
    const seen = new Set<string>();
    for (const item of list.items) {
      if (seen.has(item.text)) item.duplicate();
      seen.add(item.text);
    }
  }
  if (!wanted.empty && failed.empty)
    failed.invalid("bindingFailureConditions are required to use bindingConditions", null);
  if (wanted.empty && !failed.empty)
    wanted.invalid("bindingConditions are required to use bindingFailureConditions", null);
}
