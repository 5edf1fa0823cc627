/** Compares what the lines print on each server. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { listenApiServer } from "binnacle-apiserver";
import { assets, startControlPlane } from "../../../scripts/controlplane/controlplane.ts";
import { type Printed, transcript } from "./transcript.ts";

/** What kube-apiserver of `scripts/controlplane` printed; `run.ts --save` records it. */
export const recordingFile: string = join(import.meta.dirname, "recorded.txt");

const start = "$ ";

export async function recordedLines(): Promise<Printed[]> {
  const text = await readFile(recordingFile, "utf8");
  return text.split(`\n\n${start}`).map((part, index) => {
    const block = index === 0 ? part.slice(start.length) : part;
    const end = block.indexOf("\n");
    return { line: block.slice(0, end), text: block.slice(end + 1) };
  });
}

export function recording(printed: readonly Printed[]): string {
  return printed.map(({ line, text }) => `${start}${line}\n${text}`).join("\n\n");
}

async function kubectl(): Promise<string> {
  const bin = await assets();
  if (bin === undefined) throw new Error("Cannot run kubectl of the right version: there is no control plane");
  return bin;
}

export async function onReal(only?: RegExp): Promise<Printed[]> {
  const bin = await kubectl();
  await using controlPlane = await startControlPlane();
  return await transcript({ bin, kubeconfig: await readFile(controlPlane.kubeconfig, "utf8"), only });
}

export async function onEmbedded(only?: RegExp): Promise<Printed[]> {
  const bin = await kubectl();
  await using server = await listenApiServer();
  return await transcript({ bin, kubeconfig: server.kubeconfig, only });
}

export interface LineDifference {
  readonly line: string;
  readonly real: string;
  readonly own: string;
}

/** Compares two runs of the same lines. */
export function differences(real: readonly Printed[], own: readonly Printed[]): LineDifference[] {
  return real.flatMap(({ line, text }, index) => {
    const other = own[index]?.line === line ? own[index].text : "(not run)";
    return other.trimEnd() === text.trimEnd() ? [] : [{ line, real: text, own: other }];
  });
}
