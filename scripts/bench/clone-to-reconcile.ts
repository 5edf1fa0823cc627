/**
 * Seconds from a clone to the first reconcile, on what a newcomer has: Node and npm. `bun scripts/bench/clone-to-reconcile.ts`
 *
 * Three times: with nothing there, with Bun and the dependencies, and with the binary too. Needs the network, git and kubectl.
 */
import { spawn, spawnSync } from "node:child_process";
import { mkdtemp, mkdir, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

const root = join(import.meta.dirname, "../..");
const dir = await mkdtemp(join(tmpdir(), "binnacle-clone-"));
const clone = join(dir, "binnacle");
const [home, bin] = [join(dir, "home"), join(dir, "bin")];

try {
  await mkdir(home);
  await mkdir(bin);
  for (const program of ["node", "npm"]) await symlink(Bun.which(program)!, join(bin, program));
  run("git", "clone", "-q", root, clone);
  console.log(`with download and build  ${await first()}`);
  await rm(join(clone, "dist"), { recursive: true });
  console.log(`with build               ${await first()}`);
  console.log(`with neither             ${await first()}`);
} finally {
  await rm(dir, { recursive: true, force: true });
}

/** Runs `npm start`, and applies the sample as soon as the output suggests it. */
async function first(): Promise<string> {
  await rm(join(clone, ".binnacle"), { recursive: true, force: true });
  const began = performance.now();
  const seconds = (): string => `${((performance.now() - began) / 1000).toFixed(1)} s`;
  const env = { HOME: home, PATH: `${bin}:/usr/bin:/bin` };
  const child = spawn(join(bin, "npm"), ["start"], { cwd: clone, env, stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (bytes: Buffer) => void (output += String(bytes)));
  const ended = new Promise((resolve) => child.once("exit", resolve));
  try {
    await says(() => output.includes("  try "), child);
    const ready = seconds();
    run("kubectl", "--kubeconfig", join(clone, ".binnacle/kubeconfig"), "apply", "-f", "controllers/guestbook.yaml");
    await says(() => output.includes("controller=guestbook key=default/hello"), child);
    return `ready after ${ready.padStart(7)}, first reconcile after ${seconds().padStart(7)}`;
  } catch (error) {
    throw new Error(`npm start said: ${output}`, { cause: error });
  } finally {
    child.kill("SIGINT");
    await ended;
  }
}

async function says(what: () => boolean, child: { readonly exitCode: number | null }): Promise<void> {
  const deadline = performance.now() + 600_000;
  while (!what()) {
    if (child.exitCode !== null || performance.now() > deadline) throw new Error("It ended, or took ten minutes");
    await Bun.sleep(20);
  }
}

function run(command: string, ...args: readonly string[]): void {
  const cwd = command === "git" ? dirname(clone) : clone;
  const { status, stderr } = spawnSync(command, args, { cwd, encoding: "utf8" });
  if (status !== 0) throw new Error(`${command} ${args.join(" ")}: ${stderr}`);
}
