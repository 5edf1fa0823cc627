/** Validates the resource requirements of containers and pods. */
import type { Field } from "../field.ts";
import { dnsLabel, qualifiedName } from "../formats.ts";
import { isNegative, quantityOrder } from "../quantities.ts";
import { parseQuantity } from "../../schema/quantity.ts";

const standard = /^(cpu|memory|ephemeral-storage)$|^hugepages-/;
const ofQuotas =
  /^(requests\.)?(cpu|memory|ephemeral-storage|storage)$|^limits\.(cpu|memory|ephemeral-storage)$|^(pods|services|replicationcontrollers|resourcequotas|secrets|configmaps|persistentvolumeclaims|services\.(nodeports|loadbalancers)|storage)$|^(requests\.)?hugepages-/;

const counted =
  /^(pods|services|replicationcontrollers|resourcequotas|secrets|configmaps|persistentvolumeclaims|services\.(nodeports|loadbalancers))$/;

export function isStandardResource(name: string): boolean {
  return standard.test(name) || ofQuotas.test(name);
}

/** Whether a quota may count an unqualified name. */
export function isQuotaResource(name: string): boolean {
  return ofQuotas.test(name) || standard.test(name);
}

/** Validates the name of a resource that a container requests. */
export function containerResourceName(entry: Field): void {
  const isNamed = entry.matches(qualifiedName);
  const { text } = entry;
  if (!text.includes("/")) {
    if (isNamed && !standard.test(text) && !ofQuotas.test(text))
      entry.invalid("must be a standard resource type or fully qualified", text);
    if (!standard.test(text)) entry.invalid("must be a standard resource for containers", text);
  } else if (!isNative(text) && !isExtended(text))
    entry.invalid("doesn't follow extended resource name standard", text);
}

function isNative(name: string): boolean {
  return !name.includes("/") || name.includes("kubernetes.io/");
}

function isExtended(name: string): boolean {
  return !isNative(name) && !name.startsWith("requests.") && qualifiedName(`requests.${name}`).length === 0;
}

/** Whether limits may exceed requests. */
function isOvercommitable(name: string): boolean {
  return isNative(name) && !name.startsWith("hugepages-");
}

function resourceQuantity(entry: Field, name: string): void {
  if (isNegative(entry.value)) entry.invalid("must be greater than or equal to 0", String(entry.value));
  // A canonical quantity has this suffix only if it is not a whole number.
  if ((counted.test(name) || isExtended(name)) && /[mun]$/.test(String(entry.value)))
    entry.invalid("must be an integer", String(entry.value));
}

export function resources(field: Field, claimNames: ReadonlySet<string>): void {
  if (!field.present) return;
  requirements(field, containerResourceName);
  claims(field.at("claims"), claimNames);
}

/** Validates the limits and requests of a container or pod. */
export function requirements(field: Field, nameRule: (entry: Field) => void): void {
  const [limits, requests] = [field.at("limits"), field.at("requests")];
  let [hasBasic, hasPages] = [false, false];
  const note = (name: string): void => {
    if (name === "cpu" || name === "memory") hasBasic = true;
    if (name.startsWith("hugepages-")) hasPages = true;
  };
  for (const name of limits.keys) {
    nameRule(limits.key(name).with(name));
    resourceQuantity(limits.key(name), name);
    wholePages(limits.key(name), name);
    note(name);
  }
  for (const name of requests.keys) {
    nameRule(requests.key(name).with(name));
    resourceQuantity(requests.key(name), name);
    wholePages(requests.key(name), name);
    const [limit, asked] = [limits.fields[name], requests.fields[name]];
    if (limit === undefined) {
      if (!isOvercommitable(name)) limits.required("Limit must be set for non overcommitable resources");
    } else if (!isOvercommitable(name) && quantityOrder(asked, limit) !== 0) {
      requests.invalid(`must be equal to ${name} limit of ${String(limit)}`, String(asked));
    } else if (quantityOrder(asked, limit) > 0) {
      requests.invalid(`must be less than or equal to ${name} limit of ${String(limit)}`, String(asked));
    }
    note(name);
  }
  if (hasPages && !hasBasic) field.forbidden("HugePages require cpu or memory");
}

function wholePages(entry: Field, name: string): void {
  if (!name.startsWith("hugepages-")) return;
  const [size, amount] = [parseQuantity(name.slice("hugepages-".length)), parseQuantity(String(entry.value))];
  if (size instanceof Error || amount instanceof Error || size.nanos <= 0n) return;
  if (amount.nanos < 0n || amount.nanos % size.nanos !== 0n)
    entry.invalid(`${String(entry.value)} is not positive integer multiple of ${name}`, String(entry.value));
}

function claims(list: Field, known: ReadonlySet<string>): void {
  const names = new Set<string>();
  for (const claim of list.items) {
    const [name, request] = [claim.at("name").text, claim.at("request")];
    if (name === "") claim.required();
    else if (names.has(name)) claim.duplicate(name);
    else {
      let key = name;
      if (request.text !== "") {
        request.matches(dnsLabel);
        key += `/${request.text}`;
      }
      if (names.has(key)) claim.duplicate(key);
      else if (request.text === "") {
        for (const each of names) if (each.startsWith(`${name}/`)) claim.duplicate(name);
      }
      names.add(key);
    }
    if (!known.has(name)) {
      const which = known.size === 0 ? " which is empty" : `: ${[...known].toSorted().join(", ")}`;
      claim.add("NotFound", `must be one of the names in pod.spec.resourceClaims${which}`, name);
    }
  }
}
