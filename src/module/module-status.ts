/** The status of a module in `/readyz?verbose`, metrics and the log. */
import type { RunningController } from "../controller/controller.ts";

/**
 * `loading` until every controller synced once; `broken`, `suspended`, `slowed`, `waiting` and `unavailable` as soon as one of
 * its parts is; `draining` when its file is gone and objects carry its finalizers.
 */
export type ModuleState =
  "loading" | "running" | "waiting" | "unavailable" | "slowed" | "suspended" | "broken" | "draining";

export interface Reloads {
  readonly succeeded: number;
  readonly failed: number;
}

export interface ModuleStatus {
  readonly name: string;
  readonly file: string;
  readonly state: ModuleState;
  /** The reason, for states other than `loading` and `running`; and what is stuck. */
  readonly message: string | undefined;
  /** How often its code failed outside of runs. */
  readonly errors: number;
  /** How many new versions have taken its place, and how many could not. */
  readonly reloads: Reloads;
  /** How many objects have its finalizers, while it drains. */
  readonly left?: number | undefined;
  /** What of its plugins has not ended: runnables, and requests to their routes. */
  readonly open: readonly string[];
}

interface StatusInput {
  readonly name: string;
  readonly file: string;
  readonly controllers: readonly Pick<RunningController, "name" | "state" | "hasSynced" | "stuck">[];
  readonly errors: number;
  readonly reloads?: Reloads | undefined;
  /** Why it, or its newest version, could not be loaded. */
  readonly broken: string | undefined;
  /** Why it, or its newest version, cannot be started yet. */
  readonly postponed: string | undefined;
  /** Why one of its runnables is unhealthy. */
  readonly failure?: string | undefined;
  /** What of its plugins has not ended. */
  readonly open?: readonly string[] | undefined;
  /** What it waits for, when it drains. */
  readonly draining?: { readonly message: string; readonly objects: number } | undefined;
  /** Whether an earlier version runs when its newest does not. @default false */
  readonly isRunning?: boolean | undefined;
}

/** A module that does not run, and the reason. */
export interface ModuleProblem {
  readonly name: string;
  readonly file: string;
  readonly message: string;
}

/** Says why none of the modules runs; `undefined` when there are none. */
export function noneRuns([first]: readonly ModuleStatus[]): string | undefined {
  return first && `no module runs: ${first.name} is ${first.state}: ${first.message}`;
}

/** Says why a module is not running in any version; `undefined` when all are. */
export function neverRan(
  problems: readonly ModuleProblem[],
  running: Pick<ReadonlyMap<string, unknown>, "has">,
): string | undefined {
  const problem = problems.find(({ name }) => !running.has(name));
  return problem && `module ${problem.name} has never run: ${problem.message}`;
}

/** All modules of a process, as its registry knows them. */
export interface KnownModules {
  readonly running: Iterable<
    Pick<StatusInput, "controllers" | "errors" | "reloads"> & {
      readonly module: { readonly name: string; readonly file: string };
      readonly contributions: { readonly failure: string | undefined; readonly open: readonly string[] };
      readonly draining?: { readonly drain: { readonly message: string; readonly objects: number } } | undefined;
    }
  >;
  readonly postponed: readonly ModuleProblem[];
  /** The broken modules by name. */
  readonly broken: ReadonlyMap<string, ModuleProblem>;
}

/** Returns the status of every module once, ordered by name. */
export function statusesOf({ running, postponed, broken }: KnownModules): readonly ModuleStatus[] {
  const nothing = { controllers: [], errors: 0, broken: undefined, postponed: undefined };
  const byName = new Map<string, ModuleStatus>();
  for (const { name, file, message } of broken.values())
    byName.set(name, statusOf({ ...nothing, name, file, broken: message }));
  const waiting = new Map(postponed.map((one) => [one.name, one]));
  for (const { name, file, message } of waiting.values())
    byName.set(name, statusOf({ ...nothing, name, file, postponed: message }));
  for (const { module, controllers, contributions, errors, reloads, draining } of running) {
    const { name, file } = module;
    const status = statusOf({
      name,
      file,
      controllers,
      errors,
      reloads,
      broken: broken.get(name)?.message,
      postponed: waiting.get(name)?.message,
      failure: contributions.failure,
      open: contributions.open,
      draining: draining?.drain,
      isRunning: true,
    });
    byName.set(name, status);
  }
  return [...byName.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
}

const NONE: Reloads = Object.freeze({ succeeded: 0, failed: 0 });

function statusOf(input: StatusInput): ModuleStatus {
  const { name, file, controllers, errors, broken, postponed, failure, draining, isRunning = false } = input;
  const newest = (message: string): string =>
    isRunning ? `the previous version keeps running, because the newest cannot: ${message}` : message;
  const withState = (kind: string) => controllers.find(({ state }) => state.kind === kind);
  const unavailable = withState("unavailable");
  const waiting = withState("waiting");
  const limited = withState("suspended") ?? withState("slowed");
  const { reloads = NONE, open = [] } = input;
  const status = (state: ModuleState, message?: string): ModuleStatus => {
    return { name, file, state, message, errors, reloads, open };
  };
  if (broken !== undefined) return status("broken", newest(broken));
  if (postponed !== undefined) return status("unavailable", newest(postponed));
  if (draining !== undefined) {
    const hindered = unavailable ?? waiting ?? limited;
    const why = hindered === undefined ? "" : `; ${hindered.name}: ${hindered.state.message ?? hindered.state.kind}`;
    return { ...status("draining", `${draining.message}${why}`), left: draining.objects };
  }
  if (unavailable !== undefined)
    return status("unavailable", `${unavailable.name}: ${unavailable.state.message ?? "unavailable"}`);
  if (failure !== undefined) return status("unavailable", failure);
  if (waiting !== undefined) return status("waiting", `${waiting.name}: ${waiting.state.message ?? "waiting"}`);
  if (controllers.some(({ hasSynced }) => !hasSynced)) return status("loading");
  if (limited?.state.kind === "suspended" || limited?.state.kind === "slowed")
    return status(limited.state.kind, `${limited.name}: ${limited.state.message}`);
  return status("running", stuckMessage(controllers));
}

function stuckMessage(controllers: StatusInput["controllers"]): string | undefined {
  const stuck = controllers.flatMap((controller) => controller.stuck.map(({ key }) => `${controller.name} ${key}`));
  if (stuck.length === 0) return undefined;
  const shown = stuck.slice(0, 3).join(", ");
  return `stuck past their timeout: ${shown}${stuck.length > 3 ? ` and ${stuck.length - 3} more` : ""}`;
}
