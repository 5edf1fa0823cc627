/** A certificate that the binary issues itself, shares with its other replicas, and replaces ahead of time. */
import type { Log } from "../../observe/log.ts";
import type { Clock } from "../../platform/clock.ts";
import { type TrustedSource, CurrentCertificate, type TrustedCertificate } from "./trusted-source.ts";
import type { CertificateStore, StoredVersion } from "./certificate-store.ts";
import {
  AUTHORITY_LIFETIME,
  BACKDATED,
  hostsOf,
  isUsable,
  missingHosts,
  type NextStep,
  nextStep,
  SERVER_LIFETIME,
  type StoredCertificates,
} from "./stored-certificates.ts";

export interface ManagedCertificatesOptions {
  readonly store: CertificateStore;
  /** The DNS names and addresses at which the API server reaches the listener. */
  readonly hosts: readonly string[];
  readonly clock: Clock;
  readonly log: Log;
  /** Whether every registration has this authority (PEM). @default nothing is registered */
  readonly inForce?: ((authority: string, signal: AbortSignal) => Promise<boolean>) | undefined;
}

/** The maximum number of milliseconds between two reads of the store, because its watch may be refused or dead. */
const LOOK_EVERY = 60_000;
/** Milliseconds before a failed read is repeated: at first, and at most. */
const FIRST_RETRY = 500;
const LAST_RETRY = 15_000;

/**
 * Maintains the stored certificate and provides it to the listener.
 *
 * **Guarantees.** A provided certificate is trusted by the authorities that are provided with it. A write only
 * replaces the version that was read, so one of several replicas issues the certificate and the others use it. When
 * the stored certificate is deleted, it stays in use until the API server trusts its successor.
 */
export class ManagedCertificates implements TrustedSource, AsyncDisposable {
  readonly #options: ManagedCertificatesOptions;
  readonly #current = new CurrentCertificate();
  readonly #stopping = new AbortController();
  readonly #running: Promise<unknown>;
  /** The certificate in use. */
  #known: StoredCertificates | undefined;
  #failure: string | undefined;
  #wake: () => void = () => {};
  /** Whether something may have changed since the last read began. */
  #stale = false;

  /** Begins at once, and retries while the store cannot be reached. */
  constructor(options: ManagedCertificatesOptions) {
    this.#options = options;
    const { signal } = this.#stopping;
    this.#running = Promise.all([this.#run(signal), options.store.watch(() => this.look(), signal)]);
    this.#running.catch(() => {}); // awaited at the end
  }

  current(): TrustedCertificate | undefined {
    return this.#current.current();
  }

  subscribe(listener: () => void): Disposable {
    return this.#current.subscribe(listener);
  }

  /** Why there is no certificate, or why it cannot be replaced; `undefined` while all is well. */
  get failure(): string | undefined {
    return this.#failure;
  }

  /** Reads the store now. */
  look(): void {
    this.#stale = true;
    this.#wake();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopping.abort(new Error("The webhook certificate is not needed any more"));
    this.#wake();
    await this.#running.catch(() => {});
  }

  async #run(signal: AbortSignal): Promise<void> {
    let retry = FIRST_RETRY;
    while (!signal.aborted) {
      this.#stale = false;
      let pause: number;
      try {
        pause = Math.min(await this.#settle(signal), LOOK_EVERY);
        this.#failure = undefined;
        retry = FIRST_RETRY;
      } catch (error) {
        if (signal.aborted) return;
        this.#failed(error);
        pause = retry;
        retry = Math.min(2 * retry, LAST_RETRY);
      }
      if (!this.#stale && !signal.aborted) await this.#woken(pause);
    }
  }

  #woken(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = this.#options.clock.setTimeout(resolve, ms);
      this.#wake = () => {
        timer[Symbol.dispose]();
        resolve();
      };
    });
  }

  /** Takes the next step. @returns for how many milliseconds there is nothing to do after it. */
  async #settle(signal: AbortSignal): Promise<number> {
    const { store, clock, hosts } = this.#options;
    for (;;) {
      signal.throwIfAborted();
      const found = await store.read(signal);
      this.#take(found.certificates);
      const [newest] = found.certificates?.authorities ?? [];
      const inForce = newest === undefined || (await this.#inForce(found.certificates!, signal));
      const step = nextStep(found.certificates, { now: clock.now(), hosts, inForce });
      if (step.kind === "wait") return step.ms;
      await this.#do(step, found, signal);
    }
  }

  /** Uses a certificate if it is valid; otherwise the previous one stays in use until it is replaced. */
  #take(stored: StoredCertificates | undefined): void {
    if (stored === undefined || !isUsable(stored, this.#options.clock.now())) return;
    this.#known = stored;
    const { cert, key, authorities } = stored;
    if (this.#current.set({ cert, key, authorities: authorities.join("") })) {
      this.#options.log.debug("The webhook listener has a certificate", { hosts: hostsOf(cert) });
    }
  }

  /** Asks whether the new authority is in force, which is necessary only while there are two. */
  async #inForce({ authorities }: StoredCertificates, signal: AbortSignal): Promise<boolean> {
    const [newest = "", ...others] = authorities;
    if (others.length === 0) return true;
    return (await this.#options.inForce?.(newest, signal)) ?? true;
  }

  async #do(step: Exclude<NextStep, { kind: "wait" }>, found: StoredVersion, signal: AbortSignal): Promise<void> {
    const { store, log } = this.#options;
    const next = await this.#next(step.kind, found.certificates);
    if (!(await store.write(next, found.version, signal))) return; // another replica was faster, and its version is read
    const what = {
      authority: "Webhook authority made",
      server: "Webhook certificate issued",
      forget: "Old webhook authority dropped",
    };
    log.info(what[step.kind], { in: store.name, because: step.why });
  }

  async #next(
    kind: "authority" | "server" | "forget",
    stored: StoredCertificates | undefined,
  ): Promise<StoredCertificates> {
    if (kind === "forget" && stored !== undefined) return { ...stored, authorities: stored.authorities.slice(0, 1) };
    const { createAuthority, issueServerCertificate } = await import("./issue.ts");
    const { clock, hosts } = this.#options;
    const lifetime = (ms: number) => ({ from: clock.now() - BACKDATED, until: clock.now() + ms });
    const issue = async (authority: { cert: string; key: string }, named: readonly string[]) => {
      const all = [...new Set([...hosts, ...named])];
      const issued = await issueServerCertificate(authority, { ...lifetime(SERVER_LIFETIME), hosts: all });
      const missing = missingHosts(issued.cert, hosts);
      // It would be replaced at once, by one that does not name it either, and so on.
      if (missing.length > 0)
        throw new Error(`A certificate cannot name ${missing.map((h) => JSON.stringify(h)).join(", ")}`);
      return issued;
    };
    if (kind === "server" && stored !== undefined) {
      const authority = { cert: stored.authorities[0]!, key: stored.authorityKey };
      // Replicas of another version may be reached by another name.
      return { ...stored, ...(await issue(authority, hostsOf(stored.cert))) };
    }
    const authority = await createAuthority(lifetime(AUTHORITY_LIFETIME));
    // The certificate in use stays until the API server trusts the new authority.
    const usable = [stored, this.#known].find((one) => one !== undefined && isUsable(one, clock.now()));
    if (usable === undefined) {
      return { authorities: [authority.cert], authorityKey: authority.key, ...(await issue(authority, [])) };
    }
    const { cert, key, authorities } = usable;
    return { authorities: [authority.cert, ...authorities], authorityKey: authority.key, cert, key };
  }

  #failed(error: unknown): void {
    const { store, log } = this.#options;
    const message = error instanceof Error ? error.message : String(error);
    if (this.#failure !== message)
      log.warn("Cannot keep the webhook certificate: trying again", { in: store.name, reason: message });
    this.#failure = message;
  }
}
