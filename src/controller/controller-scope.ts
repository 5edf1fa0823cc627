/** What the parts of one controller share: its definition, the process around it, and its log, gate and end. */
import type { Log } from "../observe/log.ts";
import { ControllerGate } from "./controller-gate.ts";
import { type Declarations, declarationsOf } from "./declarations.ts";
import type { AnyController } from "./definition.ts";
import type { Invoke } from "./object-reconciler.ts";
import type { Runtime } from "./runtime.ts";

export interface ControllerScope {
  readonly controller: AnyController;
  readonly declarations: Declarations;
  /** The process, which gives all controllers the same. */
  readonly runtime: Runtime;
  /** The module that the controller comes from. */
  readonly module: string;
  /** The log, with the names of module and controller. */
  readonly log: Log;
  /** Refuses writes once the process must not write any more, or the controller has stopped. */
  readonly gate: ControllerGate;
  /** Calls into the author's code in the context of its module. */
  readonly invoke: Invoke;
  /** Fires when the controller is to stop. */
  readonly stopping: AbortSignal;
}

export function controllerScope(
  controller: AnyController,
  runtime: Runtime,
  { module, invoke, stopping }: Pick<ControllerScope, "module" | "invoke" | "stopping">,
): ControllerScope {
  const declarations = declarationsOf(controller);
  return {
    controller,
    declarations,
    runtime,
    module,
    log: runtime.log.with({ module, controller: declarations.name }),
    gate: new ControllerGate(runtime.leadership),
    invoke,
    stopping,
  };
}
