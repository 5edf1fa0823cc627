/** Ends some runs of a controller. */
import type { Transport } from "../kube/transport/transport.ts";
import type { Log } from "../observe/log.ts";
import type { Clock } from "../platform/clock.ts";
import type { KeyRun } from "../reconcile/key-run.ts";
import type { ControllerGate } from "./controller-gate.ts";
import { within } from "./within.ts";
import type { Workers } from "./workers.ts";

/** The most keys that the warning about runs that do not end names. */
const MOST_KEYS = 10;

/** The reason for which runs must end, as they and the log receive it. */
export interface EndReason {
  /** The reason for runs that may still finish. */
  readonly going: string;
  /** The reason for runs that did not finish. */
  readonly gone: string;
  /** The end of the log line about those. */
  readonly consequence: string;
}

const ANOTHER_REPLICA: EndReason = {
  going: "its key goes to another replica",
  gone: "its key has gone to another replica",
  consequence: ", and their keys go to another replica",
};

/**
 * Fires the signals of the runs, which have `grace` milliseconds to end. After that they can no longer write, and
 * their open requests are abandoned.
 */
export async function endRuns(
  workers: Workers,
  isMeant: (run: KeyRun) => boolean,
  options: {
    readonly grace: number;
    readonly clock: Clock;
    readonly transport: Pick<Transport, "endRefused">;
    readonly log: Pick<Log, "warn">;
    /** The reason that the runs receive. @default their keys go to another replica */
    readonly because?: EndReason | undefined;
  },
): Promise<void> {
  const { grace, clock, transport, log, because = ANOTHER_REPLICA } = options;
  workers.leave(because.going, isMeant);
  if (await within(grace, { work: workers.drained(isMeant), clock })) return;
  const left = workers.running(isMeant);
  workers.cancel(because.gone, isMeant);
  transport.endRefused();
  log.warn(`Runs did not end within the grace period${because.consequence}`, {
    keys: left.slice(0, MOST_KEYS),
    runs: left.length,
  });
}

/** What still has to end when a controller stops. */
export interface Leaving {
  readonly workers: Workers;
  /** The other work that has to end. */
  readonly others: readonly (Promise<void> | undefined)[];
  readonly gate: ControllerGate;
  /** The grace period in milliseconds. */
  readonly grace: number;
  readonly why: string;
  readonly clock: Clock;
  /** The log, with the names of module and controller. */
  readonly log: Pick<Log, "warn">;
}

/** The milliseconds that a run has to react to its signal. */
const LAST_MOMENT = 100;

/** Ends all runs. Their signals have fired, and they have the grace period to end; then nothing can be written any more. */
export async function endAllRuns({ workers, others, gate, grace, why, clock, log }: Leaving): Promise<void> {
  const drained = Promise.all([workers.drained(), ...others]).then(() => {});
  await within(grace, { work: drained, clock });
  gate.close(why);
  workers.cancel(why);
  // A run that respects its signal ends now; one that does not can no longer write.
  await within(LAST_MOMENT, { work: workers.drained(), clock });
  const left = workers.stuck.map(({ key }) => key);
  if (left.length === 0) return;
  const about = { keys: left.slice(0, MOST_KEYS), runs: left.length };
  log.warn("Runs did not end within the grace period; they can no longer write anything", about);
}
