/** Finds the latest release: in the registry of npm, or at a place with releases. */
import { open } from "node:fs/promises";
import { join } from "node:path";
import { taggedVersion } from "#runtime/registry";
import { withoutLogin } from "../observe/without-login.ts";
import { messageOf } from "../platform/error-message.ts";
import { UserError } from "./usage-error.ts";

export interface LatestOptions {
  /** The address or folder of all releases. @default the registry of npm */
  readonly releases: string | undefined;
  /** Milliseconds. */
  readonly timeout: number;
  readonly env: Readonly<Record<string, string | undefined>>;
}

const VERSION = /^\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?(?:\+[0-9A-Za-z.-]+)?$/;
/** Bytes of an answer that are read. */
const MOST = 1024;

/** @throws UserError naming the place that was asked, and the reason of the failure. */
export async function latestRelease({ releases, timeout, env }: LatestOptions): Promise<string> {
  const signal = AbortSignal.timeout(timeout);
  const { place, ask } = sourceOf(releases, env);
  const refuse = (why: string, cause?: unknown): UserError => {
    return new UserError(`Cannot learn the latest release from ${place}: ${why}`, { cause });
  };
  const text = await ask(signal).catch((error: unknown) => {
    if (signal.aborted) throw refuse(`there was no answer within ${inWords(timeout)}`, error);
    throw refuse(messageOf(error), error);
  });
  const version = text.trim().replace(/^v/, "");
  if (!VERSION.test(version)) throw refuse("it holds no version");
  return version;
}

interface ReleaseSource {
  /** For messages. */
  readonly place: string;
  readonly ask: (signal: AbortSignal) => Promise<string>;
}

function sourceOf(releases: string | undefined, env: LatestOptions["env"]): ReleaseSource {
  if (releases === undefined)
    return { place: "the registry of npm", ask: (signal) => taggedVersion("binnacle", { tag: "latest", signal, env }) };
  if (!/^https?:\/\//.test(releases)) {
    const file = join(releases, "latest");
    return { place: file, ask: (signal) => fromFile(file, signal) };
  }
  const address = `${releases.replace(/(?<!\/)\/+$/, "")}/latest`;
  return { place: withoutLogin(address), ask: (signal) => fromServer(address, signal) };
}

async function fromFile(file: string, signal: AbortSignal): Promise<string> {
  // Opening a pipe, or a file of a server that is gone, cannot be cut short.
  const { promise: tooLate, reject } = Promise.withResolvers<never>();
  signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  return Promise.race([beginningOf(file), tooLate]).catch((error: unknown) => {
    const isAbsent = error instanceof Error && "code" in error && error.code === "ENOENT";
    throw isAbsent ? new Error("there is no such file", { cause: error }) : error;
  });
}

async function beginningOf(path: string): Promise<string> {
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(MOST), 0, MOST, null);
    return buffer.toString("utf8", 0, bytesRead);
  } finally {
    await file.close();
  }
}

async function fromServer(address: string, signal: AbortSignal): Promise<string> {
  const response = await fetch(address, { signal });
  if (!response.ok) throw new Error(`it answers ${response.status}`);
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of response.body ?? []) {
    text += decoder.decode(chunk, { stream: true });
    if (text.length > MOST) break;
  }
  return text.slice(0, MOST);
}

function inWords(ms: number): string {
  return ms % 1000 === 0 ? `${ms / 1000}s` : `${ms}ms`;
}
