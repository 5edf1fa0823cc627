/** The conversions of built-in kinds that are served in more than one group or version. */
import type { Fields, KindRow, KubeObject } from "../hooks.ts";
import { autoscalers } from "./autoscaler-conversion.ts";
import type { Conversion } from "./conversion.ts";

/** Returns the group in which the objects of a row are stored, because events of both groups are the same objects. */
export function storageGroup(row: KindRow): string {
  return row.group === "events.k8s.io" && row.plural === "events" ? "" : row.group;
}

/** Returns the conversion of a row; `undefined` where its own form is stored. */
export function conversionOf(row: KindRow): Conversion | undefined {
  if (row.group === "events.k8s.io" && row.kind === "Event") return events;
  if (row.group === "autoscaling" && row.version === "v1" && row.kind === "HorizontalPodAutoscaler") return autoscalers;
  return undefined;
}

/** The two names of each field of an event. */
const eventFields: readonly (readonly [inCore: string, inEvents: string])[] = [
  ["involvedObject", "regarding"],
  ["message", "note"],
  ["reportingComponent", "reportingController"],
  ["firstTimestamp", "deprecatedFirstTimestamp"],
  ["lastTimestamp", "deprecatedLastTimestamp"],
  ["count", "deprecatedCount"],
  ["source", "deprecatedSource"],
];

const events: Conversion = {
  toStorage: (object) => renamed(object, { from: 1, to: 0, apiVersion: "v1" }),
  fromStorage: (object) => renamed(object, { from: 0, to: 1, apiVersion: "events.k8s.io/v1" }),
};

function renamed(
  object: KubeObject,
  { from, to, apiVersion }: { readonly from: 0 | 1; readonly to: 0 | 1; readonly apiVersion: string },
): KubeObject {
  const result: Fields = {};
  for (const [name, value] of Object.entries(object)) {
    const pair = eventFields.find((names) => names[from] === name);
    result[pair === undefined ? name : pair[to]] = value;
  }
  // An event of the core group always names a controller.
  if (to === 1)
    for (const name of ["reportingController", "reportingInstance"]) if (result[name] === "") delete result[name];
  return { ...result, kind: object.kind, apiVersion, metadata: object.metadata };
}
