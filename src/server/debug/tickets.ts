/**
 * Tickets for the token, each of which is good once and for a minute. The address of the page is given to the browser
 * on a command line, which other users of the machine can see; a ticket is worth nothing once the page has used it.
 */
import { randomBytes } from "node:crypto";
import { type Clock, systemClock } from "../../platform/clock.ts";

const VALID_MS = 60_000;
/** The most tickets at the same time; further ones replace the oldest. */
const MOST_TICKETS = 100;

export class Tickets {
  readonly #clock: Pick<Clock, "now">;
  /** The times at which the tickets expire, the oldest ticket first. */
  readonly #until = new Map<string, number>();

  constructor(clock: Pick<Clock, "now"> = systemClock) {
    this.#clock = clock;
  }

  issue(): string {
    const ticket = randomBytes(32).toString("base64url");
    this.#until.set(ticket, this.#clock.now() + VALID_MS);
    const [oldest] = this.#until.keys();
    if (this.#until.size > MOST_TICKETS) this.#until.delete(oldest!);
    return ticket;
  }

  /** Uses a ticket up. @returns whether it was good. */
  redeem(ticket: string): boolean {
    const until = this.#until.get(ticket);
    this.#until.delete(ticket);
    return until !== undefined && this.#clock.now() < until;
  }
}
