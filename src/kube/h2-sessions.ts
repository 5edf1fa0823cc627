/** HTTP/2 connections for one kind of traffic, with a budget of streams on each. */
import type { Clock } from "../platform/clock.ts";
import type { ClusterConfig } from "./cluster-config.ts";
import { connectTls } from "./connector.ts";
import type { Exchange, ExchangeHandlers, OpenExchange } from "./exchange.ts";
import { H2Session } from "./h2-session.ts";

export interface H2SessionsOptions {
  readonly config: ClusterConfig;
  readonly clock: Clock;
  /** The most streams on one session. kube-apiserver allows 100, and queues the rest without a word. */
  readonly streamsPerSession: number;
}

/** Opens sessions as they are needed; a session that died or said goodbye is left out at once. */
export class H2Sessions {
  readonly #options: H2SessionsOptions;
  readonly #server: URL;
  readonly #sessions = new Set<H2Session>();

  constructor(options: H2SessionsOptions) {
    this.#options = options;
    this.#server = new URL(options.config.server);
  }

  get size(): number {
    return this.#sessions.size;
  }

  get streams(): number {
    let sum = 0;
    for (const session of this.#sessions) sum += session.streams;
    return sum;
  }

  /** @see H2Session.open */
  open(exchange: Exchange, handlers: ExchangeHandlers): Promise<OpenExchange | undefined> {
    const session = this.#find() ?? this.#add();
    session.streams++;
    return session.open(exchange, handlers);
  }

  close(): void {
    for (const session of this.#sessions) session.close();
  }

  #find(): H2Session | undefined {
    const { config, streamsPerSession } = this.#options;
    for (const session of this.#sessions) {
      if (session.tls === config.tls && session.hasRoom(streamsPerSession)) return session;
    }
    return undefined;
  }

  #add(): H2Session {
    const { config, clock } = this.#options;
    const { tls, proxy, server } = config;
    const session = new H2Session({
      server,
      tls,
      clock,
      connect: async () => {
        const socket = await connectTls({ server: this.#server, tls, proxy, protocols: ["h2", "http/1.1"] });
        if (socket.alpnProtocol === "h2") return socket;
        socket.destroy();
        return undefined;
      },
      onClose: (gone) => void this.#sessions.delete(gone),
    });
    this.#sessions.add(session);
    return session;
  }
}
