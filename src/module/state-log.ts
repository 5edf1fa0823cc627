/** Logs the states of a controller. */
import type { ControllerState } from "../controller/controller-state.ts";
import type { RunningController } from "../controller/running-controller.ts";
import type { Log } from "../observe/log.ts";

/** The states that are logged, each with its level and its text. */
const TOLD: Readonly<Partial<Record<ControllerState["kind"], readonly ["error" | "warn" | "info", string]>>> = {
  suspended: ["error", "Controller suspended"],
  slowed: ["warn", "Controller slowed"],
  unavailable: ["warn", "Controller unavailable"],
  waiting: ["info", "Controller waits"],
  running: ["info", "Controller runs"],
};

/** Returns a function to call when the state of the controller may have changed. */
export function stateLog(controller: Pick<RunningController, "name" | "module" | "state">, log: Log): () => void {
  let told: string = controller.state.kind;
  return () => {
    const { kind, message } = controller.state;
    // Each new attempt of a controller that cannot work begins with syncing.
    if (kind === "syncing" || kind === told) return;
    told = kind;
    const [level, words] = TOLD[kind] ?? [];
    if (level === undefined) return;
    const reason = message === undefined ? {} : { reason: message };
    log[level](words!, { module: controller.module, controller: controller.name, ...reason });
  };
}
