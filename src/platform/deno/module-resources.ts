/** The resources that a module has opened by the runtime's own functions, which are closed with it. */
import * as childProcess from "node:child_process";
import { Server } from "node:net";
import * as timers from "node:timers";
import { promisify } from "node:util";
import { tellOwner } from "../error-owner.ts";
import { moduleInContext } from "./module-context.ts";
import { deno } from "./deno.ts";
import { followedTimerPromises, orLeaving, whileLoaded } from "./timer-promises.ts";

/** Closes a resource of any kind. */
type Close = () => void;

export class ModuleResources {
  readonly onError: (error: unknown) => void;
  /** Aborted when the module leaves. */
  readonly #leaving = new AbortController();
  readonly #open = new Map<unknown, Close>();

  constructor(onError: (error: unknown) => void) {
    this.onError = onError;
  }

  get signal(): AbortSignal {
    return this.#leaving.signal;
  }

  /**
   * Closes the resource when the module leaves. @param key identifies it for {@link forget}, once it has ended by
   * itself
   */
  add(key: unknown, close: Close): void {
    if (this.#leaving.signal.aborted) close();
    else this.#open.set(key, close);
  }

  forget(key: unknown): void {
    this.#open.delete(key);
  }

  close(): void {
    this.#leaving.abort(new Error("The module has left"));
    for (const close of this.#open.values()) {
      try {
        close();
      } catch {
        // The resource has ended meanwhile.
      }
    }
    this.#open.clear();
  }
}

function current(): ModuleResources | undefined {
  const module = moduleInContext();
  return module instanceof ModuleResources ? module : undefined;
}

const timerPromises = followedTimerPromises(current);

let areFollowed = false;

/** From now on timers, requests, servers and children belong to the module that opens them. */
export function followResources(): void {
  if (areFollowed) return;
  areFollowed = true;
  followErrors();
  followTimers();
  followRequests();
  followServers();
  followChildren();
}

interface ErrorEvents {
  addEventListener(
    type: "error" | "unhandledrejection",
    listener: (event: Event & { readonly error?: unknown; readonly reason?: unknown }) => void,
    options: { readonly capture: true },
  ): void;
}

/**
 * An error that code of a module throws, or rejects without a handler, is reported to the module before anybody else.
 */
function followErrors(): void {
  const events = globalThis as unknown as ErrorEvents;
  const taking = (event: Event, isTaken: boolean): void => {
    if (!isTaken) return;
    event.preventDefault();
    event.stopImmediatePropagation();
  };
  events.addEventListener("error", (event) => taking(event, tellOwner(event.error)), { capture: true });
  const onRejection = (event: Event & { readonly reason?: unknown }): void => {
    if (tellOwner(event.reason)) return taking(event, true);
    // The event has the context of the code that did not handle the rejection.
    const module = current();
    if (module?.signal.aborted === false) module.onError(event.reason);
    taking(event, module !== undefined);
  };
  events.addEventListener("unhandledrejection", onRejection, { capture: true });
}

type Callback = (...args: unknown[]) => unknown;
type SetTimer = (callback: Callback, ...rest: unknown[]) => unknown;
type ClearTimer = (timer: unknown) => void;

/** The runtime assigns no owner to an error of a timer's callback, so the callback itself reports it. */
function followTimers(): void {
  const functions = globalThis as unknown as Record<string, SetTimer & ClearTimer>;
  for (const [set, clear] of [
    ["setTimeout", "clearTimeout"],
    ["setInterval", "clearInterval"],
    ["setImmediate", "clearImmediate"],
  ] as const) {
    const start: SetTimer = functions[set]!;
    const stop: ClearTimer = functions[clear]!;
    const isRepeated = set === "setInterval";
    const followed: SetTimer = (callback, ...rest) => {
      const module = current();
      if (module === undefined || typeof callback !== "function") return start(callback, ...rest);
      const timer = start(
        (...args) => {
          if (!isRepeated) module.forget(timer);
          reporting(module, () => callback(...args));
        },
        ...rest,
      );
      module.add(timer, () => stop(timer));
      return timer;
    };
    functions[set] = Object.assign(followed, start) as SetTimer & ClearTimer;
    if (!isRepeated) Object.defineProperty(followed, promisify.custom, { value: timerPromises[set] });
    functions[clear] = (timer: unknown) => {
      current()?.forget(timer);
      stop(timer);
    };
  }
  // At its first call Deno replaces the function by another, which must not happen once it is protected.
  globalThis.queueMicrotask(() => {});
  const queue = globalThis.queueMicrotask;
  globalThis.queueMicrotask = (callback) => {
    const module = current();
    queue(module === undefined ? callback : () => reporting(module, callback));
  };
}

function reporting(module: ModuleResources, callback: () => unknown): void {
  try {
    callback();
  } catch (error) {
    if (!module.signal.aborted) module.onError(error);
  }
}

function followRequests(): void {
  const own = globalThis.fetch;
  const followed = (input: Parameters<typeof fetch>[0], init?: RequestInit): Promise<Response> => {
    const module = current();
    if (module === undefined) return own(input, init);
    const requestSignal = init?.signal ?? (input instanceof Request ? input.signal : undefined);
    return whileLoaded(module.signal, own(input, { ...init, signal: orLeaving(requestSignal, module.signal) }));
  };
  globalThis.fetch = Object.assign(followed, own);
}

function followServers(): void {
  const prototype = Server.prototype as unknown as Record<"listen", (this: Server, ...args: unknown[]) => Server>;
  const { listen } = prototype;
  prototype.listen = function (...args) {
    const module = current();
    if (module !== undefined) {
      module.add(this, () => {
        this.close();
        (this as { closeAllConnections?: () => void }).closeAllConnections?.();
      });
      this.once("close", () => module.forget(this));
    }
    return listen.apply(this, args);
  };
  const runtime = deno as unknown as {
    serve: (...args: unknown[]) => { shutdown(): Promise<void>; finished: Promise<void> };
  };
  const { serve } = runtime;
  runtime.serve = (...args) => {
    const module = current();
    const server = serve(...args);
    module?.add(server, () => void server.shutdown());
    void server.finished.then(() => module?.forget(server));
    return server;
  };
}

/**
 * Follows children that are started by Deno's own functions; those of Node are followed in {@link followedBuiltins}.
 */
function followChildren(): void {
  interface Child {
    readonly status: Promise<unknown>;
    kill(): void;
  }
  const prototype = (
    deno as unknown as { readonly Command: { readonly prototype: { spawn: (this: object) => Child } } }
  ).Command.prototype;
  const { spawn } = prototype;
  prototype.spawn = function () {
    const module = current();
    const child = spawn.call(this);
    module?.add(child, () => child.kill());
    void child.status.then(() => module?.forget(child));
    return child;
  };
}

type StartChild = (...args: unknown[]) => childProcess.ChildProcess;

/**
 * Returns modules of Node as code of modules imports them, because their functions cannot be replaced for everybody.
 */
export function followedBuiltins(): Readonly<Record<string, object>> {
  const following =
    (start: StartChild): StartChild =>
    (...args) => {
      const module = current();
      const child = start(...args);
      module?.add(child, () => void child.kill());
      if (module !== undefined) child.once("exit", () => module.forget(child));
      return child;
    };
  const { exec, execFile, fork, spawn } = childProcess as unknown as Readonly<Record<string, StartChild>>;
  const children = {
    exec: Object.assign(following(exec!), exec),
    execFile: Object.assign(following(execFile!), execFile),
    fork: following(fork!),
    spawn: following(spawn!),
  };
  const { clearImmediate, clearInterval, clearTimeout, setImmediate, setInterval, setTimeout } = globalThis;
  const promises = { ...timerPromises, default: timerPromises };
  const timing = { clearImmediate, clearInterval, clearTimeout, promises, setImmediate, setInterval, setTimeout };
  return {
    "node:child_process": { ...childProcess, ...children, default: { ...childProcess, ...children } },
    "node:timers": { ...timers, ...timing, default: { ...timers, ...timing } },
    "node:timers/promises": promises,
  };
}
