/** Keeps modules from harming the process that they share with others. */
import { guardRuntime } from "#runtime/guard";
import { isModuleCode } from "./error-owner.ts";
import { followProcessListeners } from "./process-listeners.ts";
import type { Refused } from "./refused.ts";

/** Functions of `process`, each with a description of its effect. */
const REFUSED: Readonly<Record<string, string>> = {
  exit: "end the process",
  reallyExit: "end the process",
  abort: "end the process",
  execve: "replace the process",
  chdir: "change the working directory",
  removeAllListeners: "remove the listeners of the process",
  setUncaughtExceptionCaptureCallback: "take over the errors of the process",
};

let isGuarded = false;

/**
 * From now on the code of modules cannot end the process, replace it, change its directory or remove its signal
 * handlers: such a call throws, and the module gets it like any other error. This protects from mistakes, not from
 * malice.
 */
export function guardProcess(): void {
  if (isGuarded) return;
  isGuarded = true;
  for (const [name, deed] of Object.entries(REFUSED)) refuse(process, { name, call: `process.${name}`, deed });
  guardRuntime(refuse);
  followProcessListeners();
  const kill = process.kill.bind(process);
  process.kill = (pid, signal) => {
    // Zero and negative numbers mean groups to which this process may belong.
    if ((pid <= 0 || pid === process.pid) && signal !== 0 && isModuleCode())
      throw refusal("process.kill", "end the process");
    return kill(pid, signal);
  };
}

/** Makes a function throw when code of a module calls it. */
function refuse(owner: object, { name, call, deed }: Refused): void {
  const functions = owner as Record<string, ((...args: unknown[]) => unknown) | undefined>;
  const own = functions[name];
  if (own === undefined) return;
  functions[name] = (...args) => {
    if (isModuleCode()) throw refusal(call, deed);
    return own.apply(owner, args);
  };
}

function refusal(call: string, deed: string): Error {
  return new Error(`Cannot ${deed} with ${call}: other modules run in it too. Throw an error instead`);
}
