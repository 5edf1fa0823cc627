/** Starts a control plane in a new folder or in that of an earlier start. */

import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { apiserverFlags, auditFlags, auditPolicy, controllerFlags, etcdFlags, type Ports } from "./flags.ts";
import { openPki } from "./pki.ts";
import { freePorts, isFree } from "./ports.ts";
import { Program } from "./program.ts";
import { ControlPlane, type ProgramName } from "./running.ts";
import { readState, runsIn } from "./state.ts";

export interface ControlPlaneOptions {
  /** The folder with etcd and kube-apiserver and, for `controllers`, kube-controller-manager. */
  readonly bin: string;
  /** Whether to start kube-controller-manager too: garbage collection, namespaces, workloads. @default false */
  readonly controllers?: boolean | undefined;
  /** Flags of kube-apiserver, each as `--name=value`; a flag replaces the default with its name. */
  readonly flags?: readonly string[] | undefined;
  /** Flags of kube-controller-manager in the same form. */
  readonly controllerFlags?: readonly string[] | undefined;
  /** Whether each request writes a line to `audit.log`, which `audit()` reads. @default false */
  readonly audit?: boolean | undefined;
  /** The folder of data and logs; those of an earlier start are used again. @default a new, temporary one */
  readonly dir?: string | undefined;
  /** Whether the programs outlive this process. @default false */
  readonly detached?: boolean | undefined;
}

/** Starts a control plane, which takes about 3 seconds. @throws Error with a program's last output */
export async function startPrograms(options: ControlPlaneOptions): Promise<ControlPlane> {
  const { bin } = options;
  if (options.controllers && !existsSync(join(bin, "kube-controller-manager"))) {
    throw new Error(
      `Cannot start kube-controller-manager: ${bin} has none. Unset KUBEBUILDER_ASSETS to build it with Go`,
    );
  }
  const dir = options.dir === undefined ? await mkdtemp(join(tmpdir(), "controlplane-")) : resolve(options.dir);
  const earlier = await readState(dir);
  if (earlier?.pids.some((pid) => runsIn(dir, pid))) throw new Error(`A control plane runs in ${dir}: stop it first`);
  const pki = await openPki(join(dir, "pki"));
  await mkdir(join(dir, "run"), { recursive: true });
  if (options.audit) await writeFile(join(dir, "audit-policy.yaml"), auditPolicy);
  for (let attempt = 1; ; attempt++) {
    const ports = await choosePorts(attempt === 1 ? earlier?.ports : undefined);
    const programs = programsFor(dir, { ports, options });
    const kubectl = existsSync(join(bin, "kubectl")) ? join(bin, "kubectl") : "kubectl";
    const controlPlane = new ControlPlane({ dir, ports, pki, programs, kubectl, temporary: options.dir === undefined });
    try {
      await controlPlane.up();
      return controlPlane;
    } catch (error) {
      for (const program of programs.values()) await program.kill();
      // Another process may take a port between the check and its use.
      if (attempt < 3 && String(error).includes("address already in use")) continue;
      if (options.dir === undefined) await rm(dir, { recursive: true, force: true });
      throw error;
    }
  }
}

interface Programs {
  readonly ports: Ports;
  readonly options: ControlPlaneOptions;
}

function programsFor(dir: string, { ports, options }: Programs): Map<ProgramName, Program> {
  const own = [...(options.audit ? auditFlags(dir) : []), ...(options.flags ?? [])];
  const flags: Record<ProgramName, string[]> = {
    etcd: etcdFlags(dir, ports),
    "kube-apiserver": apiserverFlags(dir, ports, own),
    "kube-controller-manager": controllerFlags(dir, ports, options.controllerFlags),
  };
  const names: ProgramName[] = [
    "etcd",
    "kube-apiserver",
    ...(options.controllers ? (["kube-controller-manager"] as const) : []),
  ];
  const make = (name: ProgramName) => {
    const log = join(dir, `${name}.log`);
    const remove = options.dir === undefined && name === "etcd" ? dir : undefined;
    const { detached } = options;
    return new Program({ name, path: join(options.bin, name), args: flags[name], cwd: dir, log, remove, detached });
  };
  return new Map(names.map((name) => [name, make(name)]));
}

async function choosePorts(earlier: Ports | undefined): Promise<Ports> {
  if (earlier && (await Promise.all(Object.values(earlier).map(isFree))).every(Boolean)) return earlier;
  const [etcd = 0, peer = 0, api = 0, controllers = 0] = await freePorts(4);
  return { etcd, peer, api, controllers };
}
