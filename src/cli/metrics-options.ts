/** Makes the certificate of the metrics listener from the settings. */
import { hostname } from "node:os";
import type { Log } from "../observe/log.ts";
import { systemClock } from "../platform/clock.ts";
import type { CertificateSource } from "../server/certificate-source.ts";
import { CertificateFiles } from "../webhook/certificates/certificate-files.ts";
import { MemoryStore } from "../webhook/certificates/certificate-store.ts";
import { ManagedCertificates } from "../webhook/certificates/managed-certificates.ts";
import type { RunSettings } from "../settings/run-options.ts";
import { messageOf } from "../platform/error-message.ts";
import { UsageError, UserError } from "./usage-error.ts";

/**
 * Returns the certificate of secured metrics; `undefined` when they are not secured. Without files, the certificate is
 * generated and self-signed, as kubebuilder's scrapers expect.
 *
 * @throws UsageError naming options that conflict, UserError when the files cannot be used.
 */
export function metricsCertificates(values: RunSettings, log: Log): (CertificateSource & AsyncDisposable) | undefined {
  const { "metrics-secure": secure, "metrics-cert-path": folder, "metrics-bind-address": address } = values;
  if (!secure) {
    if (folder === undefined) return undefined;
    throw new UsageError("--metrics-cert-path is given without --metrics-secure: add it, or leave both out");
  }
  if (address === values["health-probe-bind-address"] && address !== "0" && !address.endsWith(":0")) {
    throw new UsageError(
      `--metrics-bind-address and --health-probe-bind-address are both ${address}: with --metrics-secure give each an address of its own`,
    );
  }
  const clock = systemClock;
  if (folder === undefined) {
    const hosts = ["localhost", "127.0.0.1", hostname()];
    return new ManagedCertificates({ store: new MemoryStore(), hosts, clock, log });
  }
  try {
    return new CertificateFiles({ folder, clock, log });
  } catch (error) {
    const why = messageOf(error);
    throw new UserError(`${why} (--metrics-cert-path)`, { cause: error });
  }
}
