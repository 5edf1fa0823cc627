/** Events in both versions, and leases. */
import { type Family, pairs, type Probe } from "./family.ts";

const merge = { "content-type": "application/merge-patch+json" };
const dry = "?dryRun=All";

async function eventsAndLeases(probe: Probe): Promise<void> {
  await probe.createNamespace();
  const root = `/api/v1/namespaces/${probe.namespace}`;
  const about = { kind: "Pod", namespace: probe.namespace, name: "p" };
  const time = "2024-01-01T00:00:00.000000Z";
  const full = {
    reportingController: "a.b/c",
    reportingInstance: "x",
    action: "A",
    reason: "R",
    type: "Normal",
    eventTime: time,
  };
  const bodies: Readonly<Record<string, object>> = {
    nothing: {},
    about: { involvedObject: about, regarding: about },
    "another namespace": { involvedObject: { ...about, namespace: "x" }, regarding: { ...about, namespace: "x" } },
    "no namespace": { involvedObject: { kind: "Node", name: "n" }, regarding: { kind: "Node", name: "n" } },
    full: { involvedObject: about, regarding: about, ...full },
    "no action": { involvedObject: about, regarding: about, ...full, action: undefined },
    "no controller": { involvedObject: about, regarding: about, ...full, reportingController: undefined },
    "an odd controller": { involvedObject: about, regarding: about, ...full, reportingController: "A B" },
    "no reason": { involvedObject: about, regarding: about, ...full, reason: undefined },
    "a long reason": { involvedObject: about, regarding: about, ...full, reason: "x".repeat(129) },
    "a long note": {
      involvedObject: about,
      regarding: about,
      ...full,
      note: "x".repeat(1025),
      message: "x".repeat(1025),
    },
    "an odd type": { involvedObject: about, regarding: about, ...full, type: "Nope" },
    "no type": { involvedObject: about, regarding: about, ...full, type: undefined },
    series: { involvedObject: about, regarding: about, ...full, series: { count: 2, lastObservedTime: time } },
    "a series of one": {
      involvedObject: about,
      regarding: about,
      ...full,
      series: { count: 1, lastObservedTime: time },
    },
    "an empty series": { involvedObject: about, regarding: about, ...full, series: {} },
    "old fields": {
      involvedObject: about,
      regarding: about,
      ...full,
      source: { component: "x" },
      firstTimestamp: "2024-01-01T00:00:00Z",
      lastTimestamp: "2024-01-01T00:00:00Z",
      count: 3,
      deprecatedCount: 3,
      deprecatedSource: { component: "x" },
      deprecatedFirstTimestamp: "2024-01-01T00:00:00Z",
    },
    "a time of seconds": { involvedObject: about, regarding: about, ...full, eventTime: "2024-01-01T00:00:00Z" },
    "a bad time": { involvedObject: about, regarding: about, ...full, eventTime: "x" },
    related: { involvedObject: about, regarding: about, ...full, related: { kind: "Node" } },
  };
  for (const [version, [label, body]] of pairs(["v1", "events.k8s.io/v1"], Object.entries(bodies))) {
    const collection = version === "v1" ? `${root}/events` : `/apis/${version}/namespaces/${probe.namespace}/events`;
    const name = label.replaceAll(" ", "-");
    const event = { apiVersion: version, kind: "Event", metadata: { name: `${name}-${version.length}` }, ...body };
    await probe.send(`${version} event of ${label}`, "POST", collection, { body: event });
    await probe.send(
      `${version} event of ${label} read as the other`,
      "GET",
      `${version === "v1" ? `/apis/events.k8s.io/v1/namespaces/${probe.namespace}/events` : `${root}/events`}/${name}-${version.length}`,
    );
    for (const change of [
      { reason: "Other" },
      { series: { count: 5, lastObservedTime: time } },
      { note: "n", message: "n" },
      { action: "B" },
      { count: 9, deprecatedCount: 9 },
    ])
      await probe.send(
        `${version} event of ${label} with ${Object.keys(change)[0]}`,
        "PATCH",
        `${collection}/${name}-${version.length}${dry}`,
        { body: change, headers: merge },
      );
  }
  await probe.send("table of events", "GET", `${root}/events`, {
    headers: { accept: "application/json;as=Table;v=v1;g=meta.k8s.io" },
  });
  for (const field of [
    "reason=R",
    "type=Normal",
    "involvedObject.name=p",
    "regarding.name=p",
    "source=x",
    "reportingController=a.b/c",
    "reportingComponent=a.b/c",
    "metadata.name=full",
    "involvedObject.uid=",
    "nope=1",
  ])
    for (const collection of [`${root}/events`, `/apis/events.k8s.io/v1/namespaces/${probe.namespace}/events`])
      await probe.send(
        `${collection.length} events with ${field}`,
        "GET",
        `${collection}?fieldSelector=${encodeURIComponent(field)}`,
      );
  const leases = `/apis/coordination.k8s.io/v1/namespaces/${probe.namespace}/leases`;
  await probe.quietly("POST", leases, { metadata: { name: "l" }, spec: { holderIdentity: "a" } });
  for (const [label, spec] of Object.entries({
    nothing: {},
    null: null,
    "a duration of nothing": { leaseDurationSeconds: 0 },
    "a negative duration": { leaseDurationSeconds: -1 },
    "negative transitions": { leaseTransitions: -1 },
    "an empty holder": { holderIdentity: "" },
    "a time": { renewTime: time, acquireTime: "2024-01-01T00:00:00Z" },
    "a fine time": { renewTime: "2024-01-01T00:00:00.123456789Z" },
    "a time elsewhere": { renewTime: "2024-01-01T02:00:00.5+02:00" },
    "a bad time": { renewTime: "2024-01-01" },
    "a strategy": { strategy: "OldestEmulationVersion" },
    "an odd strategy": { strategy: "nope", preferredHolder: "b" },
    "a preferred holder": { preferredHolder: "b" },
  })) {
    await probe.send(`lease of ${label}`, "POST", `${leases}${dry}`, { body: { metadata: { name: "n" }, spec } });
    await probe.send(`lease changed to ${label}`, "PATCH", `${leases}/l${dry}`, { body: { spec }, headers: merge });
  }
}

export const eventsAndLeasesOfAll: Family = { name: "events and leases", run: eventsAndLeases };
