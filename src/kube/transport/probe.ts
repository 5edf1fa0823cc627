/** Probes whether a server is alive, on a connection of its own. */
import type { Clock } from "../../platform/clock.ts";
import type { ClusterConfig } from "../config/cluster-config.ts";
import { UnreachableError } from "../errors/api-error.ts";
import { isTlsFailure, unreachable } from "../errors/connection-failure.ts";
import type { FetchCarrier } from "./fetch-carrier.ts";
import type { CredentialReloader } from "../config/credential-reloader.ts";
import type { RequestHeaders } from "./request-headers.ts";

const PROBE = { method: "GET", path: "/readyz" } as const;
const PROBE_MS = 3_000;
/** A refusal also shows that the server is alive, and so does a server that does not know the path. */
const ALIVE = new Set([401, 403, 404]);

export interface ProbeOptions {
  readonly config: ClusterConfig;
  readonly clock: Clock;
  readonly carrier: FetchCarrier;
  readonly headers: RequestHeaders;
  readonly reload: CredentialReloader;
  readonly signal: AbortSignal;
}

/** Probes a server. @throws UnreachableError when it does not answer within 3 s, or answers that it is not ready. */
export async function probeServer(options: ProbeOptions): Promise<void> {
  const { config, clock, carrier, headers, reload, signal } = options;
  const controller = new AbortController();
  const onAbort = () => controller.abort(signal.reason);
  signal.addEventListener("abort", onAbort, { once: true });
  const failure = (code: string, message: string) => new UnreachableError(config.server, { code, message });
  const late = failure("ETIMEDOUT", `no answer to GET ${PROBE.path} within ${PROBE_MS / 1_000} s`);
  const timer = clock.setTimeout(() => controller.abort(late), PROBE_MS);
  const { generation } = reload;
  try {
    const request = { ...PROBE, headers: headers.of({}, await config.headers()), signal: controller.signal };
    const response = await carrier.sendAlone(request);
    await response.body?.cancel().catch(() => {});
    const { ok, status } = response;
    if (!ok && !ALIVE.has(status)) throw failure("EHTTP", `GET ${PROBE.path} is answered with HTTP ${status}`);
  } catch (error) {
    signal.throwIfAborted();
    const reason = controller.signal.aborted ? late : unreachable(config.server, error);
    // The authority of the server may have been replaced.
    if (isTlsFailure(reason)) await reload.reload(generation);
    throw reason;
  } finally {
    timer[Symbol.dispose]();
    signal.removeEventListener("abort", onAbort);
  }
}
