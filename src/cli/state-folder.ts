/** The folder in which `dev` keeps its state; only one process uses it at a time. */
import { chmodSync, lstatSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { lockFile } from "#runtime/file-lock";
import { writePrivate } from "../platform/private-file.ts";
import { messageOf } from "../platform/error-message.ts";
import { UserError } from "./usage-error.ts";

export interface StateFolder extends Disposable {
  readonly path: string;
  readonly kubeconfig: string;
  /** The folder of the objects. */
  readonly data: string;
  /** The previous port; 0 when there was none. */
  readonly port: number;
  /** Writes the kubeconfig of the server at this port. It is removed at the end of the process. */
  writeKubeconfig(text: string, port: number): void;
}

/**
 * Takes the folder.
 *
 * The lock is the operating system's lock of a file, so it ends with the process in any case.
 *
 * @throws UserError when another process has it.
 */
export function takeStateFolder(path: string): StateFolder {
  makeStateFolder(path);
  refuseLinks(path, ["lock", "data"]);
  writePrivate(join(path, ".gitignore"), "*\n");
  const pid = join(path, "pid");
  const kubeconfig = join(path, "kubeconfig");
  const lock = lockFile(join(path, "lock"));
  if (lock === undefined) {
    const who = read(pid);
    throw new UserError(
      `Cannot start in ${path}: another binnacle dev runs there${who === undefined ? "" : ` (process ${who})`}. ` +
        `Use it with kubectl --kubeconfig ${kubeconfig}, stop it first, or start in another folder`,
    );
  }
  writePrivate(pid, String(process.pid));
  // A process that was killed has left its kubeconfig, whose address leads to no server or to another one.
  const remove = (): void => rmSync(kubeconfig, { force: true });
  remove();
  process.once("exit", remove);
  const lastPort = join(path, "port");
  return {
    path,
    kubeconfig,
    data: join(path, "data"),
    port: Number(read(lastPort) ?? 0) || 0,
    writeKubeconfig(text, port) {
      writePrivate(lastPort, String(port));
      writePrivate(kubeconfig, text);
    },
    [Symbol.dispose]: () => {
      process.removeListener("exit", remove);
      remove();
      lock[Symbol.dispose]();
    },
  };
}

/**
 * Creates the folder. Nobody else may write to it, because it holds an administrator's kubeconfig.
 *
 * @throws UserError
 */
export function makeStateFolder(path: string): void {
  try {
    mkdirSync(path, { recursive: true, mode: 0o700 });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const why = code === "EEXIST" ? "a file with that name exists" : messageOf(error);
    throw new UserError(`${cannotKeep(path)}: ${why}. Start in a folder that can be written to`);
  }
  const stat = lstatSync(path);
  if (stat.isSymbolicLink()) throw new UserError(`${cannotKeep(path)}: it is a link. Remove it`);
  if (process.getuid !== undefined && stat.uid !== process.getuid())
    throw new UserError(`${cannotKeep(path)}: it belongs to another user. Remove it`);
  chmodSync(path, 0o700);
}

/** Rejects links: a link in a downloaded folder could make the state go to any place. */
function refuseLinks(path: string, names: readonly string[]): void {
  for (const name of names) {
    if (lstatSync(join(path, name), { throwIfNoEntry: false })?.isSymbolicLink() === true)
      throw new UserError(`${cannotKeep(path)}: ${name} is a link. Remove it`);
  }
}

function cannotKeep(path: string): string {
  return `Cannot keep the cluster's state in ${path}`;
}

function read(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8").trim();
  } catch {
    return undefined;
  }
}
