/** The parts that one controller's parts share: its definition, the process around it, and its log, gate and end. */
import type { WriteGate } from "../kube/transport/write-gate.ts";
import type { Log } from "../observe/log.ts";
import { type Declarations, declarationsOf } from "./declarations.ts";
import type { AnyController } from "./definition.ts";
import type { Runtime } from "./runtime.ts";

export class ControllerGate implements WriteGate {
  readonly #outer: WriteGate;
  #closed: string | undefined;

  constructor(outer: WriteGate) {
    this.#outer = outer;
  }

  get refused(): string | undefined {
    return this.#closed ?? this.#outer.refused;
  }

  close(reason: string): void {
    this.#closed ??= reason;
  }
}

/** Calls a function of the author in the context of its module. */
export type Invoke = <T>(call: () => T) => T;

export interface ControllerScope {
  readonly controller: AnyController;
  readonly declarations: Declarations;
  /** The process, the same one for all controllers. */
  readonly runtime: Runtime;
  /** The module that the controller comes from. */
  readonly module: string;
  /** The log, with the names of module and controller. */
  readonly log: Log;
  /** Refuses writes once the process must not write any more, or the controller has stopped. */
  readonly gate: ControllerGate;
  /** Calls into the author's code in the context of its module. */
  readonly invoke: Invoke;
  /**
   * Calls a function of the author. If it throws, the error is logged with the name of its option, and the result is
   * `undefined`.
   */
  readonly call: <T>(what: string, call: () => T) => T | undefined;
  /** Fires when the controller is to stop. */
  readonly stopping: AbortSignal;
}

export function controllerScope(
  controller: AnyController,
  runtime: Runtime,
  { module, invoke, stopping }: Pick<ControllerScope, "module" | "invoke" | "stopping">,
): ControllerScope {
  const declarations = declarationsOf(controller);
  const log = runtime.log.with({ module, controller: declarations.name });
  return {
    controller,
    declarations,
    runtime,
    module,
    log,
    gate: new ControllerGate(runtime.leadership),
    invoke,
    call: (what, call) => {
      try {
        return invoke(call);
      } catch (error) {
        log.error(`A '${what}' function threw`, { error });
        return undefined;
      }
    },
    stopping,
  };
}
