/** How this user's commands find the debug listener of a process on this machine. */
import { homedir, tmpdir, userInfo } from "node:os";
import { join } from "node:path";

/** The content of the private file of a process; its name is the port. */
export interface DebugFile {
  readonly address: string;
  readonly pid: number;
  /** The token that actions need. */
  readonly token: string;
  /** The folder in which the process runs, by which people recognise it. */
  readonly folder: string;
}

/** The audience for which the owner of a kubeconfig requests a token of a pod's ServiceAccount. */
export const DEBUG_AUDIENCE = "binnacle-debug";

/** The folder of the files, which only this user can read. */
export function debugFolder(env: Readonly<Record<string, string | undefined>>): string {
  const { XDG_RUNTIME_DIR: runtime, XDG_CACHE_HOME: cache, HOME: home } = env;
  if (runtime) return join(runtime, "binnacle");
  if (cache) return join(cache, "binnacle", "debug");
  return home ? join(homedir(), ".cache", "binnacle", "debug") : join(tmpdir(), `binnacle-debug-${userInfo().uid}`);
}
