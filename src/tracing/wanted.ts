/** Whether the environment asks for traces, and in which form. */

type Environment = Readonly<Record<string, string | undefined>>;

/** The variables that name a collector. */
const ENDPOINTS = ["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT"];
const PROTOCOLS = ["OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL"];

/** Whether a collector is named and traces are not switched off; nothing of tracing is loaded otherwise. */
export function wantsTraces(env: Environment): boolean {
  if (env["OTEL_SDK_DISABLED"]?.toLowerCase() === "true" || env["OTEL_TRACES_EXPORTER"] === "none") return false;
  return ENDPOINTS.some((name) => (env[name] ?? "") !== "");
}

/** The form of the spans that are sent, and a message if the environment asks for another one. */
export function protocolOf(env: Environment): { readonly isJson: boolean; readonly problem?: string } {
  const name = PROTOCOLS.find((one) => (env[one] ?? "") !== "");
  const protocol = name === undefined ? "http/protobuf" : env[name]!;
  if (protocol === "http/json" || protocol === "http/protobuf") return { isJson: protocol === "http/json" };
  const problem = `${name} is '${protocol}', which binnacle does not speak: spans are sent by http/protobuf, usually to port 4318`;
  return { isJson: false, problem };
}
