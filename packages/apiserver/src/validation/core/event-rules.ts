/** Validates events: the older rules apply to all of them, the newer rules to events of the newer group. */
import type { Fields } from "../../hooks.ts";
import type { Field } from "../field.ts";
import { dnsSubdomain, pathSegment, qualifiedName } from "../formats.ts";
import { isSameStored } from "../stored-values.ts";
import type { RuleContext, Rules } from "../rules.ts";

/** The two groups' names of the same fields. */
interface Names {
  readonly subject: string;
  readonly message: string;
  readonly reporter: string;
  readonly instance: string;
}

const coreNames: Names = {
  subject: "involvedObject",
  message: "message",
  reporter: "reportingComponent",
  instance: "reportingInstance",
};
const newNames: Names = {
  subject: "regarding",
  message: "note",
  reporter: "reportingController",
  instance: "reportingInstance",
};

function older(object: Field, names: Names): void {
  const subject = object.at("involvedObject").with(object.fields[names.subject]);
  const namespace = subject.at("namespace");
  const own = object.at("metadata").at("namespace").text;
  const differs = (): void => namespace.invalid("does not match event.namespace", namespace.text);
  if (!object.at("eventTime").present) {
    if (namespace.text === "" ? own !== "default" : namespace.text !== own) differs();
  } else {
    if (namespace.text === "" && own !== "default" && own !== "kube-system") differs();
    const reporter = object.at(names.reporter);
    reporter.require();
    reporter.matches(qualifiedName);
    for (const name of [names.instance, "action", "reason"]) {
      object.at(name).require();
      if (object.at(name).text.length > 128) object.at(name).invalid("can have at most 128 characters", "");
    }
    if (Buffer.byteLength(object.at(names.message).text) > 1024)
      object.at("message").invalid("can have at most 1024 characters", "");
  }
  for (const detail of dnsSubdomain(own)) object.at("namespace").with(own).invalid(detail);
}

function series(object: Field): void {
  const field = object.at("series");
  if (!field.present) return;
  if (field.at("count").number < 2) field.at("count").invalid("should be at least 2", "");
  if (!field.at("lastObservedTime").present) field.at("lastObservedTime").required();
}

function newer(object: Field): void {
  series(object);
  if (!object.at("eventTime").present) object.at("eventTime").required();
  const type = object.at("type");
  if (type.text !== "Normal" && type.text !== "Warning") type.invalid(`has invalid value: ${type.text}`, "");
  const unset = (name: string, path: string): void => {
    if (!object.at(name).empty) object.at(path).invalid("needs to be unset", "");
  };
  unset("deprecatedFirstTimestamp", "firstTimestamp");
  unset("deprecatedLastTimestamp", "lastTimestamp");
  unset("deprecatedCount", "count");
  const source = object.at("deprecatedSource");
  if (source.at("component").text !== "" || source.at("host").text !== "")
    object.at("source").invalid("needs to be unset", "");
}

/** The fields in the server's order, and their internal names. */
const immutableFields = [
  ["regarding", "involvedObject"],
  ["reason", "reason"],
  ["note", "message"],
  ["deprecatedSource", "source"],
  ["deprecatedFirstTimestamp", "firstTimestamp"],
  ["deprecatedLastTimestamp", "lastTimestamp"],
  ["deprecatedCount", "count"],
  ["reason", "reason"],
  ["type", "type"],
  ["eventTime", "eventTime"],
  ["action", "action"],
  ["related", "related"],
  ["reportingController", "reportingController"],
  ["reportingInstance", "reportingInstance"],
] as const;
const texts = new Set(["reason", "note", "type", "action", "reportingController", "reportingInstance"]);

function frozen(object: Field, old: Fields, { write: { row } }: RuleContext): void {
  older(object, newNames);
  if (!isSameStored({ row, path: "series" }, object.fields["series"], old["series"])) series(object);
  for (const [name, shown] of immutableFields) {
    const [now, before] = [object.fields[name], old[name]];
    const empty = texts.has(name) ? "" : undefined;
    if (isSameStored({ row, path: name }, now ?? empty, before ?? empty)) continue;
    const field = object.at(shown).with(now);
    field.add("Invalid", "field is immutable", now ?? empty ?? (name === "deprecatedCount" ? 0 : null));
  }
}

export const eventKinds: Readonly<Record<"core" | "events", Rules>> = {
  core: { name: pathSegment, metadata: "alone", check: (object) => older(object, coreNames) },
  events: {
    metadata: "last",
    checkNewOnly: true,
    check: (object) => {
      older(object, newNames);
    },
    checkLast: newer,
    update: frozen,
  },
};
