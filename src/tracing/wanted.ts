/** Whether the environment asks for traces. */

type Environment = Readonly<Record<string, string | undefined>>;

/** The variables that name a collector. */
const ENDPOINTS = ["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT"];

/** Whether a collector is named and traces are not switched off; nothing of tracing is loaded otherwise. */
export function wantsTraces(env: Environment): boolean {
  if (env["OTEL_SDK_DISABLED"]?.toLowerCase() === "true" || env["OTEL_TRACES_EXPORTER"] === "none") return false;
  return ENDPOINTS.some((name) => (env[name] ?? "") !== "");
}

/** Explains a protocol that cannot be used; `undefined` when it can. */
export function unusableProtocol(env: Environment): string | undefined {
  const protocol = env["OTEL_EXPORTER_OTLP_TRACES_PROTOCOL"] ?? env["OTEL_EXPORTER_OTLP_PROTOCOL"];
  if (protocol !== "grpc") return undefined;
  return "OTEL_EXPORTER_OTLP_PROTOCOL is 'grpc', which binnacle does not speak: spans are sent as JSON over HTTP, usually to port 4318";
}
