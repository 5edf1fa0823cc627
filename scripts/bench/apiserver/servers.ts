/** The servers under measurement: each starts fresh, and reports what its processes have cost. */
import { type ChildProcess, spawn } from "node:child_process";
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parse } from "yaml";
import { assets } from "../../controlplane/controlplane.ts";
import { startPrograms } from "../../../src/testing/control-plane/start.ts";
import { readState } from "../../../src/testing/control-plane/state.ts";

export interface Access {
  readonly url: string;
  readonly ca: string;
  readonly cert?: string;
  readonly key?: string;
  readonly token?: string;
}

/** The cost of all its processes together. */
export interface Cost {
  /** CPU time in seconds. */
  readonly cpu: number;
  /** Memory in megabytes. */
  readonly memory: number;
}

export interface Started extends AsyncDisposable {
  readonly access: Access;
  /** Milliseconds from the command to the first response. */
  readonly startedIn: number;
  cost(): Promise<Cost>;
}

export interface Measured {
  readonly name: string;
  start(): Promise<Started>;
}

/** Starts etcd and kube-apiserver; without `isDurable` etcd does not wait for the disk. */
export function realPair({ isDurable }: { readonly isDurable: boolean }): Measured {
  return {
    name: `etcd ${isDurable ? "with" : "without"} fsync + kube-apiserver`,
    async start() {
      const bin = await programs(isDurable);
      const dir = await mkdtemp(join(tmpdir(), "bench-real-"));
      const began = performance.now();
      const controlPlane = await startPrograms({ bin, dir });
      const startedIn = performance.now() - began;
      const { pids = [] } = (await readState(dir)) ?? {};
      return {
        access: accessOf(await readFile(controlPlane.kubeconfig, "utf8")),
        startedIn,
        cost: async () => await costOf(pids),
        [Symbol.asyncDispose]: async () => {
          await controlPlane.stop();
          for (const each of [dir, bin]) await rm(each, { recursive: true, force: true });
        },
      };
    },
  };
}

/** Returns a folder with the same programs, and etcd with the required flags. */
async function programs(isDurable: boolean): Promise<string> {
  const from = await assets();
  if (from === undefined) throw new Error("Cannot measure a real control plane: install Go, or set KUBEBUILDER_ASSETS");
  const bin = await mkdtemp(join(tmpdir(), "bench-bin-"));
  await mkdir(bin, { recursive: true });
  for (const name of await readdir(from)) if (name !== "etcd") await symlink(join(from, name), join(bin, name));
  const durability = isDurable ? '[ "$flag" = --unsafe-no-fsync ] || ' : "";
  const script = `#!/bin/bash\nflags=()\nfor flag; do ${durability}flags+=("$flag"); done\nexec ${join(from, "etcd")} "\${flags[@]}"\n`;
  await writeFile(join(bin, "etcd"), script);
  await chmod(join(bin, "etcd"), 0o755);
  return bin;
}

/** Starts the compiled `binnacle apiserver`. */
export function embedded(binary: string, { isDurable }: { readonly isDurable: boolean }): Measured {
  return {
    name: `binnacle apiserver${isDurable ? " --data" : ""}`,
    async start() {
      const dir = await mkdtemp(join(tmpdir(), "bench-own-"));
      const file = join(dir, "kubeconfig");
      const data = isDurable ? ["--data", join(dir, "data")] : [];
      const began = performance.now();
      const child = spawn(binary, ["apiserver", "--write-kubeconfig", file, ...data], {
        stdio: ["ignore", "pipe", "inherit"],
      });
      await firstLine(child);
      const access = accessOf(await readFile(file, "utf8"));
      const tls = { ca: access.ca };
      const headers = { authorization: `Bearer ${access.token}` };
      await (await fetch(`${access.url}/api/v1/namespaces/default`, { headers, tls })).text();
      const startedIn = performance.now() - began;
      return {
        access,
        startedIn,
        cost: async () => await costOf([child.pid!]),
        [Symbol.asyncDispose]: async () => {
          const ended = new Promise((resolve) => child.once("exit", resolve));
          child.kill();
          await ended;
          await rm(dir, { recursive: true, force: true });
        },
      };
    },
  };
}

async function firstLine(child: ChildProcess): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    child.stdout?.once("data", () => resolve());
    child.once("exit", (code) => reject(new Error(`binnacle apiserver ended with ${code}`)));
  });
}

function accessOf(kubeconfig: string): Access {
  const { clusters, users } = parse(kubeconfig) as {
    clusters: [{ cluster: Record<string, string> }];
    users: [{ user: Record<string, string> }];
  };
  const [{ cluster }] = clusters;
  const [{ user }] = users;
  const decoded = (text: string | undefined): string => Buffer.from(text ?? "", "base64").toString();
  return {
    url: cluster["server"] ?? "",
    ca: decoded(cluster["certificate-authority-data"]),
    ...(user["token"] === undefined
      ? { cert: decoded(user["client-certificate-data"]), key: decoded(user["client-key-data"]) }
      : { token: user["token"] }),
  };
}

async function costOf(pids: readonly number[]): Promise<Cost> {
  let [cpu, memory] = [0, 0];
  for (const pid of pids) {
    const stat = (await readFile(`/proc/${pid}/stat`, "utf8")).split(") ")[1]?.split(" ") ?? [];
    cpu += (Number(stat[11]) + Number(stat[12])) / 100;
    memory += Number(/VmHWM:\s+(\d+)/.exec(await readFile(`/proc/${pid}/status`, "utf8"))?.[1]) / 1024;
  }
  return { cpu, memory };
}
