/** Marks the registration of a single process with owner and expiry, so that a crash leaves nothing for ever. */
import { hostname } from "node:os";
import { isConflict, isNotFound } from "../../kube/errors/api-error.ts";
import type { Transport } from "../../kube/transport/transport.ts";
import type { Log } from "../../observe/log.ts";
import type { Clock } from "../../platform/clock.ts";

const OWNED = "binnacle.dev/webhooks";
const BY_PROCESS = "process";
const OWNER = "binnacle.dev/owner";
const EXPIRES = "binnacle.dev/expires";

/** Milliseconds for which a registration counts as used after its last write. */
const LIFETIME = 5 * 60_000;
const RENEW_EVERY = 60_000;

/** The timeout of each request in milliseconds, because an unreachable server must not keep a process from starting. */
const WITHIN = 5_000;

const COLLECTIONS = ["mutatingwebhookconfigurations", "validatingwebhookconfigurations"].map(
  (plural) => `/apis/admissionregistration.k8s.io/v1/${plural}`,
);

/** The mark of this process. */
export interface OwnerMark {
  /** Returns labels and annotations, with an expiry that counts from now on. */
  metadata(): {
    readonly labels: Readonly<Record<string, string>>;
    readonly annotations: Readonly<Record<string, string>>;
  };
  /** The interval of renewals in milliseconds. */
  readonly renewEvery: number;
}

export interface Owner {
  readonly host: string;
  readonly pid: number;
  /** When the process began, in milliseconds since the epoch, because process ids are reused. */
  readonly began: number;
}

export function ownerMark(clock: Pick<Clock, "now">, owner: Owner = thisProcess()): OwnerMark {
  return {
    renewEvery: RENEW_EVERY,
    metadata: () => ({
      labels: { "app.kubernetes.io/managed-by": "binnacle", [OWNED]: BY_PROCESS },
      annotations: {
        [OWNER]: ownerName(owner),
        [EXPIRES]: new Date(endOfPeriod(clock.now()) + LIFETIME).toISOString(),
      },
    }),
  };
}

/** Returns the name of a process. @param owner the process. @default this one */
export function ownerName(owner: Owner = thisProcess()): string {
  return `${owner.host}/${owner.pid}/${owner.began}`;
}

/**
 * Whether a process of this machine is gone; `undefined` for a process of another machine, about which nothing is
 * known.
 */
export function isGone(
  name: string,
  { owner = thisProcess(), isRunning = runs }: Pick<JanitorOptions, "owner" | "isRunning"> = {},
): boolean | undefined {
  const [host, pid, began] = name.split("/");
  if (host !== owner.host) return undefined;
  return Number(pid) === owner.pid ? Number(began) !== owner.began : !isRunning(Number(pid));
}

/** Returns the end of the present period, so that writing the mark again changes nothing before the next one. */
function endOfPeriod(now: number): number {
  return Math.ceil(now / RENEW_EVERY) * RENEW_EVERY;
}

export interface JanitorOptions {
  readonly transport: Pick<Transport, "request">;
  readonly clock: Pick<Clock, "now">;
  readonly log: Log;
  readonly signal: AbortSignal;
  /** The owner. @default this process */
  readonly owner?: Owner | undefined;
  /** Whether a process of this machine is running. @default asks the system */
  readonly isRunning?: ((pid: number) => boolean) | undefined;
}

interface Marked {
  readonly metadata: {
    readonly name: string;
    readonly uid: string;
    readonly annotations?: Readonly<Record<string, string>> | undefined;
  };
}

/**
 * Removes registrations of processes that are gone: those of this machine whose process is not running, and all
 * others that were not renewed in time.
 *
 * @returns their names. @throws ApiError, UnreachableError, the signal's reason.
 */
export async function removeLeftRegistrations(options: JanitorOptions): Promise<readonly string[]> {
  const { transport, log, signal } = options;
  const removed: string[] = [];
  for (const collection of COLLECTIONS) {
    const query = new URLSearchParams({ labelSelector: `${OWNED}=${BY_PROCESS}` });
    const list = await transport.request<{ items: readonly Marked[] }>({
      method: "GET",
      path: collection,
      query,
      signal,
      timeout: WITHIN,
    });
    for (const { metadata } of list.items) {
      const why = whyLeft(metadata.annotations ?? {}, options);
      if (why === undefined) continue;
      const { name, uid } = metadata;
      if (!(await isRemoved(`${collection}/${encodeURIComponent(name)}`, uid, options))) continue;
      removed.push(name);
      log.info("Removed a webhook registration that was left behind", { name, because: why });
    }
  }
  return removed;
}

/** Deletes a registration. @returns false when it is gone, because another process was faster. */
async function isRemoved(path: string, uid: string, { transport, signal }: JanitorOptions): Promise<boolean> {
  const body = { apiVersion: "v1", kind: "DeleteOptions", preconditions: { uid } };
  try {
    await transport.request({ method: "DELETE", path, body, signal, timeout: WITHIN });
    return true;
  } catch (error) {
    if (isNotFound(error) || isConflict(error)) return false;
    throw error;
  }
}

function whyLeft(annotations: Readonly<Record<string, string>>, options: JanitorOptions): string | undefined {
  const expires = Date.parse(annotations[EXPIRES] ?? "");
  if (!(expires > options.clock.now())) return "it was not renewed in time";
  return isGone(annotations[OWNER] ?? "", options) ? "its process is gone" : undefined;
}

function thisProcess(): Owner {
  return { host: hostname(), pid: process.pid, began: Math.round(performance.timeOrigin) };
}

function runs(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // The process exists, but runs as another user.
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}
