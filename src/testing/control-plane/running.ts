/** A control plane that runs: what tests do with it. */

import { spawn } from "node:child_process";
import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { sleep } from "../../platform/clock.ts";
import type { Ports } from "./flags.ts";
import { writeKubeconfig } from "./kubeconfig.ts";
import type { Pki } from "./pki.ts";
import type { Program } from "./program.ts";
import { removeState, writeState } from "./state.ts";

export type ProgramName = "etcd" | "kube-apiserver" | "kube-controller-manager";

export interface Output {
  readonly stdout: string;
  readonly stderr: string;
  readonly exitCode: number;
}

/** A request as the API server saw it. @see https://kubernetes.io/docs/reference/config-api/apiserver-audit.v1/ */
export interface AuditEvent {
  readonly verb: string;
  readonly requestURI: string;
  readonly userAgent?: string;
  readonly user: { readonly username: string };
  readonly objectRef?: {
    readonly resource?: string;
    readonly namespace?: string;
    readonly name?: string;
    readonly apiGroup?: string;
    readonly subresource?: string;
  };
  readonly responseStatus?: { readonly code: number };
  readonly requestReceivedTimestamp: string;
}

export interface UserOptions {
  readonly groups?: readonly string[] | undefined;
  /** Until when the certificate is valid; in the past for one that has expired. @default in ten years */
  readonly notAfter?: Date | undefined;
}

export class ControlPlane {
  readonly dir: string;
  /** `https://127.0.0.1:<port>` */
  readonly url: string;
  /** A file: CA, client certificate and key embedded, group system:masters, context kind-kind. */
  readonly kubeconfig: string;
  readonly #pki: Pki;
  readonly #tls: { readonly ca: string; readonly cert: string; readonly key: string };
  readonly #programs: ReadonlyMap<ProgramName, Program>;
  readonly #kubectl: string;
  readonly #ports: Ports;
  readonly #temporary: boolean;

  /** @internal Made by startControlPlane. */
  constructor(parts: {
    dir: string;
    ports: Ports;
    pki: Pki;
    programs: ReadonlyMap<ProgramName, Program>;
    kubectl: string;
    temporary: boolean;
  }) {
    this.dir = parts.dir;
    this.url = `https://127.0.0.1:${parts.ports.api}`;
    this.kubeconfig = join(parts.dir, "kubeconfig");
    this.#ports = parts.ports;
    this.#pki = parts.pki;
    this.#programs = parts.programs;
    this.#kubectl = parts.kubectl;
    this.#temporary = parts.temporary;
    const admin = parts.pki.client({ name: "kubernetes-admin", groups: ["system:masters"] });
    this.#tls = { ca: parts.pki.authority.cert, ...admin };
  }

  /** Starts all programs and waits until they are ready. @internal */
  async up(): Promise<void> {
    const { ca, cert, key } = this.#tls;
    await writeKubeconfig(this.kubeconfig, { server: this.url, authority: ca, client: { cert, key } });
    this.#program("etcd").start();
    await this.restart("kube-apiserver");
    if (this.#programs.has("kube-controller-manager")) await this.restart("kube-controller-manager");
  }

  async kubectl(...args: string[]): Promise<Output> {
    return this.#runKubectl(args);
  }

  /** `kubectl apply -f -`; throws with kubectl's words when it fails. */
  async apply(manifest: string): Promise<string> {
    const { stdout, stderr, exitCode } = await this.#runKubectl(["apply", "-f", "-"], manifest);
    if (exitCode !== 0) throw new Error(`kubectl apply ended with ${exitCode}: ${stderr.trim()}`);
    return stdout;
  }

  /** A request with the administrator's certificate. */
  async request(path: string, init: RequestInit = {}): Promise<Response> {
    return await fetch(`${this.url}${path}`, { ...init, tls: this.#tls });
  }

  /** What kube-apiserver counts, as Prometheus text. */
  async metrics(): Promise<string> {
    return await (await this.request("/metrics")).text();
  }

  /** Every request answered so far; needs the option `audit`. */
  async audit(): Promise<AuditEvent[]> {
    const lines = (await readFile(join(this.dir, "audit.log"), "utf8")).split("\n");
    return lines.filter((line) => line !== "").map((line) => JSON.parse(line) as AuditEvent);
  }

  /** Writes the kubeconfig of another user, who may do nothing until RBAC says so, and returns its path. */
  async userKubeconfig(name: string, { groups, notAfter }: UserOptions = {}): Promise<string> {
    const file = join(this.dir, `kubeconfig-${encodeURIComponent(name)}${notAfter ? `-${notAfter.getTime()}` : ""}`);
    const client = this.#pki.client({ name, groups }, notAfter);
    await writeKubeconfig(file, { server: this.url, authority: this.#pki.authority.cert, client, context: name });
    return file;
  }

  /** Sends a signal to one program; after SIGKILL it is gone when the promise settles. */
  async kill(name: ProgramName, signal: NodeJS.Signals = "SIGKILL"): Promise<void> {
    await this.#program(name).kill(signal);
  }

  /** Starts one program again on its port and its data, killed before if it runs, and waits until it is ready. */
  async restart(name: ProgramName): Promise<void> {
    const program = this.#program(name);
    await program.kill();
    program.start();
    const deadline = Date.now() + 90_000;
    while (!(await this.#ready(name))) {
      const dead = [program, this.#program("etcd")].find(({ running }) => !running);
      if (dead) throw new Error(`Cannot start ${name}: ${dead.name} ended. Its last words:\n${await dead.lastWords()}`);
      if (Date.now() > deadline) throw new Error(`${name} was not ready after 90 s:\n${await program.lastWords()}`);
      await sleep(50);
    }
    await this.#remember();
  }

  /** Ends every program; data go with them unless the folder was the caller's. */
  async stop(): Promise<void> {
    for (const program of [...this.#programs.values()].reverse()) await program.kill();
    if (this.#temporary) await rm(this.dir, { recursive: true, force: true });
    else await removeState(this.dir);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  async #remember(): Promise<void> {
    const pids = [...this.#programs.values()].flatMap((program) => program.pid ?? []);
    await writeState(this.dir, { ports: this.#ports, pids });
  }

  #program(name: ProgramName): Program {
    const program = this.#programs.get(name);
    if (!program)
      throw new Error(`This control plane was started without ${name}: use startControlPlane({ controllers: true })`);
    return program;
  }

  async #ready(name: ProgramName): Promise<boolean> {
    if (name === "etcd") return await answers(`http://127.0.0.1:${this.#ports.etcd}/health`);
    if (name === "kube-controller-manager") {
      return await answers(`https://127.0.0.1:${this.#ports.controllers}/healthz`, { rejectUnauthorized: false });
    }
    // The namespaces are created a moment after the server calls itself ready.
    const ready = await answers(`${this.url}/readyz`, this.#tls);
    return ready && (await answers(`${this.url}/api/v1/namespaces/default`, this.#tls));
  }

  async #runKubectl(args: readonly string[], input?: string): Promise<Output> {
    const own = ["--kubeconfig", this.kubeconfig, "--cache-dir", join(this.dir, "kubectl-cache")];
    const child = spawn(this.#kubectl, [...own, ...args], { stdio: ["pipe", "pipe", "pipe"] });
    child.stdin.on("error", () => undefined);
    child.stdin.end(input);
    const exited = new Promise<number>((done, reject) => {
      child.once("error", reject);
      child.once("close", (code) => done(code ?? 1));
    });
    const texts = [child.stdout, child.stderr].map(async (stream) => (await stream.toArray()).join(""));
    const [stdout = "", stderr = ""] = await Promise.all(texts);
    return { stdout, stderr, exitCode: await exited };
  }
}

async function answers(url: string, tls: BunFetchRequestInitTLS = {}): Promise<boolean> {
  try {
    const response = await fetch(url, { tls, signal: AbortSignal.timeout(5_000) });
    await response.body?.cancel();
    return response.ok;
  } catch {
    return false; // not yet: the caller has a deadline
  }
}
