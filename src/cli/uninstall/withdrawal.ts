/** Removes every finalizer of some modules, in this process: objects are finalized or released. */
import { declarationsOf } from "../../controller/declarations.ts";
import type { Duty } from "../../controller/reconcile-executor.ts";
import { Pause } from "../../controller/pause.ts";
import type { Retirement } from "../../controller/retirement.ts";
import type { ClusterConfig } from "../../kube/config/cluster-config.ts";
import type { ElectionOptions } from "../../manager/elections.ts";
import { Manager } from "../../manager/manager.ts";
import type { LoadedModule } from "../../module/loaded-module.ts";
import type { Log } from "../../observe/log.ts";
import { UserError } from "../usage-error.ts";
import { becomes, type Patience } from "./cluster-objects.ts";
import { LEASE_WITHIN } from "./copies.ts";

export interface WithdrawalOptions extends Patience {
  readonly cluster: ClusterConfig;
  readonly modules: readonly LoadedModule[];
  readonly duty: Extract<Duty, "withdraw" | "release">;
  /** Prevents copies of the modules from working meanwhile. @default there is no election */
  readonly election: ElectionOptions | undefined;
  readonly concurrency: number;
  readonly version: string;
  readonly log: Log;
  readonly onProgress: (left: number) => void;
}

const GRACE = 5_000;

/** Resolves when no object has a finalizer of the modules. @throws UserError naming objects that still have one. */
export async function withdraw(options: WithdrawalOptions): Promise<void> {
  const { cluster, duty, election, log, concurrency, version, onProgress, signal } = options;
  const pause = new Pause();
  pause.isPaused = true;
  await using manager = new Manager({
    cluster,
    log,
    settings: { "grace-period": GRACE, concurrency },
    election,
    pause,
    version,
  });
  await manager.start();
  for (const module of options.modules) await manager.add(finalizing(module));
  manager.loaded();
  const controllers = manager.modules.controllers.filter(({ finalizers }) => finalizers.length > 0);
  const retirements = await Promise.all(controllers.map((controller) => controller.retire(duty, { grace: GRACE })));
  if (election !== undefined && !retirements.every(({ hasEnded }) => hasEnded)) await lead(manager, election, options);
  pause.isPaused = false;
  const hasEnded = await becomes(async () => {
    onProgress(sumOf(retirements));
    return retirements.every((one) => one.hasEnded);
  }, options);
  signal.throwIfAborted();
  if (hasEnded) return;
  const waiting = controllers.flatMap(({ name, state }) =>
    state.message === undefined ? [] : [`${name}: ${state.message}`],
  );
  const left = retirements
    .map(({ holders }) => holders)
    .filter(({ objects }) => objects > 0)
    .map(({ kind, objects, example }) => `${kind} (${objects}, such as ${example})`);
  throw new UserError(
    `Cannot finalize everything within ${options.timeout / 1_000} s: ${[...left, ...waiting].join("; ")}. ` +
      "Mend what keeps them and run this again, give it more time with --timeout, or leave out what `finalize` does with --release",
  );
}

async function lead(
  manager: Manager,
  { namespace, id }: ElectionOptions,
  { signal, timeout }: Patience,
): Promise<void> {
  const { elections } = manager;
  if (await becomes(async () => elections?.isLeader === true, { signal, timeout: Math.min(timeout, LEASE_WITHIN) }))
    return;
  throw new UserError(
    `Cannot uninstall while another copy works: it renews the Lease ${namespace}/${id}. Stop it and run this again, or say ` +
      "--ignore-lease when it does not run these modules",
  );
}

/** Returns the parts of a module that finalizing needs; they include its plugins, because a `finalize` may use them. */
function finalizing(module: LoadedModule): LoadedModule {
  const controllers = module.definitions.controllers.filter((one) => declarationsOf(one).finalizers.length > 0);
  return { ...module, definitions: { ...module.definitions, controllers, webhooks: [], resources: [] } };
}

function sumOf(retirements: readonly Retirement[]): number {
  return retirements.reduce((sum, { holders }) => sum + holders.objects, 0);
}
