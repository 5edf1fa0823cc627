/** The parts that a controller's runs share: its client, its gate, and the process around it. */
import type { SharedInformer } from "../cache/shared-informer.ts";
import type { AppliedMemory } from "../client/applied-memory.ts";
import type { ClientScope } from "../client/client-scope.ts";
import { clientCore } from "../client/kube-client.ts";
import { declarationOf } from "../client/undeclared-call.ts";
import type { Log } from "../observe/log.ts";
import { exponential } from "../queue/rate-limiter.ts";
import type { WorkQueue } from "../queue/work-queue.ts";
import { finalizerName } from "../reconcile/finalizer.ts";
import type { ControllerEnvironment, ObjectControllerEnvironment } from "../reconcile/run.ts";
import { StatusContention } from "../reconcile/status-contention.ts";
import { KnownStatusShape } from "../reconcile/status-shape.ts";
import { groupKind } from "../resource/handle.ts";
import type { ControllerScope } from "./controller-scope.ts";
import type { WatchedKinds } from "./watched-kinds.ts";

export interface ControllerEnvironmentParts {
  /** The informers of the controller by `groupKind`. */
  readonly declared: ReadonlyMap<string, SharedInformer[]>;
  /** The previous version's memory of applied fields. @default nothing */
  readonly applied: AppliedMemory | undefined;
  /** The metrics object of the author's code. @default none */
  readonly metrics: object | undefined;
}

export function controllerEnvironment(
  { runtime, declarations, module, gate, log }: ControllerScope,
  { declared, applied, metrics }: ControllerEnvironmentParts,
): ControllerEnvironment {
  const { transport, mapper, informers, clock } = runtime;
  const { name, permissions } = declarations;
  const onUndeclared = runtime.warnUndeclared ? warnOnce(log) : undefined;
  const scope = { transport, mapper, informers, manager: name, declared, permissions, onUndeclared };
  return {
    controller: name,
    core: clientCore(scope, applied),
    transport,
    mapper,
    clock,
    log: runtime.log.with({ module }),
    events: runtime.events.for(name, runtime.leadership),
    metrics,
    services: runtime.services?.use,
    gate,
  };
}

export function warnOnce(log: Pick<Log, "warn">): ClientScope["onUndeclared"] {
  const warned = new Set<string>();
  return (resource, verb, subresource) => {
    const call = `${verb} ${groupKind(resource)}${subresource === undefined ? "" : `/${subresource}`}`;
    if (warned.has(call)) return;
    warned.add(call);
    log.warn(`A call is not declared: add \`${declarationOf({ resource, verbs: [verb], subresource })}\``, { call });
  };
}

/** The first wait of a key that skipped children: caches do not show changes of other owners' objects. */
const SKIPPED_FIRST_MS = 1_000;
const SKIPPED_MOST_MS = 300_000;
const SKIPPED = Object.freeze({ source: "skipped children", type: "generic" });

/** The further parts that the runs of a controller's objects share. */
export function objectEnvironment(
  { declarations, runtime }: ControllerScope,
  {
    environment,
    kinds,
    queue,
  }: {
    readonly environment: ControllerEnvironment;
    readonly kinds: WatchedKinds;
    readonly queue: Pick<WorkQueue, "add">;
  },
): ObjectControllerEnvironment {
  const { name, formerly } = declarations;
  const { resource } = declarations.for!;
  const { transport, core } = environment;
  const delays = exponential(SKIPPED_FIRST_MS, SKIPPED_MOST_MS);
  return {
    ...environment,
    resource,
    statusShape: new KnownStatusShape({ resource, transport, isDefined: () => runtime.definedKinds.has(resource) }),
    managers: [name, ...formerly],
    owned: kinds.owned,
    childrenCondition: `${finalizerName(resource, name)}-children`,
    skippedChildren: (key, isAny) => {
      if (isAny) queue.add(key, { after: delays.delay(key), cause: SKIPPED });
      else delays.forget(key);
    },
    contention: new StatusContention((object) => kinds.primary?.isListed(object) !== false),
    latest: (key) => kinds.primary?.store.get(key),
    memory: core.applied,
  };
}
