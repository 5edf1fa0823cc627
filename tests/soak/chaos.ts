/** Breaks the connection to the API server, and the server, at random. */
import { compact } from "../../scripts/controlplane/compact.ts";
import type { ControlPlane } from "../../scripts/controlplane/controlplane.ts";
import type { TcpProxy } from "../support/tcp-proxy.ts";

export class Chaos {
  /** How often each fault was injected. */
  readonly faults: Record<string, number> = {};
  readonly #parts: { readonly plane: ControlPlane; readonly proxy: TcpProxy; readonly random: () => number };
  #stopped = false;

  constructor(parts: { plane: ControlPlane; proxy: TcpProxy; random: () => number }) {
    this.#parts = parts;
  }

  /** Injects one fault after another, with short pauses between them, until `stop`. */
  async run(): Promise<void> {
    const { random } = this.#parts;
    const faults = Object.entries(this.#all);
    while (!this.#stopped) {
      await Bun.sleep(1_000 + random() * 3_000);
      const [name, make] = faults[Math.floor(random() * faults.length)]!;
      if (this.#stopped) return;
      this.faults[name] = (this.faults[name] ?? 0) + 1;
      await make();
    }
  }

  stop(): void {
    this.#stopped = true;
  }

  readonly #all: Readonly<Record<string, () => Promise<void>>> = {
    cut: async () => this.#parts.proxy.cut(),
    halfOpen: async () => this.#parts.proxy.halfOpen(),
    stall: async () => {
      this.#parts.proxy.inject({ stalled: true });
      await this.#while();
    },
    delay: async () => {
      this.#parts.proxy.inject({ delay: 100 + this.#parts.random() * 500 });
      await this.#while();
    },
    truncate: async () => {
      this.#parts.proxy.inject({ truncateAfter: Math.floor(this.#parts.random() * 20_000) });
      await this.#while();
    },
    refuse: async () => {
      await this.#parts.proxy.refuse();
      await this.#while();
    },
    restart: async () => this.#parts.plane.restart("kube-apiserver"),
    compact: async () => {
      const { plane, proxy } = this.#parts;
      await proxy.refuse();
      await Bun.sleep(1_000);
      await compact(plane);
      await plane.restart("kube-apiserver");
      await proxy.listen();
    },
  };

  /** Injects the fault for a while. */
  async #while(): Promise<void> {
    const { proxy, random } = this.#parts;
    await Bun.sleep(500 + random() * 4_000);
    proxy.inject();
    // The swallowed bytes would be missing in the middle of the stream.
    proxy.cut();
    await proxy.listen();
  }
}
