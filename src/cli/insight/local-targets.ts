/** Finds the processes of this user on this machine that have a debug listener. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type DebugFile, debugFolder } from "../../server/debug/debug-file.ts";
import { UserError } from "../usage-error.ts";
import type { DebugTarget } from "./debug-client.ts";

/**
 * Returns the process with the address, or the only one; among several the one that runs in this folder.
 *
 * @throws UserError when there is none, or no way to tell which one is meant.
 */
export function localTargets(
  address: string | undefined,
  env: Readonly<Record<string, string | undefined>>,
): readonly DebugTarget[] {
  const folder = debugFolder(env);
  const files = debugFiles(folder);
  if (address !== undefined) {
    const port = address.split(":").at(-1);
    const file = files.find((one) => one.address === address || one.address.split(":").at(-1) === port);
    return [file === undefined ? withoutToken(address, folder) : targetOf(file)];
  }
  const here = files.filter((file) => file.folder === process.cwd());
  const candidates = here.length === 1 ? here : files;
  if (candidates.length === 1) return candidates.map(targetOf);
  if (candidates.length === 0)
    throw new UserError(
      "None of your processes on this machine has a debug listener: start one with --debug-bind-address 127.0.0.1:8082, " +
        "or name an operator in the cluster with --deployment",
    );
  const list = candidates
    .map((file) => `\n  --address ${file.address}  process ${file.pid} in ${file.folder}`)
    .join("");
  throw new UserError(`Several processes have a debug listener. Choose one:${list}`);
}

function debugFiles(folder: string): readonly DebugFile[] {
  let names: readonly string[];
  try {
    names = readdirSync(folder);
  } catch {
    return [];
  }
  return names
    .filter((name) => /^\d+\.json$/.test(name))
    .flatMap((name) => {
      try {
        const file = JSON.parse(readFileSync(join(folder, name), "utf8")) as DebugFile;
        process.kill(file.pid, 0); // a process that was killed has left its file
        return [file];
      } catch {
        return [];
      }
    })
    .sort((a, b) => (a.address < b.address ? -1 : 1));
}

function targetOf({ address, token }: DebugFile): DebugTarget {
  return { name: address, address, token: () => Promise.resolve(token) };
}

/** A process whose token is unknown: it can be read, and refuses actions. */
function withoutToken(address: string, folder: string): DebugTarget {
  return {
    name: address,
    address,
    token: () =>
      Promise.reject(
        new UserError(
          `Cannot act on ${address}: ${folder} has no token for it. Only the user who runs the process has the token`,
        ),
      ),
  };
}
