/** Ends some runs of a controller, so that another replica can work their keys. */
import type { Transport } from "../kube/transport/transport.ts";
import type { Log } from "../observe/log.ts";
import type { Clock } from "../platform/clock.ts";
import type { KeyRun } from "../reconcile/key-run.ts";
import { within } from "./within.ts";
import type { Workers } from "./workers.ts";

/** What is left of a run that does not end is told with so many keys. */
const MOST_KEYS = 10;
const DEFAULT_GRACE = 30_000;

/**
 * The signals of the runs fire, and they have `grace` milliseconds to end. After that they can write nothing any more, and
 * what they have sent is given up.
 */
export async function endRuns(
  workers: Workers,
  isMeant: (run: KeyRun) => boolean,
  options: {
    /** @default 30_000 */
    readonly grace?: number | undefined;
    readonly clock: Clock;
    readonly transport: Pick<Transport, "endRefused">;
    readonly log: Pick<Log, "warn">;
  },
): Promise<void> {
  const { grace = DEFAULT_GRACE, clock, transport, log } = options;
  workers.leave("its key goes to another replica", isMeant);
  if (await within(grace, { work: workers.drained(isMeant), clock })) return;
  const left = workers.running(isMeant);
  workers.cancel("its key has gone to another replica", isMeant);
  transport.endRefused();
  log.warn("Runs did not end within the grace period, and their keys go to another replica", {
    keys: left.slice(0, MOST_KEYS),
    runs: left.length,
  });
}
