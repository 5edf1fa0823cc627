/** Reads kubeconfig files and merges them as kubectl does: the first value wins. */
import { dirname, isAbsolute, resolve, sep } from "node:path";
import { parseYaml } from "#runtime/yaml";
import { ConfigError } from "./config-error.ts";
import { MOST_KUBECONFIG_BYTES, readConfigFile, UnreadableFile } from "./config-file.ts";
import {
  checkEntry,
  type ClusterEntry,
  type ContextEntry,
  type ExecEntry,
  type UserEntry,
} from "./kubeconfig-fields.ts";

/** One entry with the file that contains it, for messages. */
export interface Located<T> {
  readonly entry: T;
  readonly file: string;
}

/** The merged content of one or more kubeconfig files; relative paths are made absolute. */
export interface Kubeconfig {
  /** Whether the kubeconfig describes the account of the pod in which this process runs. @default false */
  readonly isInCluster?: boolean | undefined;
  readonly files: readonly string[];
  readonly currentContext: string | undefined;
  readonly clusters: ReadonlyMap<string, Located<ClusterEntry>>;
  readonly users: ReadonlyMap<string, Located<UserEntry>>;
  readonly contexts: ReadonlyMap<string, Located<ContextEntry>>;
}

/**
 * Reads and merges kubeconfig files.
 *
 * @param options.skipMissing whether to skip files that do not exist, as kubectl does for `$KUBECONFIG`.
 * @throws ConfigError when a file cannot be read or is not a kubeconfig.
 */
export async function readKubeconfig(
  files: readonly string[],
  options: { skipMissing?: boolean } = {},
): Promise<Kubeconfig> {
  const clusters = new Map<string, Located<ClusterEntry>>();
  const users = new Map<string, Located<UserEntry>>();
  const contexts = new Map<string, Located<ContextEntry>>();
  const read: string[] = [];
  let currentContext: string | undefined;
  for (const file of files) {
    const content = await readOne(file, options.skipMissing ?? false);
    if (content === undefined) continue;
    read.push(file);
    currentContext ||= textIn(content, "current-context");
    collect(content, { file, item: "cluster", into: clusters, paths: ["certificate-authority"] });
    collect(content, { file, item: "user", into: users, paths: ["client-certificate", "client-key", "tokenFile"] });
    collect(content, { file, item: "context", into: contexts, paths: [] });
  }
  return { files: read, currentContext: currentContext || undefined, clusters, users, contexts };
}

async function readOne(file: string, skipMissing: boolean): Promise<Record<string, unknown> | undefined> {
  let text: string;
  try {
    text = await readConfigFile(file, MOST_KUBECONFIG_BYTES);
  } catch (error) {
    if (!(error instanceof UnreadableFile)) throw error;
    if (skipMissing && error.isMissing) return undefined;
    throw new ConfigError(`Cannot read the kubeconfig ${file}: ${error.message}`);
  }
  let content: unknown;
  try {
    content = await parseYaml(text);
  } catch (error) {
    const why = error instanceof Error ? (error.message.split("\n")[0] ?? "").replace(/:$/, "") : String(error);
    throw new ConfigError(`Cannot use the kubeconfig ${file}: it is not YAML: ${why}`);
  }
  if (content === null || content === undefined) return {};
  if (typeof content !== "object" || Array.isArray(content)) {
    throw new ConfigError(
      `Cannot use the kubeconfig ${file}: it holds ${Array.isArray(content) ? "a list" : `a ${typeof content}`}, not a ` +
        `kubeconfig (an object with clusters, users and contexts)`,
    );
  }
  return content as Record<string, unknown>;
}

interface Collection<T> {
  readonly file: string;
  readonly item: "cluster" | "user" | "context";
  readonly into: Map<string, Located<T>>;
  /** The fields that hold a path, relative to the file. */
  readonly paths: readonly string[];
}

function collect<T>(content: Record<string, unknown>, { file, item, into, paths }: Collection<T>): void {
  const from = dirname(resolve(file));
  const list = content[`${item}s`];
  if (list === undefined || list === null) return;
  if (!Array.isArray(list)) throw new ConfigError(`Cannot use the kubeconfig ${file}: ${item}s is not a list`);
  list.forEach((element: unknown, index) => {
    const named = element as Record<string, unknown> | null;
    const name = typeof named?.["name"] === "string" ? named["name"] : undefined;
    if (!named || name === undefined) {
      throw new ConfigError(`Cannot use the kubeconfig ${file}: ${item}s[${index}] has no name`);
    }
    const fields = named[item];
    checkEntry(item, fields, `${item} "${name}" of ${file}`);
    if (into.has(name)) return;
    const entry: Record<string, unknown> = { ...(fields as object | null | undefined) };
    for (const path of paths) {
      const value = entry[path];
      if (typeof value === "string" && value !== "" && !isAbsolute(value)) entry[path] = resolve(from, value);
    }
    const exec = entry["exec"] as ExecEntry | null | undefined;
    // A name alone is looked for on PATH, as in a shell.
    if (exec?.command?.includes(sep) === true && !isAbsolute(exec.command)) {
      entry["exec"] = { ...exec, command: resolve(from, exec.command) };
    }
    into.set(name, { entry: entry as T, file });
  });
}

function textIn(content: Record<string, unknown>, field: string): string | undefined {
  const value = content[field];
  return typeof value === "string" ? value : undefined;
}
