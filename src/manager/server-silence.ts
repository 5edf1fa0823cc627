/** Says in `/readyz` and in the metrics that the API server does not answer. */
import { messageOf } from "../platform/error-message.ts";
import type { HealthReport } from "../server/health-checks.ts";
import type { Process } from "./process.ts";

/**
 * Milliseconds of silence after which the process is not ready. Kubernetes itself takes the pods of a silent node out of
 * service after 50 s (`--node-monitor-grace-period`). A shorter time would turn each restart of a cluster's only API
 * server, which takes up to a minute, into webhooks that are missing just when that server has come back.
 */
const LONGEST_SILENCE = 60_000;

/**
 * Adds the check `api-server` to `/readyz`, and the metric of the silence. Liveness does not depend on the server,
 * because a restart of this process would not bring it back.
 */
export function watchServer(process: Pick<Process, "connection" | "connectionClock" | "health" | "metrics">): void {
  const { connection, connectionClock: clock, health, metrics } = process;
  const { reachability } = connection;
  const silence = (): number => {
    reachability.verify();
    const { outage } = reachability;
    return outage === undefined ? 0 : clock.now() - outage.since;
  };
  metrics.add({
    name: "binnacle_api_server_silent_seconds",
    help: "Seconds since the API server stopped answering; 0 while it answers",
    read: () => silence() / 1_000,
  });
  health.readyz.add("api-server", (): HealthReport | undefined => {
    const ms = silence();
    if (ms <= LONGEST_SILENCE) return undefined;
    const cause = "the API server does not answer";
    const since = new Date(clock.now() - ms).toISOString().replace(/\.\d+/, "");
    const text = `${cause} since ${since} (${Math.floor(ms / 1_000)} s): ${messageOf(reachability.outage?.error)}`;
    return { cause, text };
  });
}
