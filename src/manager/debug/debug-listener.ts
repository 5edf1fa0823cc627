/** The debug listener of a process: what it serves, and the file that tells this user's commands how to reach it. */
import { randomBytes } from "node:crypto";
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Hono } from "hono";
import { writePrivate } from "../../platform/private-file.ts";
import { messageOf } from "../../platform/error-message.ts";
import { type DebugFile, debugFolder } from "../../server/debug/debug-file.ts";
import { debugApp } from "../../server/debug/debug-app.ts";
import { dashboardApp } from "../../server/dashboard/dashboard-app.tsx";
import { isLoopbackName } from "../../server/local-request.ts";
import type { Process } from "../process.ts";
import { LiveSource, type LiveSourceParts } from "./live-source.ts";

/** Says that other machines would reach an address, so that it cannot be used; `undefined` for one of the loopback. */
export function notLoopback(address: string): string | undefined {
  if (address === "0" || isLoopbackName(address)) return undefined;
  const port = address.split(":").at(-1);
  return `--debug-bind-address is '${address}', which other machines reach: use an address of the loopback, such as 127.0.0.1:${port}`;
}

export class DebugListener implements Disposable {
  readonly app: Hono;
  /** The token that actions need. */
  readonly token: string = randomBytes(32).toString("base64url");
  readonly #source: LiveSource;
  readonly #process: Process;
  #file: string | undefined;

  constructor(process: Process, parts: LiveSourceParts) {
    this.#process = process;
    this.#source = new LiveSource(process, parts);
    this.app = dashboardApp(this.#source).route("/", debugApp({ source: this.#source, token: this.token }));
  }

  /** Called when the listener has its address: this user's commands find it from now on. */
  listening(address: string): void {
    const { log } = this.#process;
    log.info("Listening for the dashboard and /debug", { debug: address });
    const folder = debugFolder(process.env);
    try {
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      const file = join(folder, `${address.split(":").at(-1)}.json`);
      const content: DebugFile = { address, pid: process.pid, token: this.token, folder: process.cwd() };
      writePrivate(file, JSON.stringify(content));
      this.#file = file;
    } catch (error) {
      // In a container the file system may be read-only; there the token is had through the API server.
      log.debug("Commands on this machine do not find this process", { folder, reason: messageOf(error) });
    }
  }

  [Symbol.dispose](): void {
    this.#source[Symbol.dispose]();
    if (this.#file !== undefined) rmSync(this.#file, { force: true });
  }
}
