/** A victim, those who watch over it, and what is asked of it: memory stays flat, `/livez` answers, and there is a reason. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "bun:test";
import { loopbackTls } from "../loopback-server.ts";
import { type Attack, type HostileServer, startHostile } from "./hostile-server.ts";
import type { Ask, Order, Report } from "./victim.ts";

export interface Outcome extends Report {
  /**
   * The longest that `/livez` took, in milliseconds; at most what the victim itself worked meanwhile, because on a busy
   * machine others have their turns too.
   */
  readonly livez: number;
}

export interface Expected {
  /** @default "h2" */
  readonly protocol?: "h2" | "http/1.1";
  readonly ask: Ask;
  /** What the victim says in the end. */
  readonly says: RegExp;
  readonly attack: Attack;
  /** MiB that it may grow by. @default 48 */
  readonly growth?: number;
  /** Milliseconds after which the victim gives up. @default 15_000 */
  readonly within?: number;
  /** Bytes that the server may send before the connection is closed. @default 400 MiB */
  readonly sent?: number;
}

const LOOK_EVERY_MS = 50;
const LONGEST_LOOK_MS = 1_000;
const MIB = 1024 * 1024;

export class Victim implements AsyncDisposable {
  readonly #child: Bun.Subprocess;
  readonly #livez: string;
  readonly #reports: ((report: Report) => void)[];
  /** What was seen, for people. */
  readonly table: string[] = [];

  private constructor(child: Bun.Subprocess, livez: string, reports: ((report: Report) => void)[]) {
    this.#child = child;
    this.#livez = livez;
    this.#reports = reports;
  }

  static async start(): Promise<Victim> {
    const reports: ((report: Report) => void)[] = [];
    const listening = Promise.withResolvers<string>();
    const child = Bun.spawn([process.execPath, join(import.meta.dirname, "victim.ts")], {
      stdio: ["ignore", "inherit", "inherit"],
      ipc: (message: Report | { livez: string }) => {
        if ("livez" in message) listening.resolve(message.livez);
        else reports.shift()?.(message);
      },
      onExit: (_, code) => {
        for (const tell of reports.splice(0)) {
          tell({ said: `ended with ${code}`, code: "", growth: Infinity, ms: 0, log: [] });
        }
      },
    });
    return new Victim(child, await listening.promise, reports);
  }

  /** Has it carried out, and looks at `/livez` all the time. */
  async ask(order: Omit<Order, "tls">): Promise<Outcome> {
    const report = Promise.withResolvers<Report>();
    this.#reports.push(report.resolve);
    this.#child.send({ ...order, tls: loopbackTls });
    const over = new AbortController();
    let livez = 0;
    const look = async (): Promise<void> => {
      while (!over.signal.aborted) {
        const [began, worked] = [performance.now(), this.#worked()];
        const answered = await fetch(this.#livez).then(
          (answer) => answer.ok,
          () => false,
        );
        const took = Math.min(performance.now() - began, this.#worked() - worked + LOOK_EVERY_MS);
        livez = Math.max(livez, answered ? took : Infinity);
        await Bun.sleep(LOOK_EVERY_MS);
      }
    };
    const looking = look();
    const outcome = await report.promise;
    over.abort();
    await looking;
    return { ...outcome, livez };
  }

  /** Milliseconds that its event loop had a processor. */
  #worked(): number {
    try {
      const { pid } = this.#child;
      return Number(readFileSync(`/proc/${pid}/task/${pid}/schedstat`, "utf8").split(" ")[0]) / 1e6;
    } catch {
      return performance.now();
    }
  }

  /** Has it ask a server that attacks, and checks all that is expected of it. */
  async withstands(name: string, expected: Expected): Promise<Outcome> {
    const { protocol = "h2", ask, says, attack, growth = 48, within = 15_000, sent = 400 * MIB } = expected;
    await using server = await startHostile(protocol, attack);
    const outcome = await this.ask({ ask, server: server.url, within });
    this.#note(`${name} (${ask}, ${protocol})`, outcome, server);
    expect(outcome.said).toMatch(says);
    expect(outcome.growth).toBeLessThan(growth);
    expect(outcome.livez).toBeLessThan(LONGEST_LOOK_MS);
    expect(server.sent).toBeLessThan(sent);
    return outcome;
  }

  #note(name: string, { said, growth, livez, ms }: Outcome, server: HostileServer): void {
    const numbers = [`+${growth.toFixed(0)} MiB`, `/livez ${livez.toFixed(0)} ms`, `over after ${ms.toFixed(0)} ms`];
    this.table.push(
      `${name}: ${numbers.join(", ")}, ${(server.sent / MIB).toFixed(1)} MiB sent: ${said.slice(0, 160)}`,
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    console.log(this.table.join("\n"));
    this.#child.disconnect();
    await this.#child.exited;
  }
}
