/** The servers on which exchanges can be played. */
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";
import { startControlPlane } from "../../../scripts/controlplane/controlplane.ts";
import type { Served } from "./discovery.ts";
import type { CaseRecord, Target } from "./exchange.ts";

export interface Started extends Target, AsyncDisposable {}

/** What may be requested without credentials, as on the embedded server. */
const authentication = `apiVersion: apiserver.config.k8s.io/v1
kind: AuthenticationConfiguration
anonymous:
  enabled: true
  conditions:
${["/healthz", "/livez", "/readyz", "/version", "/version/"].map((path) => `  - path: ${path}\n`).join("")}`;

/** Starts a real kube-apiserver on etcd, without profiling, as the embedded one has none. */
export async function realTarget(): Promise<Started> {
  const folder = await mkdtemp(join(tmpdir(), "differential-"));
  const file = join(folder, "authentication.yaml");
  await writeFile(file, authentication);
  const controlPlane = await startControlPlane({ flags: [`--authentication-config=${file}`, "--profiling=false"] });
  const ca = await readFile(join(controlPlane.dir, "pki", "ca.crt"), "utf8");
  return {
    name: "real",
    fetch: async (request, credentials) => {
      const { pathname, search } = new URL(request.url);
      const body = request.body === null ? {} : { body: await request.arrayBuffer() };
      const { method, headers, signal } = request;
      const init = { method, headers, signal, redirect: "manual" as const, ...body };
      const path = `${pathname}${search}`;
      if (credentials !== "none") return await controlPlane.request(path, init);
      return await fetch(`${controlPlane.url}${path}`, { ...init, tls: { ca }, keepalive: false });
    },
    [Symbol.asyncDispose]: async () => {
      await controlPlane.stop();
      await rm(folder, { recursive: true });
    },
  };
}

/** A server's responses in a file, so that it need not run again. */
export interface Recording {
  readonly served: readonly Served[];
  readonly records: readonly CaseRecord[];
}

export async function saveRecording(file: string, recording: Recording): Promise<void> {
  await writeFile(file, gzipSync(JSON.stringify(recording)));
}

export async function loadRecording(file: string): Promise<Recording> {
  return JSON.parse(gunzipSync(await readFile(file)).toString()) as Recording;
}
