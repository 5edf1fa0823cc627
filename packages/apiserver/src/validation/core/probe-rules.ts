/** Validates probes and lifecycle hooks of containers. */
import type { Field } from "../field.ts";
import { httpHeaderName, portName } from "../formats.ts";

const counts = ["initialDelaySeconds", "timeoutSeconds", "periodSeconds", "successThreshold", "failureThreshold"];

export function probes(container: Field, gracePeriod: number | undefined): void {
  for (const name of ["livenessProbe", "readinessProbe", "startupProbe"]) {
    const probe = container.at(name);
    if (!probe.present) continue;
    handler(probe, { kinds: ["exec", "httpGet", "tcpSocket", "grpc"], gracePeriod });
    for (const part of counts) probe.at(part).nonNegative();
    const grace = probe.at("terminationGracePeriodSeconds");
    if (grace.present && grace.number <= 0) grace.invalid("must be greater than 0", grace.value);
    if (name === "readinessProbe") {
      if (grace.present) grace.invalid("must not be set for readinessProbes", grace.value);
    } else if (probe.at("successThreshold").number !== 1)
      probe.at("successThreshold").invalid("must be 1", probe.at("successThreshold").number);
  }
}

export function lifecycle(field: Field, gracePeriod: number | undefined): void {
  for (const hook of ["postStart", "preStop"]) {
    if (field.at(hook).present)
      handler(field.at(hook), { kinds: ["exec", "httpGet", "tcpSocket", "sleep"], gracePeriod });
  }
}

interface HandlerOptions {
  readonly kinds: readonly string[];
  /** The grace period in seconds. */
  readonly gracePeriod: number | undefined;
}

function handler(field: Field, { kinds, gracePeriod }: HandlerOptions): void {
  const handlers = kinds.filter((kind) => field.at(kind).present);
  if (handlers.length === 0) return field.required("must specify a handler type");
  const first = field.at(handlers[0] ?? "");
  switch (handlers[0]) {
    case "exec":
      first.at("command").require();
      break;
    case "httpGet":
      first.at("path").require();
      port(first.at("port"));
      if (!["HTTP", "HTTPS"].includes(first.at("scheme").text)) first.at("scheme").oneOf(["HTTP", "HTTPS"]);
      for (const header of first.at("httpHeaders").items) {
        first.at("httpHeaders").with(header.at("name").text).matches(httpHeaderName);
      }
      break;
    case "tcpSocket":
      port(first.at("port"));
      break;
    case "grpc":
      first.at("port").inRange(1, 65535);
      break;
    default: {
      const seconds = first.at("seconds").number;
      if (gracePeriod !== undefined && (seconds < 0 || seconds > gracePeriod))
        first.invalid(`must be non-negative and less than terminationGracePeriodSeconds (${gracePeriod})`, seconds);
    }
  }
  for (const kind of handlers.slice(1)) field.at(kind).forbidden("may not specify more than 1 handler type");
}

/** Validates a port's number or name. */
export function port(field: Field): void {
  if (typeof field.value === "string") field.matches(portName);
  else field.inRange(1, 65535);
}
