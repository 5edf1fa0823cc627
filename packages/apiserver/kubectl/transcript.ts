/** Runs the lines against a server and makes their output comparable. */
import { spawn } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { lines } from "./lines.ts";
import { manifests } from "./manifests.ts";

export interface Printed {
  readonly line: string;
  readonly text: string;
}

export interface Server {
  /** The text of a kubeconfig. */
  readonly kubeconfig: string;
  /** The folder of kubectl. */
  readonly bin: string;
  /** @default all */
  readonly only?: RegExp | undefined;
}

export async function transcript({ kubeconfig, bin, only }: Server): Promise<Printed[]> {
  const dir = await mkdtemp(join(tmpdir(), "kubectl-"));
  try {
    await mkdir(join(dir, "home"));
    await writeFile(join(dir, "kubeconfig"), kubeconfig, { mode: 0o600 });
    for (const [name, text] of Object.entries(manifests)) await writeFile(join(dir, name), text);
    const printed: Printed[] = [];
    for (const line of lines) {
      if (only !== undefined && !only.test(line)) continue;
      printed.push({ line, text: normalized(await run(line, { dir, bin })) });
    }
    return printed;
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}

async function run(line: string, { dir, bin }: { readonly dir: string; readonly bin: string }): Promise<string> {
  const env = {
    PATH: `${bin}:${process.env["PATH"]}`,
    HOME: join(dir, "home"),
    KUBECONFIG: join(dir, "kubeconfig"),
    KUBECTL_KUBERC: "false",
    TMPDIR: dir,
  };
  const child = spawn("bash", ["-c", line], { cwd: dir, env, stdio: ["ignore", "pipe", "pipe"] });
  let [out, problems] = ["", ""];
  child.stdout.on("data", (chunk: Buffer) => void (out += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => void (problems += chunk.toString()));
  const timer = setTimeout(() => child.kill("SIGKILL"), 15_000);
  const code = await new Promise<number | null>((resolve) => child.once("close", resolve));
  clearTimeout(timer);
  return `${out}${problems}exit ${code}`;
}

const uid = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;

/** Replaces what any two servers print differently. */
function normalized(text: string): string {
  const normal = text
    .replaceAll(uid, "<uid>")
    .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g, "<time>")
    .replaceAll(/\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d [+-]\d{4}/g, "<time>")
    .replaceAll(/\b\w\d{4} \d\d:\d\d:\d\d\.\d+ +\d+ /g, "<log> ")
    .replaceAll(/resource ?version"?: *"?\d+"?/gi, "resourceVersion: <version>")
    .replaceAll(/https:\/\/127\.0\.0\.1:\d+/g, "<server>")
    .replaceAll(/127\.0\.0\.1:\d+/g, "<address>")
    .replaceAll(/\b10\.96\.\d+\.\d+\b/g, "<ip>")
    .replaceAll(/\b3[012]\d{3}\b/g, "<port>")
    .replaceAll(/\/tmp\/[\w./-]+/g, "<file>")
    .replaceAll(/kubectl-edit-\d+\.yaml/g, "<file>")
    .replaceAll(/\b(\d+[smhd])+( ago)?(?=\s|$)/g, "<age>")
    .replaceAll(/default-token-\w+/g, "<token>")
    .replaceAll(/-[bcdfghjklmnpqrstvwxz2456789]{5}\b/g, "-<generated>")
    .replaceAll(/targetPort: \d{4,5}/g, "targetPort: <port>");
  return normal.replaceAll(/[ \t]+/g, " ").replaceAll(/ $/gm, "");
}
