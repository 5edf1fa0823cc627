/** Detects the end of the controllers' start. */
import type { RunningController } from "../controller/controller.ts";

type Starting = Pick<RunningController, "hasSynced" | "onChange">;

/** Calls `then` once, as soon as all controllers have synced. */
export function onceSynced(controllers: readonly Starting[], then: () => void): void {
  const listening = new DisposableStack();
  const look = (): void => {
    if (listening.disposed || !controllers.every(({ hasSynced }) => hasSynced)) return;
    listening.dispose();
    then();
  };
  for (const controller of controllers) listening.use(controller.onChange(look));
  look();
}
