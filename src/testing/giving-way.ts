/** Requests that are answered in this process, so that a loop of them keeps nothing else from its turn. */

type Answer = (request: Request) => Promise<Response>;

/** Milliseconds of requests in one turn of the event loop, after which timers and connections come first. */
const TURN_MS = 5;

/**
 * Without a connection in between, a request and its answer take microtasks alone. A test that asks again and again until
 * something is there would keep timers, the module under test and the test's own timeout from ever running. Requests that
 * leave the event loop its turns are answered at once.
 */
export function givingWay(answer: Answer): Answer {
  /** When the first request of this turn came. */
  let began: number | undefined;
  return async (request) => {
    if (began === undefined) {
      began = performance.now();
      setImmediate(() => (began = undefined));
    } else if (performance.now() - began >= TURN_MS) {
      await new Promise((resolve) => setImmediate(resolve));
    }
    return answer(request);
  };
}
