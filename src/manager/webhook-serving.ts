/**
 * The webhook listener of the process, from the first module with webhooks to the end.
 *
 * Processes whose modules have no webhooks take no port and need no certificate.
 */
import { Hono } from "hono";
import type { Runtime } from "../controller/runtime.ts";
import type { ConversionFamilies } from "../observe/conversion-metrics.ts";
import type { WebhookFamilies } from "../observe/webhook-metrics.ts";
import { type Clock, sleep } from "../platform/clock.ts";
import type { CertificateSource } from "../server/certificate-source.ts";
import type { HealthChecks, Told } from "../server/health-checks.ts";
import { TlsListener } from "../server/tls-listener.ts";
import { MOST_CONVERSION_BYTES } from "../webhook/conversion/conversion-endpoint.ts";
import { WebhookHost } from "../webhook/webhook-host.ts";
import { webhookScope } from "../webhook/webhook-scope.ts";

export interface WebhookServingOptions {
  /** `:9443`, `127.0.0.1:0` for a free port, `0` for none. */
  readonly address: string;
  /** The certificate of the listener. */
  readonly certificates: CertificateSource;
  /**
   * Milliseconds that requests are still answered after {@link WebhookServing.retire}: so long the API server may go on asking a
   * replica that leaves. @default 0
   */
  readonly drain?: number | undefined;
  /** What the webhooks are registered with in place of what they declare. @default as declared */
  readonly failurePolicy?: "Ignore" | undefined;
}

/** What a webhook listener shares with the rest of the process. */
export interface WebhookSurroundings {
  readonly runtime: Runtime;
  readonly metrics: WebhookFamilies;
  readonly conversions: ConversionFamilies;
  readonly readyz: HealthChecks;
  /** What the deadlines of requests are timed with. */
  readonly clock: Clock;
  readonly freeze: boolean;
  /** Routes of plugins, which are answered here too. */
  readonly plugins: (request: Request) => Promise<Response>;
  /** Told that a module's code threw, which is in the log by then. */
  readonly onError: (module: string) => void;
}

/** What is added to the largest body, so that a little too much is told so in a review and not by the platform. */
const ROOM = 1024 * 1024;

export class WebhookServing {
  readonly host: WebhookHost;
  readonly #options: WebhookServingOptions | undefined;
  readonly #surroundings: WebhookSurroundings;
  #listener: TlsListener | undefined;
  #retiredAt: number | undefined;

  /** @param options `undefined`: webhooks are not served. */
  constructor(options: WebhookServingOptions | undefined, surroundings: WebhookSurroundings) {
    const { runtime, metrics, conversions, clock, freeze, onError } = surroundings;
    this.#options = options;
    this.#surroundings = surroundings;
    this.host = new WebhookHost({
      log: runtime.log,
      metrics,
      conversions,
      clock,
      freeze,
      failurePolicy: options?.failurePolicy,
      onError,
      scopeOf: (webhook, { name }) => webhookScope(webhook, name, runtime),
      ensureListening: (module) => this.listen(module),
    });
  }

  /** Where the listener listens, such as `127.0.0.1:9443`; `undefined` while there is nothing to serve. */
  get address(): string | undefined {
    return this.#listener?.address;
  }

  /** From now on each answer is the last of its connection, so that clients turn to other replicas. */
  retire(): void {
    this.#retiredAt ??= this.#surroundings.clock.now();
    this.#listener?.retire();
  }

  /** Lets the requests under way end, and closes the listener. */
  async stop({ grace }: { readonly grace: number }): Promise<void> {
    if (this.#listener === undefined) return;
    this.retire();
    const { clock } = this.#surroundings;
    const { drain = 0 } = this.#options!;
    const left = this.#retiredAt! + Math.min(drain, grace) - clock.now();
    if (left > 0) await sleep(left, { clock });
    await this.#listener.stop({ grace });
  }

  /** Begins to listen, unless it does; this module needs it. @throws Error naming the flag and the address. */
  listen(module: string): void {
    const { runtime, readyz, plugins } = this.#surroundings;
    if (this.#listener !== undefined) return;
    if (this.#options === undefined || this.#options.address === "0") {
      runtime.log.warn("Webhooks are not served: there is no listener for them", { module });
      return;
    }
    const { address, certificates } = this.#options;
    const routes = this.host.routes.app();
    const app = new Hono().all("/plugins/*", (context) => plugins(context.req.raw)).route("/", routes);
    this.#listener = new TlsListener({
      name: "webhook",
      address,
      certificates,
      log: runtime.log,
      largestBody: MOST_CONVERSION_BYTES + ROOM,
      fetch: (request, connection) => app.fetch(request, connection),
    });
    readyz.add("webhooks", () => this.#notReady());
    runtime.log.info("Listening for webhooks", { address: this.#listener.address });
  }

  #notReady(): Told | undefined {
    const why = this.#listener?.notListening;
    if (why !== undefined) return { cause: why, text: why };
    const { notReady } = this.host;
    return notReady === undefined ? undefined : { cause: "a cache has not synced", text: notReady };
  }
}
