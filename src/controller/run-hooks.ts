/** Hooks that plugins put around the runs of all controllers: tracing, policy, rate limits. */
import { abortable } from "../platform/abortable.ts";
import type { Result } from "../reconcile/context.ts";
import type { KeyRun } from "../reconcile/key-run.ts";
import { ObjectRun } from "../reconcile/object-run.ts";
import type { AroundHook, FailurePolicy, HookedRun, RunOutcome } from "./around-hook.ts";
import { HookFailed, type Outcome, outcomeOf, outcomeOfError, RunDeferred } from "./outcome.ts";

/** A hook as runs use it. */
export interface RunHook {
  readonly plugin: string;
  /** Calls the hook in the context of its module. */
  readonly call: AroundHook;
  readonly failurePolicy: FailurePolicy;
  readonly isMeant: (controller: string) => boolean;
  /** Called with errors of the hook that decide nothing. */
  readonly onError: (error: unknown) => void;
  /** Fires when the hook's module leaves; runs then continue without the hook. */
  readonly gone: AbortSignal;
}

/** The hooks of a process, the outermost first. Without hooks, a run costs one more check. */
export class RunHooks {
  #hooks: readonly RunHook[] = [];

  get isEmpty(): boolean {
    return this.#hooks.length === 0;
  }

  set(hooks: readonly RunHook[]): void {
    this.#hooks = hooks;
  }

  /** Executes a run with the hooks around it. @throws as the run itself, and RunDeferred. */
  async execute(run: KeyRun, module: string, execute: () => Promise<void | Result>): Promise<void | Result> {
    const { controller } = run.environment;
    const hooks = this.#hooks.filter(({ isMeant }) => isMeant(controller));
    if (hooks.length === 0) return execute();
    const about = hookedRun(run, module);
    let result: void | Result = undefined;
    const itself = async (): Promise<Outcome> => {
      try {
        result = await execute();
        return outcomeOf(result);
      } catch (error) {
        return outcomeOfError(error, run.refused !== undefined || run.isCutShort(error));
      }
    };
    const from = (index: number): Promise<Outcome> => {
      const hook = hooks[index];
      return hook === undefined ? itself() : through(hook, { run, about, begin: () => from(index + 1) });
    };
    const outcome = await from(0);
    if (outcome.kind === "deferred") throw new RunDeferred(outcome);
    if ("error" in outcome) throw outcome.error;
    return result;
  }
}

interface Passage {
  readonly run: KeyRun;
  readonly about: HookedRun;
  readonly begin: () => Promise<Outcome>;
}

async function through(hook: RunHook, { run, about, begin }: Passage): Promise<Outcome> {
  if (hook.gone.aborted) return goneOf(hook) ?? begin();
  let begun: Promise<Outcome> | undefined;
  let report: RunOutcome | undefined;
  let isDecided = false;
  const next = async (): Promise<RunOutcome> => {
    if (isDecided && begun === undefined) return LATE;
    return (report = reportOf(run, await (begun ??= begin())));
  };
  const calling = Promise.resolve().then(() => hook.call(about, next));
  let decided: Outcome | undefined;
  try {
    // A hook whose module is gone may never settle.
    const answer = await abortable(abortable(calling, hook.gone), run.signal);
    if (begun === undefined) decided = deferral(answer);
  } catch (error) {
    if (begun === undefined) decided = decisionOf(hook, run, error);
    else {
      await begun;
      // A hook that passes on the error of the run has not failed itself.
      if (!hook.gone.aborted && !run.signal.aborted && error !== report?.error) hook.onError(error);
    }
  }
  isDecided = true;
  return decided ?? (begun ??= begin());
}

/** Returns how a hook's result postpones the run. @throws TypeError when it does not. */
function deferral(answer: void | Result): Outcome {
  const outcome = outcomeOf(answer);
  if (outcome.kind === "requeue") return { ...outcome, kind: "deferred" };
  throw outcome.kind === "fail"
    ? outcome.error
    : new TypeError("it neither called next() nor returned { requeueAfter }");
}

/** A run that must not go on without its hook is retried with the hook's next version. */
function goneOf({ failurePolicy }: RunHook): Outcome | undefined {
  return failurePolicy === "Fail" ? { kind: "deferred", after: 0, priority: undefined } : undefined;
}

/** Returns the outcome of a run whose hook threw before the run began; `undefined` when the run goes on. */
function decisionOf(hook: RunHook, run: KeyRun, error: unknown): Outcome | undefined {
  if (hook.gone.aborted) return goneOf(hook);
  const outcome = outcomeOfError(error, run.refused !== undefined || run.signal.aborted);
  if (outcome.kind !== "fail" && outcome.kind !== "unreachable") return outcome;
  hook.onError(error);
  if (hook.failurePolicy === "Ignore") return undefined;
  const message = error instanceof Error ? error.message : String(error);
  return {
    kind: "fail",
    error: new HookFailed(`A hook of plugin ${hook.plugin} failed: ${message}`, { cause: error }),
  };
}
function hookedRun(run: KeyRun, module: string): HookedRun {
  const { environment, key, attempt, causes } = run;
  return Object.freeze({
    module,
    controller: environment.controller,
    key,
    object: run instanceof ObjectRun ? run.object : undefined,
    attempt,
    causes,
    get signal() {
      return run.signal;
    },
  });
}

/** Returns the outcome without sensitive values that the run has read, because a hook of another module may log it. */
function reportOf(run: KeyRun, outcome: Outcome): RunOutcome {
  const error = "error" in outcome ? cleanError(run, outcome.error) : undefined;
  switch (outcome.kind) {
    case "done":
      return SUCCESS;
    case "requeue":
    case "deferred":
      return { result: outcome.kind, after: outcome.after };
    case "retry":
      return { result: "error", error, after: outcome.after };
    case "fail":
      return { result: "error", error };
    case "park":
      return { result: "terminal", error };
    default:
      return { result: outcome.kind, error };
  }
}

/**
 * Returns the error itself when its message contains nothing sensitive, otherwise a copy without the sensitive values.
 */
function cleanError(run: KeyRun, error: unknown): unknown {
  const message = error instanceof Error ? error.message : String(error);
  const clean = run.clean(message);
  if (clean === message) return error;
  const copy = new Error(clean);
  if (error instanceof Error) copy.name = error.name;
  return copy;
}

const SUCCESS: RunOutcome = Object.freeze({ result: "success" });
/** The outcome for a hook that continues although the run was decided without it. */
const LATE: RunOutcome = Object.freeze({ result: "cancelled" });
