/** `binnacle run` */
import { compileAsUsual } from "#runtime/compilers";
import { loadKubeconfig } from "../kube/config/kubeconfig.ts";
import { createLog } from "../observe/log.ts";
import { isTerminal } from "../observe/terminal.ts";
import { type Command, command } from "./command.ts";
import { onceSynced } from "./once-synced.ts";
import { runControllers } from "./run-controllers.ts";
import { runOptions } from "../settings/run-options.ts";
import { longestEnd, stopSignal } from "./signals.ts";

/** The file descriptor; `process.stderr` would create a stream that takes 0.6 MiB. */
const STANDARD_ERROR = 2;

export const runCommand: Command = command({
  options: runOptions,
  run(values, host) {
    const format = values["log-format"] ?? (isTerminal(STANDARD_ERROR) ? "pretty" : "json");
    const log = createLog({ level: values["log-level"], format });
    return runControllers(values, {
      host,
      log,
      format,
      signalled: stopSignal(log, { within: longestEnd(values) }),
      onStarted: (manager) => onceSynced(manager.modules.controllers, compileAsUsual),
      cluster: () => loadKubeconfig({ kubeconfig: values.kubeconfig, context: values.context, env: host.env }),
    });
  },
});
