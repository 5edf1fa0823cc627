/** A replica of an operator: one process after another behind a proxy, each with a user of its own. */
import { appendFile, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { ControlPlane } from "../../scripts/controlplane/controlplane.ts";
import { freePorts } from "../../src/testing/control-plane/ports.ts";
import { TcpProxy } from "../support/tcp-proxy.ts";
import { program } from "../support/program.ts";
import { type ProcessRecord, readRuns, type RunRecord } from "./records.ts";

/** What a process of the operator gets besides `KUBECONFIG`, `PORT`, `HA_RECORDS` and `LEADER_ELECT=1`. */
export interface ReplicaOptions {
  readonly plane: ControlPlane;
  /** The folder of kubeconfigs, logs and records. */
  readonly dir: string;
  readonly name: string;
  readonly lease: { readonly namespace: string; readonly name: string };
  /** Makes the command line for the process's environment. */
  readonly command: (env: Readonly<Record<string, string>>) => readonly string[];
}

/** Runs the compiled binary, or the program that `BINNACLE_PROGRAM` names, with the modules of a folder. */
export function binnacle(controllers: string): ReplicaOptions["command"] {
  return (env) => [
    program,
    "run",
    `--controllers=${controllers}`,
    `--kubeconfig=${env["KUBECONFIG"]}`,
    `--health-probe-bind-address=127.0.0.1:${env["PORT"]}`,
    "--metrics-bind-address=0",
    "--log-format=json",
    "--leader-elect",
    `--leader-election-id=${env["LEADER_ELECTION_ID"]}`,
    `--leader-election-namespace=${env["LEADER_ELECTION_NAMESPACE"]}`,
  ];
}

interface Running {
  readonly user: string;
  readonly child: Bun.Subprocess;
  readonly records: string;
  readonly port: string;
  readonly stops: { from: number; until: number }[];
  ended: number | undefined;
  /** Whether it was told to end. */
  isExpected: boolean;
}

export class Replica implements AsyncDisposable {
  readonly proxy: TcpProxy;
  /** How often a process ended without being told to. */
  exits = 0;
  readonly #options: ReplicaOptions;
  readonly #processes: Running[] = [];
  #stopped = false;

  private constructor(options: ReplicaOptions, proxy: TcpProxy) {
    this.#options = options;
    this.proxy = proxy;
  }

  /** Starts the first process; another one follows when it ends by itself, as in a Deployment. */
  static async start(options: ReplicaOptions): Promise<Replica> {
    const replica = new Replica(options, await TcpProxy.start(options.plane.url));
    await replica.begin();
    return replica;
  }

  /** The user of the running process. */
  get user(): string {
    return this.#current.user;
  }

  /** Starts a process. The previous one must have ended. */
  async begin(): Promise<void> {
    const { plane, dir, name, lease, command } = this.#options;
    const user = `${name}-${this.#processes.length + 1}`;
    const own = await plane.userKubeconfig(user, { groups: ["ha-operators"] });
    const kubeconfig = join(dir, `${user}.kubeconfig`);
    await writeFile(kubeconfig, (await readFile(own, "utf8")).replaceAll(plane.url, this.proxy.url));
    const records = join(dir, `${user}.records`);
    const [port] = await freePorts(1);
    const env = {
      PATH: process.env["PATH"] ?? "",
      HOME: dir,
      KUBECONFIG: kubeconfig,
      PORT: String(port),
      HA_RECORDS: records,
      LEADER_ELECT: "1",
      LEADER_ELECTION_ID: lease.name,
      LEADER_ELECTION_NAMESPACE: lease.namespace,
    };
    const log = Bun.file(join(dir, `${user}.log`));
    const child = Bun.spawn([...command(env)], { cwd: dir, env, stdin: "ignore", stdout: log, stderr: log });
    const running: Running = {
      user,
      child,
      records,
      port: env.PORT,
      stops: [],
      ended: undefined,
      isExpected: false,
    };
    this.#processes.push(running);
    void child.exited.then(() => this.#ended(running));
  }

  async isReady(): Promise<boolean> {
    try {
      const { ok } = await fetch(`http://127.0.0.1:${this.#current.port}/readyz`, {
        signal: AbortSignal.timeout(2_000),
      });
      return ok;
    } catch {
      return false;
    }
  }

  /** Sends SIGTERM; resolves with the exit status, or after a minute with that of SIGKILL. */
  async terminate(): Promise<number> {
    const { child } = this.#current;
    this.#current.isExpected = true;
    child.kill("SIGTERM");
    const late = setTimeout(() => child.kill("SIGKILL"), 60_000);
    const code = await child.exited;
    clearTimeout(late);
    return code;
  }

  /** Sends SIGKILL. */
  async crash(): Promise<void> {
    this.#current.isExpected = true;
    this.#current.child.kill("SIGKILL");
    await this.#current.child.exited;
  }

  /** Sends SIGSTOP, and SIGCONT after so many milliseconds. */
  async stopFor(ms: number): Promise<void> {
    const { child, stops } = this.#current;
    const stop = { from: Date.now(), until: Infinity };
    stops.push(stop);
    child.kill("SIGSTOP");
    await Bun.sleep(ms);
    stop.until = Date.now();
    child.kill("SIGCONT");
  }

  /** Returns the log of the running process. */
  log(): Promise<string> {
    return readFile(join(this.#options.dir, `${this.user}.log`), "utf8");
  }

  /** Returns the runs that all its processes recorded. */
  async runs(): Promise<readonly RunRecord[]> {
    const all = await Promise.all(
      this.#processes.map(({ records, ...process }) => readRuns(records, process satisfies ProcessRecord)),
    );
    return all.flat();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopped = true;
    this.#current.isExpected = true;
    this.#current.child.kill("SIGKILL");
    await this.#current.child.exited;
    await this.proxy[Symbol.asyncDispose]();
  }

  get #current(): Running {
    return this.#processes.at(-1)!;
  }

  async #ended(running: Running): Promise<void> {
    running.ended = Date.now();
    if (running.isExpected || this.#stopped) return;
    this.exits++;
    const { dir, name } = this.#options;
    await appendFile(join(dir, `${name}.exits`), `${running.user} ended with ${running.child.exitCode}\n`);
    await Bun.sleep(1_000);
    if (!this.#stopped && this.#current === running) await this.begin();
  }
}
