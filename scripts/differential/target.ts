/** The servers exchanges can be run against. */
import { readFile, writeFile } from "node:fs/promises";
import { gunzipSync, gzipSync } from "node:zlib";
import { startControlPlane } from "../controlplane/controlplane.ts";
import type { Served } from "./discovery.ts";
import type { CaseRecord, Target } from "./exchange.ts";

export interface Started extends Target, AsyncDisposable {}

/** A real kube-apiserver on etcd, started for this. */
export async function realTarget(): Promise<Started> {
  const controlPlane = await startControlPlane();
  return {
    name: "real",
    fetch: async (request) => {
      const { pathname, search } = new URL(request.url);
      const body = request.body === null ? {} : { body: await request.arrayBuffer() };
      return await controlPlane.request(`${pathname}${search}`, {
        method: request.method,
        headers: request.headers,
        signal: request.signal,
        ...body,
      });
    },
    [Symbol.asyncDispose]: async () => await controlPlane.stop(),
  };
}

/** What a server answered, kept in a file so that it need not run again. */
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
