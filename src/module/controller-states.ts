/** What the log says of a controller while it runs. */
import type { RunningController } from "../controller/controller.ts";
import type { Log } from "../observe/log.ts";

/** @returns what is to be called whenever the controller's state may have changed: it logs another one than the last. */
export function logStates(controller: Pick<RunningController, "name" | "state">, module: string, log: Log): () => void {
  let told: string = controller.state.kind;
  return () => {
    const { state } = controller;
    // Each new try of a controller that cannot work begins with syncing.
    if (state.kind === "syncing" || state.kind === told) return;
    told = state.kind;
    const reason = state.message === undefined ? {} : { reason: state.message };
    const fields = { module, controller: controller.name, ...reason };
    if (state.kind === "unavailable") log.warn("Controller unavailable", fields);
    else if (state.kind === "waiting") log.info("Controller waits", fields);
    else if (state.kind === "running") log.info("Controller runs", fields);
  };
}
