/** The webhooks of a process: their listener, its certificate, and their registration with the API server. */
import { alwaysLeader } from "../client/leadership.ts";
import { CONVERSION_PATH } from "../webhook/conversion/conversion-endpoint.ts";
import type { WebhookHost } from "../webhook/webhook-host.ts";
import type { WebhookClientConfig } from "../resource/crd-conversion.ts";
import type { Process } from "./process.ts";
import { sleep } from "../platform/clock.ts";
import { type CertificateChoice, WebhookCertificates } from "./webhook-certificates.ts";
import { type RegistrationChoice, WebhookRegistrar } from "./webhook-registrar.ts";
import { WebhookServing, type WebhookServingOptions, type WebhookServingParts } from "./webhook-serving.ts";

export interface WebhooksOptions extends Omit<WebhookServingOptions, "certificates"> {
  /** The source of the certificate. */
  readonly certificates: CertificateChoice;
  /** The way in which the API server reaches the listener. @default none: nothing is registered */
  readonly registration?: RegistrationChoice | undefined;
}

export interface WebhooksParts extends WebhookServingParts {
  /** Whether every module runs, so that a registered webhook that none of them serves is obsolete. */
  readonly isComplete: () => boolean;
}

/** Milliseconds for removing, at the end, the registration of this process alone. */
const LEAVE_WITHIN = 5_000;

/** Returns how the API server reaches the conversion webhook. @throws the signal's reason. */
export type ConversionClient = (to: {
  readonly module: string;
  readonly signal: AbortSignal;
}) => Promise<WebhookClientConfig>;

export class Webhooks {
  readonly #serving: WebhookServing;
  readonly #registrar: WebhookRegistrar | undefined;
  readonly #certificates: WebhookCertificates | undefined;
  readonly #process: Process;

  /** Creates the webhooks. @param options `undefined` means that webhooks are not served. */
  constructor(process: Process, options: WebhooksOptions | undefined, parts: WebhooksParts) {
    this.#process = process;
    const { installer: transport, connectionClock: clock, health, metrics, log, elections, sharding } = process;
    const around = { transport, metrics, clock, readyz: health.readyz, log };
    const inForce = async (authority: string, signal: AbortSignal): Promise<boolean> =>
      (await this.#registrar?.trusts(authority, signal)) ?? true;
    const certificates = options && new WebhookCertificates(options.certificates, { ...around, inForce });
    this.#certificates = certificates;
    const listening = certificates && {
      ...options,
      certificates: certificates.opening,
      failurePolicy: options?.registration?.failurePolicy,
    };
    this.#serving = new WebhookServing(process, listening, parts);
    if (certificates !== undefined && options?.registration !== undefined) {
      this.#registrar = new WebhookRegistrar(options.registration, {
        ...around,
        host: this.#serving.host,
        address: () => this.#serving.address,
        certificates,
        leadership: () => elections?.ofProcess() ?? sharding?.ofProcess() ?? alwaysLeader,
        isComplete: parts.isComplete,
      });
    }
  }

  get host(): WebhookHost {
    return this.#serving.host;
  }

  /** The listening address, such as `127.0.0.1:9443`; `undefined` while no webhooks are served. */
  get address(): string | undefined {
    return this.#serving.address;
  }

  /** Until when the certificates are valid. */
  get expiries(): WebhookCertificates["expiries"] {
    return this.#certificates?.expiries ?? [];
  }

  /**
   * How the API server reaches the conversion webhook, which begins to listen for a module; `undefined` when it cannot.
   */
  get conversionClient(): ConversionClient | undefined {
    const registrar = this.#registrar;
    if (registrar === undefined) return undefined;
    return ({ module, signal }) => {
      this.#serving.listen(module);
      return registrar.clientOf(CONVERSION_PATH, signal);
    };
  }

  /** Removes registrations that earlier processes left behind. Never rejects. */
  async begin(signal: AbortSignal): Promise<void> {
    await this.#registrar?.begin(signal);
  }

  /** Called when the webhooks of all modules are known; they are then registered. */
  loaded(): void {
    this.#registrar?.loaded();
  }

  /** Resolves when the webhooks of the modules are registered and can be called. @throws the signal's reason. */
  async inForce(signal: AbortSignal): Promise<void> {
    await this.#registrar?.inForce(signal);
    while (this.host.notReady !== undefined) await sleep(1, { signal });
  }

  /** Asks clients with persistent connections to turn to other replicas. */
  retire(): void {
    this.#serving.retire();
  }

  /**
   * Removes the registration of this process alone, and no longer maintains any other; shared registrations stay. All
   * requests are still answered.
   */
  async unregister({ grace }: { readonly grace: number }): Promise<void> {
    const late = new AbortController();
    const { connectionClock } = this.#process;
    using _timer = connectionClock.setTimeout(
      () => late.abort(new Error("it took too long")),
      Math.min(grace, LEAVE_WITHIN),
    );
    await this.#registrar?.stop(late.signal);
  }

  /** Ends the listener, to which nothing leads any more. */
  async stop({ grace }: { readonly grace: number }): Promise<void> {
    await this.#serving.stop({ grace });
    await this.#certificates?.[Symbol.asyncDispose]();
  }
}
