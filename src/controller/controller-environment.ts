/** What the runs of a controller share: its client, its gate, and the process around it. */
import type { AppliedMemory } from "../client/applied-memory.ts";
import type { SharedInformer } from "../cache/shared-informer.ts";
import { clientCore } from "../client/kube-client.ts";
import type { WriteGate } from "../client/write-gate.ts";
import type { Log } from "../observe/log.ts";
import type { ControllerEnvironment } from "../reconcile/run.ts";
import { declarationsOf } from "./declarations.ts";
import type { AnyController } from "./definition.ts";
import type { Runtime } from "./runtime.ts";
import { warnOnce } from "./undeclared-calls.ts";

export interface ControllerEnvironmentParts {
  readonly module: string;
  /** Its informers by `groupKind`. */
  readonly declared: ReadonlyMap<string, SharedInformer[]>;
  readonly gate: WriteGate;
  /** The log, with the names of module and controller. */
  readonly log: Log;
  /** What the previous version knows to be on the server. @default nothing */
  readonly applied: AppliedMemory | undefined;
  /** What the author's code writes the controller's metrics with. @default none */
  readonly metrics: object | undefined;
}

export function controllerEnvironment(
  controller: AnyController,
  runtime: Runtime,
  { module, declared, gate, log, applied, metrics }: ControllerEnvironmentParts,
): ControllerEnvironment {
  const { transport, mapper, informers, clock } = runtime;
  const { name, permissions } = declarationsOf(controller);
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
