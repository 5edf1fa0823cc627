/** Metrics of the webhooks' certificate: its expiry, and the number of reads of its files. */
import type { Metrics } from "../../observe/metrics.ts";
import type { TrustedSource } from "./trusted-source.ts";
import { certificatesOf, expiryOf } from "./stored-certificates.ts";

/** The counters of controller-runtime's certwatcher. */
export interface FileReads {
  total: number;
  errors: number;
}

/** Adds the metrics until the returned value is disposed of. */
export function certificateMetrics(source: TrustedSource, reads: FileReads, metrics: Metrics): Disposable {
  const added = new DisposableStack();
  added.use(
    metrics.add({
      name: "certwatcher_read_certificate_total",
      help: "Total number of certificate reads",
      type: "counter",
      read: () => reads.total,
    }),
  );
  added.use(
    metrics.add({
      name: "certwatcher_read_certificate_errors_total",
      help: "Total number of certificate read errors",
      type: "counter",
      read: () => reads.errors,
    }),
  );
  added.use(
    metrics.add({
      name: "binnacle_webhook_certificate_expiry_timestamp_seconds",
      help: "When the certificate of the webhooks, and the authority that signed it, expire",
      read: () =>
        expiries(source).map(([certificate, until]) => ({ labels: { certificate }, value: Math.floor(until / 1_000) })),
    }),
  );
  return added;
}

/**
 * Returns the times at which the certificate and the last of its authorities expire, in milliseconds since the epoch.
 */
export function expiries(source: TrustedSource): readonly (readonly ["serving" | "authority", number])[] {
  const current = source.current();
  if (current === undefined) return [];
  const serving = expiryOf(current.cert);
  const [newest] = certificatesOf(current.authorities ?? "");
  const authority = newest === undefined ? undefined : expiryOf(newest);
  return [
    ...(serving === undefined ? [] : [["serving", serving] as const]),
    ...(authority === undefined ? [] : [["authority", authority] as const]),
  ];
}
