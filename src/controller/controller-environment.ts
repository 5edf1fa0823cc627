/** What the runs of a controller share: its client, its gate, and the process around it. */
import type { AppliedMemory } from "../client/applied-memory.ts";
import type { SharedInformer } from "../cache/shared-informer.ts";
import { clientCore } from "../client/kube-client.ts";
import type { ControllerEnvironment } from "../reconcile/run.ts";
import type { ControllerScope } from "./controller-scope.ts";
import { warnOnce } from "./undeclared-calls.ts";

export interface ControllerEnvironmentParts {
  /** The informers of the controller by `groupKind`. */
  readonly declared: ReadonlyMap<string, SharedInformer[]>;
  /** What the previous version knows to be on the server. @default nothing */
  readonly applied: AppliedMemory | undefined;
  /** What the author's code writes the controller's metrics with. @default none */
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
