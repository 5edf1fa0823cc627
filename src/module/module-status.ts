/** The status of a module in `/readyz?verbose`, metrics and the log. */
import type { RunningController } from "../controller/controller.ts";
import type { HealthChecks } from "../server/health-checks.ts";

/**
 * `loading` until every controller synced once; `broken`, `suspended`, `slowed`, `waiting` and `unavailable` as soon as
 * one of its parts is; `draining` when its file is gone and objects carry its finalizers.
 */
type ModuleState = "loading" | "running" | "waiting" | "unavailable" | "slowed" | "suspended" | "broken" | "draining";

interface Reloads {
  readonly succeeded: number;
  readonly failed: number;
}

export interface ModuleStatus {
  readonly name: string;
  readonly file: string;
  readonly state: ModuleState;
  /** The reason, for states other than `loading` and `running`; and the names of keys that are stuck, failing or parked. */
  readonly message: string | undefined;
  /** The number of failures of its code outside of runs. */
  readonly errors: number;
  /** The number of new versions that have replaced it, and of those that could not. */
  readonly reloads: Reloads;
  /** The number of objects with its finalizers, while it drains. */
  readonly left?: number | undefined;
  /** The parts of its plugins that have not ended: runnables, and requests to their routes. */
  readonly open: readonly string[];
}

/** A module that does not run, and the reason. */
export interface ModuleProblem {
  readonly name: string;
  readonly file: string;
  readonly message: string;
}

/** Explains why none of the modules runs; `undefined` when there are none. */
export function noneRuns([first]: readonly ModuleStatus[]): string | undefined {
  return first && `no module runs: ${first.name} is ${first.state}: ${first.message}`;
}

/** Explains why a module is not running in any version; `undefined` when all are. */
export function neverRan(
  problems: readonly ModuleProblem[],
  running: Pick<ReadonlyMap<string, unknown>, "has">,
): string | undefined {
  const problem = problems.find(({ name }) => !running.has(name));
  return problem && `module ${problem.name} has never run: ${problem.message}`;
}

/** A module that runs, at least in an earlier version. */
interface RunningVersion {
  readonly module: { readonly name: string; readonly file: string };
  readonly controllers: readonly (Pick<RunningController, "name" | "state" | "hasSynced" | "stuck"> & {
    readonly queue: Pick<RunningController["queue"], "failing" | "parked">;
  })[];
  readonly contributions: { readonly failure: string | undefined; readonly open: readonly string[] };
  readonly errors: number;
  readonly reloads: Reloads;
  readonly draining?: { readonly drain: { readonly message: string; readonly objects: number } } | undefined;
}

/** All modules of a process, as its registry knows them. */
interface KnownModules {
  readonly running: Iterable<RunningVersion>;
  /** The modules that cannot be started yet. */
  readonly postponed: readonly ModuleProblem[];
  /** The modules that could not be loaded. */
  readonly broken: Iterable<ModuleProblem>;
}

/** Returns the status of every module once, ordered by name. */
export function statusesOf({ running, postponed, broken }: KnownModules): readonly ModuleStatus[] {
  const byName = new Map<string, ModuleStatus>();
  const without = { errors: 0, reloads: { succeeded: 0, failed: 0 }, open: [] };
  for (const problem of broken) byName.set(problem.name, { ...without, ...problem, state: "broken" });
  for (const problem of postponed) byName.set(problem.name, { ...without, ...problem, state: "unavailable" });
  for (const version of running) {
    const { name } = version.module;
    byName.set(name, statusOf(version, byName.get(name)));
  }
  return [...byName.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** @param newest the status of its newest version, when that does not run. */
function statusOf(version: RunningVersion, newest: ModuleStatus | undefined): ModuleStatus {
  const { module, controllers, contributions, errors, reloads, draining } = version;
  const { name, file } = module;
  const { failure, open } = contributions;
  const withState = (kind: string) => controllers.find(({ state }) => state.kind === kind);
  const unavailable = withState("unavailable");
  const waiting = withState("waiting");
  const limited = withState("suspended") ?? withState("slowed");
  const status = (state: ModuleState, message?: string): ModuleStatus => {
    return { name, file, state, message, errors, reloads, open };
  };
  if (newest !== undefined)
    return status(newest.state, `the previous version keeps running, because the newest cannot: ${newest.message}`);
  if (draining !== undefined) {
    const hindered = unavailable ?? waiting ?? limited;
    const why = hindered === undefined ? "" : `; ${hindered.name}: ${hindered.state.message ?? hindered.state.kind}`;
    return { ...status("draining", `${draining.drain.message}${why}`), left: draining.drain.objects };
  }
  if (unavailable !== undefined)
    return status("unavailable", `${unavailable.name}: ${unavailable.state.message ?? "unavailable"}`);
  if (failure !== undefined) return status("unavailable", failure);
  if (waiting !== undefined) return status("waiting", `${waiting.name}: ${waiting.state.message ?? "waiting"}`);
  if (controllers.some(({ hasSynced }) => !hasSynced)) return status("loading");
  if (limited?.state.kind === "suspended" || limited?.state.kind === "slowed")
    return status(limited.state.kind, `${limited.name}: ${limited.state.message}`);
  const keys = [
    keysMessage("stuck past their timeout", controllers, ({ stuck }) => new Set(stuck.map(({ key }) => key))),
    keysMessage("failing", controllers, ({ queue }) => queue.failing),
    keysMessage("parked", controllers, ({ queue }) => queue.parked),
  ];
  return status("running", keys.filter((message) => message !== undefined).join("; ") || undefined);
}

/** How many keys of each state a status names. */
const NAMED_KEYS = 3;

/** Returns which keys are in a state, the first of them by name; `undefined` when there are none. */
function keysMessage(
  state: string,
  controllers: RunningVersion["controllers"],
  keysOf: (controller: RunningVersion["controllers"][number]) => Pick<ReadonlyMap<string, unknown>, "size" | "keys">,
): string | undefined {
  const named: string[] = [];
  let more = 0;
  for (const controller of controllers) {
    const keys = keysOf(controller);
    const first = [...keys.keys().take(NAMED_KEYS - named.length)];
    named.push(...first.map((key) => `${controller.name} ${key}`));
    more += keys.size - first.length;
  }
  if (named.length === 0) return undefined;
  return `${state}: ${named.join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
}

interface ModuleListingOptions {
  readonly readyz: HealthChecks;
  /** Whether a module that is broken, waiting or unavailable fails the endpoint instead of only being listed. */
  readonly strict: boolean;
  readonly statuses: () => readonly ModuleStatus[];
}

/** Lists the modules of a process in `/readyz?verbose`, including broken ones. */
export class ModuleListing {
  readonly #options: ModuleListingOptions;
  readonly #listed = new Map<string, Disposable>();

  constructor(options: ModuleListingOptions) {
    this.#options = options;
  }

  add(name: string): void {
    if (this.#listed.has(name)) return;
    const { readyz, strict, statuses } = this.#options;
    // A module that waited has no status while its plugins are set up; neither has one that is leaving.
    const status = (): Pick<ModuleStatus, "state" | "message"> =>
      statuses().find((one) => one.name === name) ?? { state: "loading", message: undefined };
    const entry = strict
      ? readyz.add(`module/${name}`, () => {
          const { state, message } = status();
          if (state === "loading" || state === "running" || state === "draining") return undefined;
          return { cause: state, text: `${state}: ${message ?? ""}` };
        })
      : readyz.note(`module/${name}`, () => {
          const { state, message } = status();
          if (message !== undefined) return { cause: state, text: `${state}: ${message}` };
          return state === "running" ? undefined : { cause: state, text: state };
        });
    this.#listed.set(name, entry);
  }

  remove(name: string): void {
    this.#listed.get(name)?.[Symbol.dispose]();
    this.#listed.delete(name);
  }
}
