/**
 * Reads what clients have sent before their connections are closed.
 *
 * A server that stops closes its idle connections at once. A connection is idle for it until it has read a request, so
 * one that has arrived while the event loop was busy would be lost, and a Go client does not send a POST again.
 */
import { sleep } from "../platform/clock.ts";

/** The number of turns: one accepts a waiting connection, and the next ones read from it. */
const TURNS = 3;

/** Resolves when the requests that had arrived at the machine have reached their handlers. */
export async function arrivedRequests(): Promise<void> {
  for (let turn = 0; turn < TURNS; turn++) {
    // The event loop checks its sockets when it waits for a timer, and an immediate runs after that.
    await sleep(1);
    await new Promise<void>((resolve) => void setImmediate(resolve));
  }
}
