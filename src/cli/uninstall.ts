/** `binnacle uninstall` */
import { electionDurations } from "./election-options.ts";
import { declarationsOf } from "../controller/declarations.ts";
import type { AnyController } from "../controller/definition.ts";
import { loadKubeconfig } from "../kube/config/kubeconfig.ts";
import type { ClusterConfig } from "../kube/config/cluster-config.ts";
import { createTransport, type Transport } from "../kube/transport/transport.ts";
import type { LoadedModule } from "../module/loaded-module.ts";
import { createLog } from "../observe/log.ts";
import { isTerminal } from "../observe/terminal.ts";
import { type Command, command, type Host } from "./command.ts";
import { faultsMessage, sourcesOf } from "./config-messages.ts";
import { loadModules } from "./loaded-modules.ts";
import { ProgressBar } from "./migration/progress-bar.ts";
import {
  contextOption,
  controllersOption,
  kubeconfigOption,
  moduleConfigOption,
  webhookServiceOption,
} from "./shared-options.ts";
import { nameOption, operatorAccount, serviceAccountOption } from "./operator-name.ts";
import { whenSignalled } from "./signals.ts";
import { unregister } from "./uninstall/admission.ts";
import { becomes, deletionTarget, find, type Patience, remove } from "./uninstall/cluster-objects.ts";
import { deleteObjects } from "./uninstall/children.ts";
import { noShardWorks, removeLease } from "./uninstall/copies.ts";
import { convertNoMore, objectsOf, storeAsRead, whatHoldsUp } from "./uninstall/definitions.ts";
import { type Deployment, deploymentPath, forget, hasNoPods, isRolledOut, takeOut } from "./uninstall/deployed.ts";
import { disempower } from "./uninstall/granted.ts";
import { isEmpty, makePlan, type Plan, type PlanOptions, shown, someObjects } from "./uninstall/plan.ts";
import { select } from "./uninstall/selection.ts";
import { withdraw } from "./uninstall/withdrawal.ts";
import { UsageError, UserError } from "./usage-error.ts";
import { reachOf } from "./webhook-address.ts";

const STANDARD_INPUT = 0;
const STANDARD_ERROR = 2;

export const uninstallCommand: Command = command({
  options: [
    {
      name: "module",
      type: "list",
      positional: true,
      describe: "Modules, by the names of their files, such as guestbook.ts",
    },
    controllersOption,
    moduleConfigOption,
    kubeconfigOption,
    contextOption,
    {
      name: "all",
      type: "boolean",
      default: false,
      describe: "All modules of the folder, and what `manifests deploy` has put there",
    },
    {
      name: "crds",
      type: "boolean",
      default: false,
      describe: "Delete the kinds that they define too, with all objects",
    },
    {
      name: "release",
      type: "boolean",
      default: false,
      describe: "Take finalizers off without calling `finalize`: what it would clean up stays",
    },
    { name: "dry-run", type: "boolean", default: false, describe: "Say what would be done, and change nothing" },
    { name: "yes", type: "boolean", default: false, describe: "Do not ask" },
    { name: "timeout", type: "duration", default: "5m", describe: "How long each step may wait" },
    {
      name: "concurrency",
      type: "number",
      default: 8,
      describe: "Objects of a controller that are finalized at the same time",
    },
    nameOption,
    serviceAccountOption,
    { ...webhookServiceOption, describe: `${webhookServiceOption.describe}; that of --service-account when left out` },
    {
      name: "leader-election-id",
      type: "string",
      describe: "Name of the Lease by which copies elect a leader; that of --service-account when left out",
    },
    {
      name: "leader-election-namespace",
      type: "string",
      describe: "Namespace of the Lease; that of --service-account when left out",
    },
    {
      name: "ignore-lease",
      type: "boolean",
      default: false,
      describe: "Go on while another process holds the Lease, which does not run these modules",
    },
  ],
  async run(values, host) {
    const sources = await sourcesOf({ env: host.env, paths: values["module-config"] ?? [] });
    const { modules, problems, configs } = await loadModules(values.controllers, host, { sources });
    if (problems.length > 0) throw new UserError(problems.join("\n"));
    const { all, crds, release } = values;
    const selection = select(modules, { names: values.module ?? [], all });
    const faults = selection.modules.flatMap(({ name, file }) =>
      (configs.get(file) ?? []).flatMap((config) => config.faults.map(({ message }) => `${name}: ${message}`)),
    );
    // Finalizing needs the configuration.
    if (faults.length > 0 && !release && !values["dry-run"]) throw new UsageError(faultsMessage(faults));
    const account = operatorAccount(values, host);
    const reach = reachOf({ "webhook-service": values["webhook-service"] });
    const service = reach !== undefined && "service" in reach ? reach.service : account;
    const id = values["leader-election-id"] ?? account.name;
    const lease = { namespace: values["leader-election-namespace"] ?? account.namespace, id };
    const { kubeconfig, context } = values;
    const cluster = await loadKubeconfig({ kubeconfig, context, env: host.env });
    await using transport = createTransport(cluster, { userAgent: `binnacle/${host.embedded.version} uninstall` });
    const stopping = new AbortController();
    void whenSignalled(() => stopping.abort(new UserError("Interrupted: run this again to go on"))).catch(() => {});
    const patience = { signal: stopping.signal, timeout: values.timeout };
    const planOptions: PlanOptions = {
      transport,
      selection,
      all,
      account,
      service,
      crds,
      release,
      lease,
      ignoresLease: values["ignore-lease"],
    };
    const plan = await makePlan(planOptions);
    const names = selection.modules.map(({ name }) => name).join(", ");
    if (isEmpty(plan, all)) {
      host.out(`Nothing of ${names} is on ${cluster.server}\n${plan.notes.map((note) => `     ${note}\n`).join("")}`);
      return 0;
    }
    host.out(`Uninstall ${names} from ${cluster.server} (context ${cluster.context}):\n${shown(plan, planOptions)}`);
    if (values["dry-run"]) return 0;
    if (!values.yes && !(await confirmed(host, stopping.signal))) {
      host.err("Nothing was changed\n");
      return 1;
    }
    return await carryOut({ planOptions, plan, cluster, host, patience, concurrency: values.concurrency });
  },
});

interface Work {
  readonly planOptions: PlanOptions;
  readonly plan: Plan;
  readonly cluster: ClusterConfig;
  readonly host: Host;
  readonly patience: Patience;
  readonly concurrency: number;
}

/** Carries out the plan. Each step makes the next one safe, and does nothing when it has been done already. */
async function carryOut(work: Work): Promise<number> {
  const { planOptions: asked, plan, host, patience, concurrency } = work;
  const { transport, service, selection, all, account } = asked;
  const { deployment, bindings, rest, leases } = plan.deployed;
  const unregisterAll = () =>
    unregister({ transport, service, modules: selection.modules, others: all ? undefined : selection.others });
  const convertNothing = async (): Promise<void> => {
    for (const one of plan.definitions) if (one.isConverted) await convertNoMore(transport, one);
  };
  for (const one of plan.rewrites) await storeAsRead(transport, one, { signal: patience.signal, concurrency });
  // Permissions go first: a process with them would register its webhooks again, and set finalizers anew.
  for (const one of bindings) if (one.isInForce) await disempower(transport, account, one);
  if (plan.mounted !== undefined) await rollOut(work);
  // Webhooks are about to stop answering, and the API server would refuse requests because of that.
  await unregisterAll();
  if (all && deployment !== undefined) {
    await stop(deployment, work);
    await unregisterAll(); // in case that an API server has learned late what the process may not do any more
  }
  patience.signal.throwIfAborted();
  // Releasing touches only metadata; finalizing stores objects in the version in which they are read.
  if (asked.release) await convertNothing();
  await finalize(work);
  await convertNothing();
  if (plan.mounted !== undefined) await forget(transport, asked.account, plan.mounted);
  for (const one of leases) {
    const holder = await removeLease(transport, one);
    if (holder !== undefined) host.err(`binnacle: ${one.what} stays: ${holder} holds it\n`);
  }
  for (const one of rest) await remove(transport, one);
  let status = 0;
  for (const one of plan.definitions) {
    patience.signal.throwIfAborted();
    // A definition whose deletion cannot finish would prevent anybody from defining the kind again.
    const held = whatHoldsUp(await objectsOf(transport, one.resource));
    const why =
      held === undefined
        ? await deleteObjects(transport, one, { ...patience, modules: selection.modules })
        : `its objects carry finalizers of others, and could not be deleted: ${held}`;
    if (why !== undefined) {
      host.err(`binnacle: ${one.what} stays: ${why}\n`);
      status = 1;
      continue;
    }
    await remove(transport, one);
    if (!(await becomes(async () => (await find(transport, one.path)) === undefined, patience)))
      throw new UserError(`Cannot delete ${one.what} within ${patience.timeout / 1_000} s: run this again`);
  }
  host.out(status === 0 ? "Done\n" : "Done, except for what is told above\n");
  return status;
}

async function stop(deployment: Deployment, { planOptions: asked, patience }: Work): Promise<void> {
  const { transport, account } = asked;
  const one = deletionTarget(deploymentPath(account), "Deployment", deployment);
  await remove(transport, one);
  if (await becomes(() => hasNoPods(transport, deployment), patience)) return;
  throw new UserError(`Cannot stop the pods of ${one.what} within ${patience.timeout / 1_000} s: run this again`);
}

async function rollOut({ planOptions: { transport, account }, plan, patience }: Work): Promise<void> {
  await takeOut(transport, account, plan.mounted!);
  const path = deploymentPath(account);
  const isDone = async (): Promise<boolean> => {
    const live = await find<Deployment>(transport, path);
    return live === undefined || isRolledOut(live);
  };
  if (await becomes(isDone, patience)) return;
  throw new UserError(
    `Cannot roll out Deployment ${account.namespace}/${account.name} within ${patience.timeout / 1_000} s: see \`kubectl rollout status\`, and run ` +
      "this again",
  );
}

function hasFinalizers(controller: AnyController): boolean {
  return declarationsOf(controller).finalizers.length > 0;
}

/** Checks that no copy that nobody knew of has set finalizers anew. @throws UserError */
async function checkNothingLeft(transport: Transport, modules: readonly LoadedModule[]): Promise<void> {
  const left: string[] = [];
  for (const controller of modules.flatMap(({ definitions }) => definitions.controllers)) {
    const { for: primary, finalizers } = declarationsOf(controller);
    if (primary === undefined || finalizers.length === 0) continue;
    const objects = await objectsOf(transport, primary.resource);
    for (const finalizer of finalizers) {
      const one = objects.finalizers.get(finalizer);
      if (one !== undefined)
        left.push(`${finalizer} on ${primary.resource.kind} (${one.objects}, such as ${one.example})`);
    }
  }
  if (left.length === 0) return;
  throw new UserError(
    `Cannot finish: finalizers have come back, because another copy of the modules works: ${left.join("; ")}. Stop it, and run this again`,
  );
}

async function finalize({ planOptions: asked, plan, cluster, host, patience, concurrency }: Work): Promise<void> {
  const { transport, selection, release, lease } = asked;
  const finalizing = selection.modules.filter((module) => module.definitions.controllers.some(hasFinalizers));
  // A copy that stopped only now may have added finalizers after planning.
  if (finalizing.length === 0 || (plan.carried.length === 0 && plan.deployed.deployment === undefined)) return;
  if (plan.hasCopies) await noShardWorks(transport, lease, patience);
  const total = plan.carried.reduce((sum, { objects }) => sum + objects, 0);
  const bar = new ProgressBar({ isTerminal: isTerminal(STANDARD_ERROR), write: host.err });
  const log = createLog({
    level: "warn",
    format: "pretty",
    write: (line) => {
      bar.clear();
      host.err(line);
    },
  });
  try {
    await withdraw({
      ...patience,
      cluster,
      modules: finalizing,
      duty: release ? "release" : "withdraw",
      election: plan.elects && { ...electionDurations(), ...lease, mode: plan.elects, release: true },
      concurrency,
      version: host.embedded.version,
      log,
      onProgress: (left) => {
        if (left > 0) bar.show(Math.max(0, total - left), total);
      },
    });
  } finally {
    bar.clear();
  }
  await checkNothingLeft(transport, finalizing);
  if (total > 0) host.out(`${someObjects(total)} ${release ? "released" : "finalized"}\n`);
}

/** Asks on the terminal. @throws UserError when nobody can answer. */
async function confirmed({ err }: Host, signal: AbortSignal): Promise<boolean> {
  if (!isTerminal(STANDARD_INPUT))
    throw new UserError(
      "Cannot ask whether to go on: standard input is no terminal. Say --yes, or --dry-run to see what would be done",
    );
  err("Go on? [y/N] ");
  const answer = await new Promise<string>((resolve) => {
    process.stdin.once("data", (bytes: Buffer) => resolve(bytes.toString("utf8")));
    process.stdin.once("end", () => resolve(""));
    signal.addEventListener("abort", () => resolve(""), { once: true });
  });
  process.stdin.pause();
  return /^y(es)?$/i.test(answer.trim());
}
