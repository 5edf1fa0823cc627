/** A certificate that the binary issues itself, shares with its other replicas, and replaces ahead of time. */
import type { Certificate } from "binnacle-apiserver/certificates";
import type { Log } from "../../observe/log.ts";
import type { Clock } from "../../platform/clock.ts";
import { Passes } from "../passes.ts";
import { CurrentCertificate } from "./trusted-source.ts";
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

/**
 * Maintains the stored certificate and provides it to the listener.
 *
 * **Guarantees.** A provided certificate is trusted by the authorities that are provided with it. A write only
 * replaces the version that was read, so one of several replicas issues the certificate and the others use it. When
 * the stored certificate is deleted, it stays in use until the API server trusts its successor.
 */
export class ManagedCertificates extends CurrentCertificate implements AsyncDisposable {
  readonly #options: ManagedCertificatesOptions;
  readonly #stopping = new AbortController();
  readonly #passes: Passes;
  readonly #running: Promise<unknown>;
  /** The certificate in use. */
  #known: StoredCertificates | undefined;

  /** Begins at once, and retries while the store cannot be reached. */
  constructor(options: ManagedCertificatesOptions) {
    super();
    this.#options = options;
    const { store, clock, log } = options;
    const { signal } = this.#stopping;
    this.#passes = new Passes({
      clock,
      pass: async () => Math.min(await this.#settle(signal), LOOK_EVERY),
      onFailure: (reason, isRepeated) => {
        if (!isRepeated) log.warn("Cannot keep the webhook certificate: trying again", { in: store.name, reason });
      },
    });
    this.#running = Promise.all([this.#passes.run(signal), store.watch(() => this.look(), signal)]);
    this.#running.catch(() => {}); // awaited at the end
  }

  /** The reason why there is no certificate, or why it cannot be replaced; `undefined` while all is well. */
  get failure(): string | undefined {
    return this.#passes.failure;
  }

  /** Reads the store now. */
  look(): void {
    this.#passes.look();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopping.abort(new Error("The webhook certificate is not needed any more"));
    await this.#running.catch(() => {});
  }

  /** Takes the next step. @returns the milliseconds until the following one. */
  async #settle(signal: AbortSignal): Promise<number> {
    const { store, clock, hosts } = this.#options;
    for (;;) {
      signal.throwIfAborted();
      const stored = await store.read(signal);
      this.#take(stored.certificates);
      const [newest] = stored.certificates?.authorities ?? [];
      const inForce = newest === undefined || (await this.#inForce(stored.certificates!, signal));
      const step = nextStep(stored.certificates, { now: clock.now(), hosts, inForce });
      if (step.kind === "wait") return step.ms;
      await this.#do(step, stored, signal);
    }
  }

  /** Uses a certificate if it is valid; otherwise the previous one stays in use until it is replaced. */
  #take(stored: StoredCertificates | undefined): void {
    if (stored === undefined || !isUsable(stored, this.#options.clock.now())) return;
    this.#known = stored;
    const { cert, key, authorities } = stored;
    if (this.set({ cert, key, authorities: authorities.join("") })) {
      this.#options.log.debug("The webhook listener has a certificate", { hosts: hostsOf(cert) });
    }
  }

  /** Checks whether the new authority is in force, which is necessary only while there are two. */
  async #inForce({ authorities }: StoredCertificates, signal: AbortSignal): Promise<boolean> {
    const [newest = "", ...others] = authorities;
    if (others.length === 0) return true;
    return (await this.#options.inForce?.(newest, signal)) ?? true;
  }

  async #do(step: Exclude<NextStep, { kind: "wait" }>, stored: StoredVersion, signal: AbortSignal): Promise<void> {
    const { store, log } = this.#options;
    const next = await this.#next(step.kind, stored.certificates);
    if (!(await store.write(next, stored.version, signal))) return; // another replica was faster, and its version is read
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
    // Most processes read certificates that somebody else has issued, so the issuer is loaded here.
    const { createAuthority, issue } = await import("binnacle-apiserver/certificates");
    const { clock, hosts } = this.#options;
    const lifetime = (ms: number) => ({ from: clock.now() - BACKDATED, until: clock.now() + ms });
    const serverCertificate = (authority: Certificate, otherHosts: readonly string[]): Certificate => {
      const all = [...new Set([...hosts, ...otherHosts])];
      // A host that is too long for a common name is still an alternative name, and only alternative names count.
      const subject = { name: all.find((host) => host.length <= 64) ?? "webhook" };
      const issued = issue(authority, { ...lifetime(SERVER_LIFETIME), subject, hosts: all });
      const missing = missingHosts(issued.cert, hosts);
      // The next pass would replace a certificate that lacks a name by one that lacks it as well, and so on.
      if (missing.length > 0)
        throw new Error(`A certificate cannot name ${missing.map((h) => JSON.stringify(h)).join(", ")}`);
      return issued;
    };
    if (kind === "server" && stored !== undefined) {
      const authority = { cert: stored.authorities[0]!, key: stored.authorityKey };
      // Replicas of another version may have another name for themselves.
      return { ...stored, ...serverCertificate(authority, hostsOf(stored.cert)) };
    }
    // Each authority has a name of its own, because two of them are trusted side by side for a while.
    const name = `binnacle webhook authority ${crypto.randomUUID()}`;
    const authority = createAuthority(name, lifetime(AUTHORITY_LIFETIME));
    // The certificate in use stays until the API server trusts the new authority.
    const usable = [stored, this.#known].find((one) => one !== undefined && isUsable(one, clock.now()));
    if (usable === undefined) {
      return { authorities: [authority.cert], authorityKey: authority.key, ...serverCertificate(authority, []) };
    }
    const { cert, key, authorities } = usable;
    return { authorities: [authority.cert, ...authorities], authorityKey: authority.key, cert, key };
  }
}
