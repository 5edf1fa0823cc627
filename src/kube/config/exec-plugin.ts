/**
 * Runs the exec plugin of a kubeconfig.
 *
 * A plugin's output is never repeated in messages: a plugin that fails halfway may have printed half a token.
 *
 * @see https://kubernetes.io/docs/reference/access-authn-authz/authentication/#client-go-credential-plugins
 */
import type { ChildProcess } from "node:child_process";
import { access, constants, stat } from "node:fs/promises";
import { delimiter, isAbsolute, join, sep } from "node:path";
import type { ExecEntry } from "./kubeconfig-fields.ts";

/** A request waits for its credentials for at most half of its own timeout, so that the error names the plugin. */
const DEADLINE_MS = 30_000;
/** A token of the largest OIDC provider has 16 KiB, a chain of certificates 32. */
const MOST_OUTPUT_BYTES = 1024 * 1024;
const DEFAULT_VERSION = "client.authentication.k8s.io/v1";

export interface ExecCredential {
  readonly token: string | undefined;
  readonly cert: string | undefined;
  readonly key: string | undefined;
  /** Milliseconds since the epoch; Infinity when the plugin does not say. */
  readonly until: number;
}

export interface ExecOptions {
  readonly entry: ExecEntry & { readonly command: string };
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Properties of the cluster, for a plugin that needs them. */
  readonly cluster: object | undefined;
  /** Milliseconds. @default 30_000 */
  readonly deadline?: number | undefined;
}

/** @throws Error whose message completes "Cannot get credentials from the plugin:" and contains none of its output. */
export async function runExecPlugin(options: ExecOptions): Promise<ExecCredential> {
  const { entry } = options;
  const apiVersion = entry.apiVersion ?? DEFAULT_VERSION;
  if (entry.interactiveMode === "Always") throw new Error("it wants a person to type, and nobody can here");
  const command = await locate(entry.command, options.env["PATH"]);
  const info = {
    apiVersion,
    kind: "ExecCredential",
    spec: { interactive: false, ...(options.cluster && { cluster: options.cluster }) },
  };
  const env: Record<string, string | undefined> = { ...options.env };
  for (const { name, value } of entry.env ?? []) if (name) env[name] = value;
  env["KUBERNETES_EXEC_INFO"] = JSON.stringify(info);
  const output = await outputOf(command, {
    args: entry.args ?? [],
    env,
    deadline: options.deadline ?? DEADLINE_MS,
  });
  return credentialOf(output, apiVersion);
}

/**
 * Finds the command. A name without a path is searched on PATH, but never in the working directory, whose writers are
 * not trusted.
 */
async function locate(command: string, path = ""): Promise<string> {
  const places = command.includes(sep) ? [command] : folders(path).map((folder) => join(folder, command));
  let isThere = false;
  for (const place of places) {
    try {
      if (!(await stat(place)).isFile()) continue;
      isThere = true;
      await access(place, constants.X_OK);
      return place;
    } catch {
      // This file cannot be executed, but a file of that name in a later folder of PATH may be.
    }
  }
  if (isThere) throw new Error("the file may not be executed. Check its permissions");
  throw new MissingCommand();
}

function folders(path: string): string[] {
  return path.split(delimiter).filter((folder) => isAbsolute(folder));
}

/** The error of a command that does not exist. */
export class MissingCommand extends Error {
  constructor() {
    super("there is no such command");
  }
}

interface Run {
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly deadline: number;
}

async function outputOf(command: string, { args, env, deadline }: Run): Promise<string> {
  const { spawn } = await import("node:child_process");
  return new Promise((resolve, reject) => {
    const pieces: Uint8Array[] = [];
    let bytes = 0;
    // The plugin has its own process group, so that processes that it starts end with it.
    const child = spawn(command, [...args], { env, stdio: ["ignore", "pipe", "ignore"], detached: true });
    const kill = (): void => killGroup(child);
    const timer = setTimeout(() => fail(`it has not answered within ${deadline / 1_000} s`), deadline);
    const settle = (): void => {
      clearTimeout(timer);
      process.off("exit", kill);
    };
    const fail = (why: string): void => {
      settle();
      kill();
      child.stdout?.destroy();
      reject(new Error(why));
    };
    process.once("exit", kill);
    child.stdout?.on("data", (piece: Uint8Array) => {
      bytes += piece.length;
      if (bytes > MOST_OUTPUT_BYTES) fail(`it printed more than ${MOST_OUTPUT_BYTES / 1024 / 1024} MiB`);
      else pieces.push(piece);
    });
    child.once("error", (error) => fail(`it cannot be started (${"code" in error ? String(error.code) : error.name})`));
    child.once("close", (code, signal) => {
      if (code === 0) {
        settle();
        resolve(Buffer.concat(pieces).toString("utf8"));
      } else fail(signal === null ? `it ended with exit status ${code}` : `it was ended by ${signal}`);
    });
  });
}

function killGroup(child: ChildProcess): void {
  if (child.pid === undefined) return;
  try {
    process.kill(-child.pid, "SIGKILL");
  } catch {
    // The process has ended already.
  }
}

interface Answer {
  readonly apiVersion?: unknown;
  readonly kind?: unknown;
  readonly status?: {
    readonly token?: unknown;
    readonly clientCertificateData?: unknown;
    readonly clientKeyData?: unknown;
    readonly expirationTimestamp?: unknown;
  } | null;
}

function credentialOf(output: string, apiVersion: string): ExecCredential {
  let answer: Answer | null;
  try {
    answer = JSON.parse(output) as Answer | null;
  } catch {
    throw new Error("its output is not JSON");
  }
  if (answer?.kind !== "ExecCredential") throw new Error("what it printed is no ExecCredential");
  if (answer.apiVersion !== apiVersion) throw new Error(`what it printed is no ExecCredential of ${apiVersion}`);
  const status = answer.status ?? {};
  const [token, cert, key] = [status.token, status.clientCertificateData, status.clientKeyData].map(textOrNothing);
  if ((cert === undefined) !== (key === undefined)) throw new Error("it gave a client certificate without its key");
  if (token !== undefined && !/^[\t -~]*$/.test(token)) throw new Error("no header may hold the token that it gave");
  if (token === undefined && cert === undefined) {
    throw new Error("it gave neither a token nor a client certificate");
  }
  return { token, cert, key, until: timeOf(status.expirationTimestamp) };
}

function textOrNothing(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

function timeOf(value: unknown): number {
  if (value === undefined || value === null) return Infinity;
  const time = typeof value === "string" ? Date.parse(value) : Number.NaN;
  if (Number.isNaN(time)) throw new Error("the expirationTimestamp that it gave is no time");
  return time;
}
