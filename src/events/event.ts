/** Events in the form that the API server accepts: names, limits and bodies. */
import type { AnyObject } from "../resource/handle.ts";

/** An occurrence, as `kubectl events` and `kubectl describe` show it. */
export interface EventInput {
  readonly type: "Normal" | "Warning";
  /** A short word in UpperCamelCase, cut to 128 bytes. */
  readonly reason: string;
  /** The action that the controller took or refused, cut to 128 bytes. @default the reason */
  readonly action?: string | undefined;
  /** A text for people, cut to 1024 bytes. */
  readonly message: string;
}

/** Who reports the Event. */
export interface Reporter {
  readonly controller: string;
  readonly instance: string;
}

/** One call of `record`. */
export interface Occurrence {
  readonly reporter: Reporter;
  readonly regarding: AnyObject;
  readonly event: EventInput;
}

/** The parts of an Event that do not change while it repeats. */
export interface EventIdentity {
  readonly key: string;
  readonly name: string;
  readonly namespace: string;
  readonly fields: object;
}

const MAX_NAME = 253;
const MAX_WORD = 128;
const MAX_NOTE = 1024;
const DNS_SUBDOMAIN = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;

export function reporterFor(controller: string, host: string): Reporter {
  return {
    controller: `binnacle.dev/${controller}`,
    instance: cut(`${controller}-${host}`, MAX_WORD),
  };
}

/** Identifies the reporter and the object, for which the rate is limited. */
export function objectKey({ reporter, regarding: { apiVersion, kind, metadata } }: Occurrence): string {
  return [reporter.controller, apiVersion, kind, metadata.namespace, metadata.name, metadata.uid].join("\0");
}

/**
 * Returns the same key for occurrences of the same Event.
 *
 * Unlike in client-go, two messages are two Events, so that one does not hide the other.
 */
export function eventKey(occurrence: Occurrence, ofObject: string): string {
  const { type, reason, action, message } = occurrence.event;
  return [ofObject, type, reason, action, message].join("\0");
}

/** Names a new Event and fills in its fields. */
export function identify({ reporter, regarding, event }: Occurrence, key: string): EventIdentity {
  const { apiVersion, kind, metadata } = regarding;
  const reason = cut(event.reason || "Unspecified", MAX_WORD);
  const action = cut(event.action || reason, MAX_WORD);
  const note = cut(event.message, MAX_NOTE);
  return {
    key,
    name: eventName(metadata.name),
    // The API server requires this namespace for Events of cluster-scoped objects.
    namespace: metadata.namespace || "default",
    fields: {
      type: event.type,
      reason,
      action,
      note,
      reportingController: reporter.controller,
      reportingInstance: reporter.instance,
      regarding: {
        apiVersion,
        kind,
        namespace: metadata.namespace,
        name: metadata.name,
        uid: metadata.uid,
        resourceVersion: metadata.resourceVersion,
      },
    },
  };
}

/** Makes the body of a POST. */
export function eventBody(identity: EventIdentity, span: { first: number; last: number; count: number }): object {
  return {
    apiVersion: "events.k8s.io/v1",
    kind: "Event",
    metadata: { name: identity.name, namespace: identity.namespace },
    eventTime: microTime(span.first),
    ...identity.fields,
    ...(span.count > 1 ? seriesBody(span) : undefined),
  };
}

/** Makes the body of a PATCH. */
export function seriesBody(span: { last: number; count: number }): object {
  return { series: { count: span.count, lastObservedTime: microTime(span.last) } };
}

/** Go parses a MicroTime only with exactly six digits. */
function microTime(time: number): string {
  return `${new Date(time).toISOString().slice(0, -1)}000Z`;
}

function eventName(objectName: string): string {
  const suffix = Buffer.from(crypto.getRandomValues(new Uint8Array(8))).toString("hex");
  const prefix = objectName.slice(0, MAX_NAME - suffix.length - 1).replace(/(?<![.-])[.-]+$/, "");
  // Names such as `system:node` are valid for some kinds, but not for Events.
  return DNS_SUBDOMAIN.test(prefix) ? `${prefix}.${suffix}` : `event.${suffix}`;
}

/** Cuts a text to this many bytes of UTF-8, without splitting a character. */
function cut(value: unknown, bytes: number): string {
  // Modules in plain JavaScript may pass anything, and recording never throws.
  const text = String(value);
  if (text.length * 3 <= bytes) return text;
  const encoded = Buffer.from(text);
  if (encoded.length <= bytes) return encoded.toString();
  let end = bytes;
  while ((encoded[end]! & 0xc0) === 0x80) end--;
  return encoded.toString("utf8", 0, end);
}
