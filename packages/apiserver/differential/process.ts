/** The embedded API server as a process of its own, such as one that another runtime runs. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createAuthority, issue } from "binnacle-apiserver";
import { until } from "../../../tests/support/until.ts";
import { embeddedTarget } from "./embedded.ts";
import type { Started } from "./target.ts";

/** The server under test: that of the program that `BINNACLE_PROGRAM` names, or else the one of these sources, in this process. */
export function targetUnderTest(): Promise<Started> {
  const program = process.env["BINNACLE_PROGRAM"];
  return program ? processTarget(program) : embeddedTarget();
}

/** The subject of kubernetes-admin's certificate on the real server. */
const subject = { name: "kubernetes-admin", groups: ["system:masters"] };

/** Starts `<program> apiserver`. */
async function processTarget(program: string): Promise<Started> {
  const folder = await mkdtemp(join(tmpdir(), "differential-"));
  const users = createAuthority("users");
  const [authority, kubeconfig] = [join(folder, "users.crt"), join(folder, "kubeconfig")];
  await writeFile(authority, users.cert);
  const own = ["apiserver", "--client-ca-file", authority, "--write-kubeconfig", kubeconfig];
  const child = spawn(program, own, { cwd: folder, stdio: ["ignore", "pipe", "inherit"] });
  const stop = async (): Promise<void> => {
    await ended(child);
    await rm(folder, { recursive: true });
  };
  try {
    const url = await urlOf(child);
    const text = await readFile(kubeconfig, "utf8");
    const [, encoded = ""] = /certificate-authority-data: (\S+)/.exec(text) ?? [];
    const ca = Buffer.from(encoded, "base64").toString();
    const tls = { ca, ...issue(users, { subject }) };
    return {
      name: "embedded",
      fetch: async (request, credentials) => {
        const { pathname, search } = new URL(request.url);
        const body = request.body === null ? {} : { body: await request.arrayBuffer() };
        const { method, headers, signal } = request;
        const init = { method, headers, signal, redirect: "manual" as const, ...body };
        const isKnown = credentials !== "none";
        return await fetch(`${url}${pathname}${search}`, { ...init, keepalive: isKnown, tls: isKnown ? tls : { ca } });
      },
      [Symbol.asyncDispose]: stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Waits for the line that names the address. @throws Error when the process ends before it. */
async function urlOf(child: ChildProcess): Promise<string> {
  let output = "";
  child.stdout!.setEncoding("utf8").on("data", (text: string) => void (output += text));
  const url = () => /export KUBECONFIG/.test(output) && /https:\S+/.exec(output)?.[0];
  await until(() => Boolean(url()) || child.exitCode !== null, {
    what: () => `the address in ${JSON.stringify(output)}`,
  });
  const found = url();
  if (!found) throw new Error(`Cannot start ${child.spawnargs.join(" ")}: it ended with ${child.exitCode}`);
  return found;
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, "exit");
  child.kill("SIGTERM");
  await exit;
}
