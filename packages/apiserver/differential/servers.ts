/** The servers on which cases are played. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { createApiServer, createAuthority, issue } from "binnacle-apiserver";
import { startControlPlane } from "../../../scripts/controlplane/controlplane.ts";
import { until } from "../../../tests/support/until.ts";
import type { Target } from "./case.ts";

/**
 * The server under test: that of the program that `BINNACLE_PROGRAM` names, or else the one of these sources, in this
 * process.
 */
export function targetUnderTest(): Promise<Target> {
  const program = process.env["BINNACLE_PROGRAM"];
  return program ? processTarget(program) : embeddedTarget();
}

/** What may be requested without credentials, as on the embedded server. */
const authentication = `apiVersion: apiserver.config.k8s.io/v1
kind: AuthenticationConfiguration
anonymous:
  enabled: true
  conditions:
${["/healthz", "/livez", "/readyz", "/version", "/version/"].map((path) => `  - path: ${path}\n`).join("")}`;

/** Starts a real kube-apiserver on etcd, without profiling, as the embedded one has none. */
export async function realTarget(): Promise<Target> {
  const folder = await mkdtemp(join(tmpdir(), "differential-"));
  const file = join(folder, "authentication.yaml");
  await writeFile(file, authentication);
  const controlPlane = await startControlPlane({ flags: [`--authentication-config=${file}`, "--profiling=false"] });
  const ca = await readFile(join(controlPlane.dir, "pki", "ca.crt"), "utf8");
  return {
    name: "real",
    fetch: async (request, credentials) => {
      const { path, init } = await partsOf(request);
      if (credentials !== "none") return await controlPlane.request(path, init);
      return await fetch(`${controlPlane.url}${path}`, { ...init, tls: { ca }, keepalive: false });
    },
    [Symbol.asyncDispose]: async () => {
      await controlPlane.stop();
      await rm(folder, { recursive: true });
    },
  };
}

/** The user of kubernetes-admin's certificate on the real server. */
const admin = { name: "kubernetes-admin", groups: ["system:masters"] };

async function embeddedTarget(): Promise<Target> {
  const server = await createApiServer();
  const extra = { "authentication.kubernetes.io/credential-id": [`X509SHA256=${"0".repeat(64)}`] };
  const certificate = { username: admin.name, groups: [...admin.groups, "system:authenticated"], extra };
  return {
    name: "embedded",
    fetch: async (request, credentials) => {
      await new Promise(setImmediate); // as with a socket, so that what the server does a moment later gets its turn
      // An HTTP client adds these headers by itself.
      if (!request.headers.has("accept-encoding")) request.headers.set("accept-encoding", "gzip, deflate, br, zstd");
      const response = await server.fetch(request, credentials === "none" ? {} : { certificate });
      if (response.headers.get("content-encoding") !== "gzip") return response;
      const { status, headers } = response;
      const content = await response.bytes();
      if (content.length > 0) return new Response(gunzipSync(content), { status, headers });
      headers.delete("content-encoding");
      return new Response(null, { status, headers });
    },
    [Symbol.asyncDispose]: async () => await server.stop(),
  };
}

/** Starts `<program> apiserver`. */
async function processTarget(program: string): Promise<Target> {
  const folder = await mkdtemp(join(tmpdir(), "differential-"));
  const users = createAuthority("users");
  const [authority, kubeconfig] = [join(folder, "users.crt"), join(folder, "kubeconfig")];
  await writeFile(authority, users.cert);
  const flags = ["apiserver", "--client-ca-file", authority, "--write-kubeconfig", kubeconfig];
  const child = spawn(program, flags, { cwd: folder, stdio: ["ignore", "pipe", "inherit"] });
  const stop = async (): Promise<void> => {
    await stopProcess(child);
    await rm(folder, { recursive: true });
  };
  try {
    const url = await urlOf(child);
    const text = await readFile(kubeconfig, "utf8");
    const [, encoded = ""] = /certificate-authority-data: (\S+)/.exec(text) ?? [];
    const ca = Buffer.from(encoded, "base64").toString();
    const tls = { ca, ...issue(users, { subject: admin }) };
    return {
      name: "embedded",
      fetch: async (request, credentials) => {
        const { path, init } = await partsOf(request);
        const isKnown = credentials !== "none";
        return await fetch(`${url}${path}`, { ...init, keepalive: isKnown, tls: isKnown ? tls : { ca } });
      },
      [Symbol.asyncDispose]: stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Returns a request as arguments of `fetch`, without its host. */
async function partsOf(request: Request): Promise<{ readonly path: string; readonly init: RequestInit }> {
  const { pathname, search } = new URL(request.url);
  const body = request.body === null ? {} : { body: await request.arrayBuffer() };
  const { method, headers, signal } = request;
  return { path: `${pathname}${search}`, init: { method, headers, signal, redirect: "manual", ...body } };
}

/** Waits for the line that names the address. @throws Error when the process ends before it. */
async function urlOf(child: ChildProcess): Promise<string> {
  let output = "";
  child.stdout!.setEncoding("utf8").on("data", (text: string) => void (output += text));
  const url = () => /export KUBECONFIG/.test(output) && /https:\S+/.exec(output)?.[0];
  await until(() => Boolean(url()) || child.exitCode !== null, {
    what: () => `the address in ${JSON.stringify(output)}`,
  });
  const address = url();
  if (!address) throw new Error(`Cannot start ${child.spawnargs.join(" ")}: it stopProcess with ${child.exitCode}`);
  return address;
}

async function stopProcess(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, "exit");
  child.kill("SIGTERM");
  await exit;
}
