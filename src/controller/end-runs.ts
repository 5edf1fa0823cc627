/** Ends some runs of a controller. */
import type { KeyRun } from "../reconcile/key-run.ts";
import type { ControllerScope } from "./controller-scope.ts";
import { within } from "./within.ts";
import type { Workers } from "./workers.ts";

/** The most keys that the warning about runs that do not end names. */
const MOST_KEYS = 10;

/** The reason why runs must end, for the runs and for the log. */
export interface EndReason {
  /** The reason for runs that may still finish. */
  readonly going: string;
  /** The reason for runs that did not finish. */
  readonly gone: string;
  /** The end of the log line, which names the consequence for these runs. */
  readonly consequence: string;
}

const ANOTHER_REPLICA: EndReason = {
  going: "its key goes to another replica",
  gone: "its key has gone to another replica",
  consequence: ", and their keys go to another replica",
};

export interface EndOfRuns {
  readonly workers: Workers;
  readonly isMeant: (run: KeyRun) => boolean;
  /** The grace period in milliseconds. @default that of the process */
  readonly grace?: number | undefined;
  /** The reason that the runs receive. @default their keys go to another replica */
  readonly because?: EndReason | undefined;
}

/**
 * Fires the signals of these runs, which have the grace period to end. After that they can no longer write, and their
 * open requests are abandoned.
 */
export async function endRuns({ runtime, log }: ControllerScope, end: EndOfRuns): Promise<void> {
  const { clock, transport, settings } = runtime;
  const { workers, isMeant, grace = settings["grace-period"], because = ANOTHER_REPLICA } = end;
  workers.leave(because.going, isMeant);
  if (await within(grace, { work: workers.drained(isMeant), clock })) return;
  const rest = workers.running(isMeant);
  workers.cancel(because.gone, isMeant);
  transport.endRefused();
  log.warn(`Runs did not end within the grace period${because.consequence}`, {
    keys: rest.slice(0, MOST_KEYS),
    runs: rest.length,
  });
}

/** The parts that must end when a controller stops. */
export interface Leaving {
  readonly workers: Workers;
  /** The other work that has to end. */
  readonly others: readonly (Promise<void> | undefined)[];
  /** The grace period in milliseconds. */
  readonly grace: number;
  readonly why: string;
}

/** The milliseconds that a run has to react to its signal. */
const LAST_MOMENT = 100;

/**
 * Ends all runs. Their signals have fired, and they have the grace period to end; then nothing can be written any more.
 */
export async function endAllRuns({ runtime, gate, log }: ControllerScope, leaving: Leaving): Promise<void> {
  const { clock } = runtime;
  const { workers, others, grace, why } = leaving;
  const drained = Promise.all([workers.drained(), ...others]).then(() => {});
  await within(grace, { work: drained, clock });
  gate.close(why);
  workers.cancel(why);
  // A run that respects its signal ends now; one that does not can no longer write.
  await within(LAST_MOMENT, { work: workers.drained(), clock });
  const rest = workers.stuck.map(({ key }) => key);
  if (rest.length === 0) return;
  const about = { keys: rest.slice(0, MOST_KEYS), runs: rest.length };
  log.warn("Runs did not end within the grace period; they can no longer write anything", about);
}
