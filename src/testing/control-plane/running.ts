/** A running control plane, as tests use it. */

import { spawn } from "node:child_process";
import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { fetchOnce } from "#runtime/fetch-session";
import { sleep } from "../../platform/clock.ts";
import type { FetchTls } from "../../platform/fetch-session.ts";
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

/** @see https://kubernetes.io/docs/reference/config-api/apiserver-audit.v1/ */
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
  /** The end of the certificate's validity, in the past for an expired one. @default in ten years */
  readonly notAfter?: Date | undefined;
}

interface ControlPlaneParts {
  readonly dir: string;
  readonly ports: Ports;
  readonly pki: Pki;
  readonly programs: ReadonlyMap<ProgramName, Program>;
  readonly kubectl: string;
  /** Whether the folder is removed at the end. */
  readonly temporary: boolean;
}

export class ControlPlane {
  readonly dir: string;
  /** The address, `https://127.0.0.1:<port>`. */
  readonly url: string;
  /** A file with embedded CA, client certificate and key, group system:masters, context kind-kind. */
  readonly kubeconfig: string;
  readonly #tls: { readonly ca: string; readonly cert: string; readonly key: string };
  readonly #parts: ControlPlaneParts;

  /** @internal startControlPlane creates it. */
  constructor(parts: ControlPlaneParts) {
    this.dir = parts.dir;
    this.url = `https://127.0.0.1:${parts.ports.api}`;
    this.kubeconfig = join(parts.dir, "kubeconfig");
    this.#parts = parts;
    const admin = parts.pki.client({ name: "kubernetes-admin", groups: ["system:masters"] });
    this.#tls = { ca: parts.pki.authority.cert, ...admin };
  }

  /** Starts all programs and waits until they are ready. @internal */
  async up(): Promise<void> {
    const { ca, cert, key } = this.#tls;
    await writeKubeconfig(this.kubeconfig, { server: this.url, authority: ca, client: { cert, key } });
    this.#program("etcd").start();
    await this.restart("kube-apiserver");
    if (this.#parts.programs.has("kube-controller-manager")) await this.restart("kube-controller-manager");
  }

  async kubectl(...args: string[]): Promise<Output> {
    return this.#runKubectl(args);
  }

  /** Runs `kubectl apply -f -`. @throws Error with kubectl's output when it fails. */
  async apply(manifest: string): Promise<string> {
    const { stdout, stderr, exitCode } = await this.#runKubectl(["apply", "-f", "-"], manifest);
    if (exitCode !== 0) throw new Error(`kubectl apply ended with ${exitCode}: ${stderr.trim()}`);
    return stdout;
  }

  /** Sends a request with the administrator's certificate. */
  async request(path: string, init: RequestInit = {}): Promise<Response> {
    return await fetchOnce(`${this.url}${path}`, init, this.#tls);
  }

  /** Returns kube-apiserver's metrics as Prometheus text. */
  async metrics(): Promise<string> {
    return await (await this.request("/metrics")).text();
  }

  /** Returns every request so far that has its response; requires the option `audit`. */
  async audit(): Promise<AuditEvent[]> {
    const lines = (await readFile(join(this.dir, "audit.log"), "utf8")).split("\n");
    return lines.filter((line) => line !== "").map((line) => JSON.parse(line) as AuditEvent);
  }

  /** Writes the kubeconfig of another user, who has no permissions without RBAC, and returns its path. */
  async userKubeconfig(name: string, { groups, notAfter }: UserOptions = {}): Promise<string> {
    const file = join(this.dir, `kubeconfig-${encodeURIComponent(name)}${notAfter ? `-${notAfter.getTime()}` : ""}`);
    const client = this.#parts.pki.client({ name, groups }, notAfter);
    await writeKubeconfig(file, { server: this.url, authority: this.#parts.pki.authority.cert, client, context: name });
    return file;
  }

  /** Sends a signal to one program; after SIGKILL the promise settles when it has ended. */
  async kill(name: ProgramName, signal: NodeJS.Signals = "SIGKILL"): Promise<void> {
    await this.#program(name).kill(signal);
  }

  /** Restarts one program on its port and its data, killing it first if it runs, and waits until it is ready. */
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

  /** Ends every program; the data are removed unless the caller named the folder. */
  async stop(): Promise<void> {
    for (const program of [...this.#parts.programs.values()].reverse()) await program.kill();
    if (this.#parts.temporary) await rm(this.dir, { recursive: true, force: true });
    else await removeState(this.dir);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  async #remember(): Promise<void> {
    const pids = [...this.#parts.programs.values()].flatMap((program) => program.pid ?? []);
    await writeState(this.dir, { ports: this.#parts.ports, pids });
  }

  #program(name: ProgramName): Program {
    const program = this.#parts.programs.get(name);
    if (!program)
      throw new Error(`This control plane was started without ${name}: use startControlPlane({ controllers: true })`);
    return program;
  }

  async #ready(name: ProgramName): Promise<boolean> {
    if (name === "etcd") return await answers(`http://127.0.0.1:${this.#parts.ports.etcd}/health`);
    if (name === "kube-controller-manager") {
      return await answers(`https://127.0.0.1:${this.#parts.ports.controllers}/healthz`, { rejectUnauthorized: false });
    }
    // The namespaces are created a moment after the server reports that it is ready.
    const ready = await answers(`${this.url}/readyz`, this.#tls);
    return ready && (await answers(`${this.url}/api/v1/namespaces/default`, this.#tls));
  }

  async #runKubectl(args: readonly string[], input?: string): Promise<Output> {
    const own = ["--kubeconfig", this.kubeconfig, "--cache-dir", join(this.dir, "kubectl-cache")];
    const { DISABLE_HTTP2: _ours, ...env } = process.env; // kubectl would remark on it
    const child = spawn(this.#parts.kubectl, [...own, ...args], { env, stdio: ["pipe", "pipe", "pipe"] });
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

async function answers(url: string, tls: FetchTls = {}): Promise<boolean> {
  try {
    const response = await fetchOnce(url, { signal: AbortSignal.timeout(5_000) }, tls);
    await response.body?.cancel();
    return response.ok;
  } catch {
    return false; // it is not ready yet, and the caller has a deadline
  }
}
