/** Registers the webhooks of a process's modules as they come and go. */
import { alwaysLeader, type Leadership } from "../client/leadership.ts";
import type { Transport } from "../kube/transport/transport.ts";
import type { Log } from "../observe/log.ts";
import type { Metrics } from "../observe/metrics.ts";
import { abortable } from "../platform/abortable.ts";
import { type Clock, sleep } from "../platform/clock.ts";
import { crdOf } from "../resource/crd.ts";
import type { HealthChecks, HealthReport } from "../server/health-checks.ts";
import type { TrustedSource } from "../webhook/certificates/trusted-source.ts";
import {
  clientConfigOf,
  type OwnLeases,
  registrationName,
  type WebhookTarget,
} from "../webhook/registration/configurations.ts";
import { ownerMark, removeLeftRegistrations } from "../webhook/registration/owner-mark.ts";
import { Registration } from "../webhook/registration/registration.ts";
import type { ServedWebhooks, WebhookHost } from "../webhook/webhook-host.ts";

/** How the API server reaches the listener, and whether that is registered. */
export interface RegistrationChoice {
  readonly reach:
    | { readonly service: { readonly namespace: string; readonly name: string; readonly port: number } }
    /** Without a port, that of the listener is used. */
    | {
        readonly host: string;
        readonly port?: number | undefined;
        /**
         * The name of the configurations that replicas share, in which the leader registers itself.
         *
         * @default none do
         */
        readonly shared?: string | undefined;
      };
  /**
   * `apply` writes and maintains the configurations; `inject` adds the authorities to those that somebody else has
   * applied; `definitions` only keeps the address of this process in the definitions that were installed with it;
   * `none` leaves everything to others.
   */
  readonly mode: "apply" | "inject" | "definitions" | "none";
  /** Overrides the failure policy of the webhooks. @default as declared */
  readonly failurePolicy?: "Ignore" | undefined;
  /** Namespaces of the listener, whose objects the webhooks never receive. */
  readonly ownNamespaces: readonly string[];
  /** The Leases of the process, which the webhooks never receive. @default none */
  readonly ownLeases?: OwnLeases | undefined;
  /** Milliseconds that API servers may take to learn that something is not registered any more. @default 250 */
  readonly learning?: number | undefined;
  /** The name of the configurations of a process outside the cluster. @default a new one for each process */
  readonly name?: string | undefined;
}

/** The address to which the API server sends requests, and the authorities that it trusts there. */
export type ClientConfig = ReturnType<typeof clientConfigOf>;

export interface RegistrarParts {
  readonly transport: Pick<Transport, "request" | "stream">;
  readonly host: WebhookHost;
  /** The address of the listener, once it listens. */
  readonly address: () => string | undefined;
  readonly certificates: TrustedSource;
  readonly leadership: () => Leadership;
  readonly isComplete: () => boolean;
  readonly metrics: Metrics;
  readonly readyz: HealthChecks;
  readonly clock: Clock;
  readonly log: Log;
}

/** Milliseconds that API servers may take to learn that something is not registered any more. */
const LEARNING = 250;
/** Milliseconds between two searches for registrations that killed processes have left behind. */
const CLEAN_UP_EVERY = 60_000;
const LEFT_OUT =
  "Webhooks are not asked about objects beside their own Service, so that it can be started again; only about kinds of the modules";
/** Milliseconds for which handlers wait until the leading replica has removed them from the registration. */
const WITHDRAW_WITHIN = 90_000;

export class WebhookRegistrar {
  readonly #choice: RegistrationChoice;
  readonly #parts: RegistrarParts;
  readonly #cleanup = new DisposableStack();
  readonly #stopping = new AbortController();
  readonly #repairs = new Map<string, number>();
  readonly #errors = new Map<string, number>();
  #registration: Registration | undefined;
  /** The last reported namespaces that webhooks leave out. */
  #leftOut = "";
  #loaded = false;

  constructor(choice: RegistrationChoice, parts: RegistrarParts) {
    this.#choice = choice;
    this.#parts = parts;
    if (choice.mode === "none") return;
    const { host, metrics } = parts;
    this.#cleanup.use(host.onChange(() => this.#update()));
    this.#cleanup.use(host.beforeLeaving((left) => this.#withdraw(left)));
    this.#count(metrics, {
      name: "binnacle_webhook_registration_repairs_total",
      help: "Number of registrations that somebody else had changed and that were put right, by kind",
      counts: this.#repairs,
    });
    this.#count(metrics, {
      name: "binnacle_webhook_registration_errors_total",
      help: "Number of failed attempts to register webhooks, by kind",
      counts: this.#errors,
    });
  }

  /** Returns the client configuration for a path, as soon as there is a certificate. @throws the signal's reason. */
  async clientOf(path: string, signal: AbortSignal): Promise<ClientConfig> {
    await this.#certificate(signal);
    const { certificates } = this.#parts;
    return clientConfigOf(path, { target: this.#target(), authorities: certificates.current()?.authorities });
  }

  /** Whether every registration on the server has this authority (PEM). */
  async trusts(authority: string, signal: AbortSignal): Promise<boolean> {
    // Until the modules are loaded, the webhooks to register for them are unknown, for any process.
    if (!this.#loaded) return false;
    return (await this.#registration?.trusts(authority, signal)) ?? true;
  }

  /** Removes what earlier processes left behind. Never rejects. */
  async begin(signal: AbortSignal): Promise<void> {
    if (this.#choice.mode === "apply" && !("service" in this.#choice.reach)) await this.#removeLeft(signal);
  }

  /** A killed process leaves a registration that refuses all writes, until a living process removes it. */
  async #removeLeftAgain(): Promise<void> {
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      await sleep(CLEAN_UP_EVERY, { clock: this.#parts.clock, signal }).catch(() => {}); // the signal ends the loop
      if (!signal.aborted) await this.#removeLeft(signal);
    }
  }

  async #removeLeft(signal: AbortSignal): Promise<void> {
    const { transport, clock, log } = this.#parts;
    try {
      await removeLeftRegistrations({ transport, clock, log, signal });
    } catch (error) {
      if (!signal.aborted) log.warn("Cannot find webhook registrations that were left behind", { error });
    }
  }

  loaded(): void {
    this.#loaded = true;
    this.#update();
  }

  /**
   * Resolves when the served webhooks are registered, or when the signal fires.
   *
   * @throws the signal's reason while there is no certificate.
   */
  async inForce(signal: AbortSignal): Promise<void> {
    if (this.#registration === undefined) return;
    await this.#certificate(signal);
    await this.#registration.inForce(signal);
  }

  /** Removes the registrations of this process alone. @param signal ends the wait. */
  async stop(signal: AbortSignal): Promise<void> {
    this.#stopping.abort(new Error("The process is stopping"));
    this.#cleanup.dispose();
    const registration = this.#registration;
    if (registration === undefined) return;
    await registration.end(signal);
    if (!("service" in this.#choice.reach)) await this.#learned(signal);
    await registration[Symbol.asyncDispose]();
  }

  #update(): void {
    const { mode, reach } = this.#choice;
    if (!this.#loaded || mode === "none" || this.#stopping.signal.aborted) return;
    const { webhooks: served, converted } = this.#parts.host.served;
    const webhooks = mode === "definitions" ? [] : served;
    if (this.#registration === undefined) {
      // A shared registration may have webhooks of removed modules; a registration of this process alone cannot.
      const mayHoldMore = mode === "apply" && ("service" in reach || reach.shared !== undefined);
      if (!mayHoldMore && webhooks.length + converted.length === 0) return;
      this.#registration = this.#begin();
    }
    const names = converted.map((resource) => crdOf(resource).metadata.name);
    this.#registration.set({ webhooks, converted: names, keepsOthers: !this.#parts.isComplete() });
    const namespaces = this.#registration.leftOut.join(", ");
    if (namespaces !== this.#leftOut && namespaces !== "") this.#parts.log.info(LEFT_OUT, { namespaces });
    this.#leftOut = namespaces;
  }

  #begin(): Registration {
    const { transport, clock, log, certificates, leadership, readyz } = this.#parts;
    const { reach, mode, failurePolicy, ownNamespaces, ownLeases } = this.#choice;
    const isService = "service" in reach;
    const shared = isService ? registrationName(reach.service) : reach.shared;
    const registration = new Registration({
      transport,
      // Nobody else registers what belongs to this process alone.
      leadership: shared === undefined ? alwaysLeader : leadership(),
      clock,
      log,
      name: shared ?? this.#choice.name ?? `binnacle-${crypto.randomUUID()}`,
      target: this.#target(),
      ownNamespaces,
      ownLeases,
      certificates,
      injectsOnly: mode === "inject",
      definitionsOnly: mode === "definitions",
      failurePolicy,
      owner: isService ? undefined : ownerMark(clock),
      onRepaired: (kind) => void this.#repairs.set(kind, (this.#repairs.get(kind) ?? 0) + 1),
      onFailed: (kind) => void this.#errors.set(kind, (this.#errors.get(kind) ?? 0) + 1),
    });
    if (!isService && mode === "apply") void this.#removeLeftAgain();
    this.#cleanup.use(readyz.note("webhook-registration", () => reportOf(registration)));
    return registration;
  }

  async #withdraw({ webhooks }: ServedWebhooks): Promise<void> {
    const stopping = this.#stopping.signal;
    if (this.#registration === undefined || stopping.aborted) return;
    const { clock, log } = this.#parts;
    const late = new AbortController();
    using _timer = clock.setTimeout(() => late.abort(new Error("it took too long")), WITHDRAW_WITHIN);
    const paths = webhooks.map(({ path }) => path);
    await this.#registration.withdraw(paths, AbortSignal.any([stopping, late.signal]));
    if (late.signal.aborted) log.warn("Webhooks that are no longer served are still registered", { paths });
    await this.#learned(stopping);
  }

  /** Resolves when API servers have noticed the removed registrations, or when the signal fires. */
  async #learned(signal: AbortSignal): Promise<void> {
    await sleep(this.#choice.learning ?? LEARNING, { clock: this.#parts.clock, signal }).catch(() => {});
  }

  /** Resolves as soon as there is a certificate. */
  async #certificate(signal: AbortSignal): Promise<void> {
    const { certificates } = this.#parts;
    const { promise, resolve } = Promise.withResolvers<void>();
    using _subscription = certificates.subscribe(() => certificates.current() !== undefined && resolve());
    if (certificates.current() === undefined) await abortable(promise, signal);
  }

  /** Returns the target. @throws Error while the port of the listener is unknown. */
  #target(): WebhookTarget {
    const { reach } = this.#choice;
    if ("service" in reach) return reach;
    const port = reach.port ?? /:(\d+)$/.exec(this.#parts.address() ?? "")?.[1];
    if (port === undefined) throw new Error("Cannot register webhooks: their listener has not started yet");
    return { url: `https://${reach.host}:${port}` };
  }

  #count(
    metrics: Metrics,
    { name, help, counts }: { name: string; help: string; counts: ReadonlyMap<string, number> },
  ) {
    const read = () => [...counts].map(([kind, value]) => ({ labels: { kind }, value }));
    this.#cleanup.use(metrics.add({ name, help, type: "counter", read }));
  }
}

function reportOf(registration: Registration): HealthReport | undefined {
  const { failures } = registration;
  if (failures.length > 0) return { cause: "it is tried again", text: failures.join("; ") };
  const cause = `${registration.size} registered`;
  const { leftOut } = registration;
  return { cause, text: leftOut.length === 0 ? cause : `${cause}, not for objects in ${leftOut.join(", ")}` };
}
