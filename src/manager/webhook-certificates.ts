/** Opens the certificate of the webhooks when the first module needs it. */
import type { Transport } from "../kube/transport/transport.ts";
import type { Log } from "../observe/log.ts";
import type { Metrics } from "../observe/metrics.ts";
import type { Clock } from "../platform/clock.ts";
import type { CertificateSource } from "../server/certificate-source.ts";
import type { HealthChecks, HealthReport } from "../server/health-checks.ts";
import { CertificateFiles } from "../webhook/certificates/certificate-files.ts";
import { certificateMetrics, expiries, type FileReads } from "../webhook/certificates/certificate-metrics.ts";
import { MemoryStore } from "../webhook/certificates/certificate-store.ts";
import { ManagedCertificates } from "../webhook/certificates/managed-certificates.ts";
import { type SecretName, SecretStore } from "../webhook/certificates/secret-store.ts";
import { CurrentCertificate, type TrustedSource } from "../webhook/certificates/trusted-source.ts";

/** The source of the certificate. */
export type CertificateChoice =
  /** Files that somebody else maintains. */
  | { readonly kind: "files"; readonly folder: string }
  /** A self-managed certificate that replicas share. */
  | { readonly kind: "secret"; readonly secret: SecretName; readonly hosts: readonly string[] }
  /** A self-managed certificate of this process alone. */
  | { readonly kind: "memory"; readonly hosts: readonly string[] }
  /** A certificate that somebody else sets. */
  | { readonly kind: "current"; readonly current: CurrentCertificate };

export interface CertificateParts {
  readonly transport: Pick<Transport, "request" | "stream">;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly readyz: HealthChecks;
  /** Whether every registration has this authority (PEM). */
  readonly inForce: (authority: string, signal: AbortSignal) => Promise<boolean>;
}

/** A source that issues or reads its certificate itself. */
type OpenSource = TrustedSource & Partial<AsyncDisposable> & { readonly failure?: string | undefined };

/** Provides the certificate, which exists only after it is opened. */
export class WebhookCertificates implements TrustedSource, AsyncDisposable {
  readonly #choice: CertificateChoice;
  readonly #parts: CertificateParts;
  readonly #current = new CurrentCertificate();
  readonly #cleanup = new DisposableStack();
  #source: OpenSource | undefined;

  constructor(choice: CertificateChoice, parts: CertificateParts) {
    this.#choice = choice;
    this.#parts = parts;
  }

  /** The certificates for the listener, whose subscription opens the source. */
  get opening(): CertificateSource {
    return {
      current: () => this.current(),
      subscribe: (listener) => {
        this.#open();
        return this.subscribe(listener);
      },
    };
  }

  current(): ReturnType<TrustedSource["current"]> {
    return this.#current.current();
  }

  subscribe(listener: () => void): Disposable {
    return this.#current.subscribe(listener);
  }

  /** Until when the certificate and its authority are valid, in milliseconds since the epoch; empty before it is opened. */
  get expiries(): ReturnType<typeof expiries> {
    return expiries(this);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#cleanup.dispose();
    await this.#source?.[Symbol.asyncDispose]?.();
  }

  /** Opens the source. @throws Error when files are missing or invalid. */
  #open(): void {
    if (this.#source !== undefined) return;
    const { metrics, readyz } = this.#parts;
    const reads: FileReads = { total: 0, errors: 0 };
    const source = this.#make(reads);
    this.#source = source;
    const take = (): void => {
      const current = source.current();
      if (current !== undefined) this.#current.set(current);
    };
    this.#cleanup.use(source.subscribe(take));
    take();
    this.#cleanup.use(certificateMetrics(this, reads, metrics));
    this.#cleanup.use(readyz.note("webhook-certificate", () => this.#report(source)));
  }

  #make(reads: FileReads): OpenSource {
    const { transport, clock, log, inForce } = this.#parts;
    const choice = this.#choice;
    if (choice.kind === "current") return choice.current;
    if (choice.kind === "files") {
      const onRead = (isGood: boolean): void => {
        reads.total++;
        if (!isGood) reads.errors++;
      };
      return new CertificateFiles({ folder: choice.folder, clock, log, onRead });
    }
    const { hosts } = choice;
    const store =
      choice.kind === "memory" ? new MemoryStore() : new SecretStore({ transport, secret: choice.secret, clock, log });
    return new ManagedCertificates({ store, hosts, clock, log, inForce });
  }

  #report(source: OpenSource): HealthReport {
    const dates = expiries(this).map(([what, until]) => `${what} expires ${new Date(until).toISOString()}`);
    const text = dates.length === 0 ? "there is none yet" : dates.join(", ");
    if (source.failure === undefined) return { cause: text, text: text };
    return { cause: `${text}; it cannot be replaced`, text: `${text}; ${source.failure}` };
  }
}
