/** Daemons: code that an author runs beside each object for as long as the object exists. */
import type { z } from "zod";
import type { DaemonContext } from "../reconcile/context.ts";
import { type Duration, parseDuration } from "../resource/duration.ts";
import type { AnyObject, Shape } from "../resource/handle.ts";
import type { Predicate } from "./predicate.ts";

/**
 * Begins when the object is a member, and goes on until its signal fires. A daemon that resolves has done its work.
 * One that throws is started again with back-off; a RetryError sets the time, and a TerminalError prevents the
 * restart.
 */
export type DaemonFunction<S extends Shape, Value = unknown, Metrics = {}> = (
  object: S["read"],
  context: DaemonContext<S, Value, Metrics>,
) => Promise<void>;

/** The options of a daemon. */
export interface DaemonOptions<S extends Shape, Value = unknown, Metrics = {}> {
  readonly run: DaemonFunction<S, Value, Metrics>;
  /**
   * The schema of the value that it passes to `enqueue(reason, value)`: it determines the value's type, and the value
   * is checked against it.
   * @default any value
   */
  readonly value?: z.ZodType<Value>;
  /** Selects the objects that have it. @default every member */
  readonly when?: (object: S["read"]) => boolean;
  /**
   * Selects the changes of the object that restart the daemon, such as `changed.generation`. @default none: the daemon
   * reads `latest()`
   */
  readonly restartOn?: Predicate<S["read"]>;
  /** The most objects that may have this daemon at the same time; others wait until one ends. @default 1000 */
  readonly concurrency?: number;
  /**
   * The back-off of a daemon that throws, which is reset after a minute without a failure. @default { first: "1s",
   * max: "5m" }
   */
  readonly retry?: { readonly first?: Duration; readonly max?: Duration };
}

export type Daemon<S extends Shape, Value = unknown, Metrics = {}> =
  DaemonFunction<S, Value, Metrics> | DaemonOptions<S, Value, Metrics>;

/** A daemon with all defaults filled in. */
export interface DaemonDeclaration {
  readonly name: string;
  readonly run: DaemonFunction<Shape>;
  readonly value: z.ZodType | undefined;
  readonly when: ((object: AnyObject) => boolean) | undefined;
  readonly restartOn: Predicate<AnyObject> | undefined;
  readonly concurrency: number;
  /** The first delay in milliseconds; the values below are milliseconds too. */
  readonly first: number;
  readonly max: number;
}

const DEFAULT_CONCURRENCY = 1_000;
const FIRST = 1_000;
const MAX = 300_000;

export function daemonDeclarations(
  daemons: { readonly [name: string]: Daemon<Shape> } | undefined,
): readonly DaemonDeclaration[] {
  return Object.entries(daemons ?? {}).map(([name, daemon]) => {
    const options: DaemonOptions<Shape> = typeof daemon === "function" ? { run: daemon } : daemon;
    const { run, value, when, restartOn, concurrency = DEFAULT_CONCURRENCY, retry = {} } = options;
    const first = retry.first === undefined ? FIRST : parseDuration(retry.first, "retry.first");
    const max = retry.max === undefined ? Math.max(MAX, first) : parseDuration(retry.max, "retry.max");
    return { name, run, value, when, restartOn, concurrency, first, max };
  });
}
