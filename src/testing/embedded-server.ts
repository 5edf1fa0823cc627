/** The embedded cluster for a test, in this process and in memory. */
import { startEmbeddedCluster } from "../cluster/index.ts";
import { type Server, type ServerOptions, withAnswer } from "./server.ts";

export async function startEmbedded({ pods, clock, journal }: ServerOptions): Promise<Server> {
  const cluster = await startEmbeddedCluster({ pods, clock, through: (answer) => journal.through(inTurns(answer)) });
  const { config, kubeconfig } = cluster;
  return {
    config,
    kubeconfig,
    backstage: cluster.as(),
    as: async (account) => {
      const reached = cluster.as(account);
      return withAnswer(reached, journal.through(inTurns(reached.answer!)));
    },
    stop: () => cluster.stop(),
  };
}

type Answer = (request: Request) => Promise<Response>;

/** Milliseconds of requests in one turn of the event loop, after which timers and connections come first. */
const TURN_MS = 5;

/**
 * Without a connection in between, a request and its response take only microtasks. A test that repeats a request in a
 * loop would prevent timers, the module under test and the test's own timeout from ever running. Requests that leave
 * the event loop its turns are served at once.
 */
function inTurns(answer: Answer): Answer {
  /** The time at which the first request of this turn arrived. */
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
