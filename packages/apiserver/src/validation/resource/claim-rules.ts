/** Validates claims of devices. */
import { choosesDevices } from "../admissionregistration/expression.ts";
import { driverName } from "../core/volume-sources.ts";
import type { Field } from "../field.ts";
import { dnsLabel, dnsSubdomain, labelValue, qualifiedName } from "../formats.ts";
import { qualified } from "./slice-rules.ts";

const [mostRequests, mostChoices, mostReservations] = [32, 8, 256];
const oneOfBoth = "exactly one of `exactly` or `firstAvailable` is required";
const unknownRequest =
  "must be the name of a request in the claim or the name of a request and a subrequest separated by '/'";

/** Validates what a claim or a template asks for. */
export function deviceClaim(devices: Field): void {
  const [requests, constraints, configs] = [devices.at("requests"), devices.at("constraints"), devices.at("config")];
  unique(requests, { most: mostRequests, key: nameOf, check: deviceRequest });
  const known = requestNames(requests);
  const refer = (list: Field): void =>
    unique(list, { most: mostRequests, key: ({ text }) => text, check: (name) => reference(name, known) });
  if (constraints.items.length > mostRequests) constraints.tooMany(mostRequests);
  else for (const one of constraints.items) constraint(one, refer);
  if (configs.items.length > mostRequests) return configs.tooMany(mostRequests);
  for (const one of configs.items) {
    refer(one.at("requests"));
    configuration(one);
  }
}

interface UniqueItems {
  readonly most: number;
  readonly key: (item: Field) => string;
  readonly check: (item: Field) => void;
}

/** Validates the items of a list of which no two may have the same key. */
function unique(list: Field, { most, key, check }: UniqueItems): void {
  if (list.items.length > most) return list.tooMany(most);
  for (const item of list.items) check(item);
  const seen = new Set<string>();
  for (const item of list.items) {
    if (seen.has(key(item))) item.duplicate(key(item));
    seen.add(key(item));
  }
}

function nameOf(field: Field): string {
  return field.at("name").text;
}

/** Returns the names by which constraints and configurations refer to requests. */
function requestNames(requests: Field): ReadonlySet<string> {
  return new Set(
    requests.items.flatMap((request) => [
      nameOf(request),
      ...request.at("firstAvailable").items.map((choice) => `${nameOf(request)}/${nameOf(choice)}`),
    ]),
  );
}

function deviceRequest(request: Field): void {
  request.at("name").matches(dnsLabel);
  const [exactly, first] = [request.at("exactly"), request.at("firstAvailable")];
  if (!exactly.present && first.empty) return request.required(oneOfBoth);
  if (exactly.present && !first.empty) return request.invalid(`${oneOfBoth}, but multiple fields are set`, null);
  if (exactly.present) return wantedDevice(exactly);
  return unique(first, {
    most: mostChoices,
    key: nameOf,
    check: (choice) => {
      choice.at("name").matches(dnsLabel);
      wantedDevice(choice);
    },
  });
}

function wantedDevice(wanted: Field): void {
  const [deviceClass, selectors] = [wanted.at("deviceClassName"), wanted.at("selectors")];
  if (deviceClass.require()) deviceClass.matches(dnsSubdomain);
  if (selectors.items.length > mostRequests) selectors.tooMany(mostRequests);
  else for (const one of selectors.items) selector(one);
  const [mode, count] = [wanted.at("allocationMode"), wanted.at("count")];
  if (mode.text === "All") {
    if (count.number !== 0) count.invalid("must not be specified when allocationMode is 'All'");
  } else if (mode.text === "ExactCount") {
    if (count.number <= 0) count.invalid("must be greater than zero", count.number);
  } else mode.oneOf(["All", "ExactCount"]);
  for (const one of wanted.at("tolerations").items) toleration(one);
}

export function selector(field: Field): void {
  if (!field.at("cel").present) field.at("cel").required();
  else choosesDevices(field.at("cel").at("expression"));
}

function toleration(field: Field): void {
  const [key, operator, value, effect] = [field.at("key"), field.at("operator"), field.at("value"), field.at("effect")];
  if (key.text !== "") key.matches(qualifiedName);
  if (operator.text === "Exists") {
    if (value.text !== "") value.invalid("must be empty for operator `Exists`");
  } else if (operator.text === "Equal") value.matches(labelValue);
  else operator.requireOneOf(["Equal", "Exists"]);
  if (effect.text !== "") effect.oneOf(["NoExecute", "NoSchedule", "None"]);
}

function constraint(field: Field, refer: (list: Field) => void): void {
  refer(field.at("requests"));
  const [match, distinct] = [field.at("matchAttribute"), field.at("distinctAttribute")];
  if (match.present) fullName(match);
  else if (distinct.present) fullName(distinct);
  else
    field.required('exactly one of "matchAttribute" or "distinctAttribute" is required, but multiple fields are set');
}

function fullName(name: Field): void {
  qualified(name);
  if (!name.text.includes("/"))
    name.invalid("a fully qualified name must be a domain and a name separated by a slash", name.text);
}

function reference(name: Field, known: ReadonlySet<string>): void {
  const parts = name.text.split("/");
  if (parts.length > 2) return name.invalid(unknownRequest, name.text);
  for (const part of parts) name.with(part).matches(dnsLabel);
  if (!known.has(name.text)) name.invalid(unknownRequest, name.text);
  return undefined;
}

/** Validates the parameters of a driver. */
export function configuration(field: Field): void {
  const own = field.at("opaque");
  if (!own.present) return own.required();
  driverName(own.at("driver"));
  const parameters = own.at("parameters");
  if (!parameters.present) parameters.required();
  else if (typeof parameters.value !== "object" || Array.isArray(parameters.value))
    parameters.invalid("must be a valid JSON object", "<value omitted>");
}

/** Validates who uses a claim. */
export function reservations(list: Field): void {
  unique(list, {
    most: mostReservations,
    key: (user) => user.at("uid").text,
    check: (user) => {
      for (const name of ["resource", "name", "uid"]) user.at(name).require();
    },
  });
}
