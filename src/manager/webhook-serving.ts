/**
 * The webhook listener of the process, from the first module with webhooks to the end.
 *
 * Processes whose modules have no webhooks use no port and need no certificate.
 */
import { Hono } from "hono";
import { sleep } from "../platform/clock.ts";
import type { CertificateSource } from "../server/certificate-source.ts";
import type { HealthReport } from "../server/health-checks.ts";
import type { Connection } from "../server/local-request.ts";
import { TlsListener } from "../server/tls-listener.ts";
import { MOST_CONVERSION_BYTES } from "../webhook/conversion/conversion-endpoint.ts";
import { WebhookHost } from "../webhook/webhook-host.ts";
import { webhookScope } from "../webhook/webhook-scope.ts";
import type { Process } from "./process.ts";

export interface WebhookServingOptions {
  /** The address: `:9443`, `127.0.0.1:0` for a free port, `0` for none. */
  readonly address: string;
  /** The certificate of the listener. */
  readonly certificates: CertificateSource;
  /**
   * For how many milliseconds requests are still served after {@link WebhookServing.retire}, because the API server may
   * send requests to a leaving replica for that long.
   *
   * @default 0
   */
  readonly drain?: number | undefined;
  /** Replaces the failure policy that the webhooks declare. @default as declared */
  readonly failurePolicy?: "Ignore" | undefined;
}

export interface WebhookServingParts {
  /** Serves routes of plugins, which exist on this listener too. */
  readonly plugins: (request: Request, connection: Connection) => Promise<Response>;
  /** Called when a module's code threw, after that was logged. */
  readonly onError: (module: string) => void;
}

/** Added to the limit of bodies, so that a slightly larger one is rejected in a review and not by the platform. */
const ROOM = 1024 * 1024;

export class WebhookServing {
  readonly host: WebhookHost;
  readonly #options: WebhookServingOptions | undefined;
  readonly #process: Process;
  readonly #plugins: WebhookServingParts["plugins"];
  #listener: TlsListener | undefined;
  #retiredAt: number | undefined;

  /** Creates the listener. @param options `undefined` means that webhooks are not served. */
  constructor(process: Process, options: WebhookServingOptions | undefined, parts: WebhookServingParts) {
    const { connectionClock, development } = process;
    this.#options = options;
    this.#process = process;
    this.#plugins = parts.plugins;
    this.host = new WebhookHost({
      runtime: process,
      clock: connectionClock,
      freeze: development,
      failurePolicy: options?.failurePolicy,
      onError: parts.onError,
      scopeOf: (webhook, { name }) => webhookScope(webhook, name, process),
      ensureListening: (module) => this.listen(module),
    });
  }

  /** The listening address, such as `127.0.0.1:9443`; `undefined` while no webhooks are served. */
  get address(): string | undefined {
    return this.#listener?.address;
  }

  /** From now on each response is the last one of its connection, so that clients turn to other replicas. */
  retire(): void {
    this.#retiredAt ??= this.#process.connectionClock.now();
    this.#listener?.retire();
  }

  /** Lets active requests end, and closes the listener. */
  async stop({ grace }: { readonly grace: number }): Promise<void> {
    if (this.#listener === undefined) return;
    this.retire();
    const { connectionClock: clock } = this.#process;
    const { drain = 0 } = this.#options!;
    const left = this.#retiredAt! + Math.min(drain, grace) - clock.now();
    if (left > 0) await sleep(left, { clock });
    await this.#listener.stop({ grace });
  }

  /** Starts the listener for a module, unless it is running. @throws Error naming the flag and the address. */
  listen(module: string): void {
    const { health, log } = this.#process;
    if (this.#listener !== undefined) return;
    if (this.#options === undefined || this.#options.address === "0") {
      log.warn("Webhooks are not served: there is no listener for them", { module });
      return;
    }
    const { address, certificates } = this.#options;
    const routes = this.host.routes.app();
    const app = new Hono()
      .all("/plugins/*", (context) => this.#plugins(context.req.raw, context.env as Connection))
      .route("/", routes);
    this.#listener = new TlsListener({
      name: "webhook",
      address,
      certificates,
      log,
      largestBody: MOST_CONVERSION_BYTES + ROOM,
      fetch: (request, connection) => app.fetch(request, connection),
    });
    health.readyz.add("webhooks", () => this.#notReady());
    log.info("Listening for webhooks", { address: this.#listener.address });
  }

  #notReady(): HealthReport | undefined {
    const why = this.#listener?.notListening;
    if (why !== undefined) return { cause: why, text: why };
    const { notReady } = this.host;
    return notReady === undefined ? undefined : { cause: "a cache has not synced", text: notReady };
  }
}
