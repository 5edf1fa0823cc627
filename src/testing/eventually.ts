/** Waits for the effects of controllers. */
import { ApiError } from "../kube/errors/api-error.ts";
import { type Duration, parseDuration } from "../resource/duration.ts";
import { sleep } from "../platform/clock.ts";
import { callersOf, withStack } from "./errors-at-caller.ts";
import { beginWait } from "./looking-back.ts";

export interface EventuallyOptions {
  /**
   * The time to wait. @default `$BINNACLE_TEST_EVENTUALLY`, which gives a slow machine more time, otherwise "5s", or
   * "45s" while a real cluster runs, whose kube-controller-manager notices new kinds every 30 s
   */
  readonly within?: Duration | undefined;
  /** The interval between checks. @default "5ms" */
  readonly every?: Duration | undefined;
}

/**
 * Repeats the check until it neither throws nor returns `false`, and returns its result.
 *
 * So `get` waits for an object, and `expect` for its state.
 *
 * @throws the check's last error, with the last value and the waiting time.
 */
export async function eventually<T>(
  check: () => T | Promise<T>,
  options: EventuallyOptions = {},
): Promise<Exclude<T, false>> {
  const within = options.within === undefined ? patience() : parseDuration(options.within, "within");
  const every = parseDuration(options.every ?? 5, "every");
  const stack = callersOf(eventually);
  const began = performance.now();
  const wait = beginWait();
  try {
    for (let looks = 1; ; looks++) {
      let failure: unknown;
      try {
        const result = await check();
        if (result !== false) return result as Exclude<T, false>;
      } catch (error) {
        failure = error;
      }
      if (performance.now() - began >= within) {
        wait.failed();
        throw tooLate({ failure, looks, within, stack });
      }
      await sleep(every);
    }
  } finally {
    wait.ended();
  }
}

/** How long an `eventually` waits that does not say it. */
function patience(): number {
  const setting = process.env["BINNACLE_TEST_EVENTUALLY"];
  if (setting) return parseDuration(setting as Duration, "$BINNACLE_TEST_EVENTUALLY");
  return realClusters > 0 ? PATIENCE_WITH_REAL : PATIENCE;
}

const PATIENCE = 5_000;
const PATIENCE_WITH_REAL = 45_000;
let realClusters = 0;

/** Lets waits take the time of a real cluster, until the returned function is called. */
export function beginPatience(): () => void {
  realClusters += 1;
  return () => {
    realClusters -= 1;
  };
}

/** Keeps the check's own error if there is one, because test runners print its difference and its line. */
function tooLate(end: { failure: unknown; looks: number; within: number; stack: string }): unknown {
  const { failure, looks, within, stack } = end;
  const after = `not so within ${within} ms (${looks} looks)`;
  if (failure instanceof Error) {
    failure.message = `${failure.message}\n\n${after}; above is what was seen last`;
    // The stack of an API error may lack the check, which was its last caller.
    return failure instanceof ApiError ? withStack(failure, stack) : failure;
  }
  const last = failure === undefined ? "false" : JSON.stringify(failure);
  return withStack(new Error(`${after}; seen last: ${last}`), stack);
}
