/** The state machine of a reflector: its states and the pure step from one to the next. */
import {
  isApiError,
  isForbidden,
  isGone,
  isNotFound,
  isTooManyRequests,
  isUnauthorized,
  isUnreachable,
} from "../kube/errors/api-error.ts";
import { NoRoomError } from "../kube/api/list-room.ts";
import type { InformerState } from "./informer-state.ts";

/** Why a full list is due. */
export type ListReason = "initial" | "gone" | "closed" | "needs" | "appeared" | "error" | "check";

/** The recent failures. */
interface AttemptHistory {
  /** Consecutive failures; reset after two healthy minutes. */
  readonly failures: number;
  /** Consecutive watches that the server closed within a second. */
  readonly quickCloses: number;
  /** Consecutive versions that were gone, without a lasting watch between them. */
  readonly gones: number;
}

export interface Listing extends AttemptHistory {
  readonly kind: "listing";
  readonly reason: ListReason;
}

export interface Watching extends AttemptHistory {
  readonly kind: "watching";
  readonly resourceVersion: string;
}

/** Waits for a while. */
export interface Pausing {
  readonly kind: "pausing";
  /** Milliseconds; jitter shortens the delay by up to a half unless it is exact. */
  readonly delay: number;
  readonly exact: boolean;
  readonly next: Listing | Watching;
  readonly status: InformerState;
}

/** Waits until the server answers again. */
export interface Disconnected {
  readonly kind: "disconnected";
  /** Milliseconds to wait after that; more than 0 when connections keep breaking. */
  readonly delay: number;
  readonly next: Listing | Watching;
  readonly status: InformerState;
}

export type ReflectorState = Listing | Watching | Pausing | Disconnected;

export type Failure =
  /** The version is too old, or newer than the server's: a list is due. */
  | { readonly kind: "gone"; readonly message: string }
  /** The kind does not exist. */
  | { readonly kind: "missing"; readonly message: string }
  /** Refused: authorization (403) or authentication (401). */
  | { readonly kind: "forbidden"; readonly message: string; readonly code: number }
  /** The server is overloaded or failing (429 and 5xx), or this process has no memory for what it sends. */
  | {
      readonly kind: "busy";
      readonly message: string;
      readonly code: number | undefined;
      readonly retryAfter: number | undefined;
    }
  | { readonly kind: "unreachable"; readonly message: string }
  | { readonly kind: "other"; readonly message: string; readonly code: number | undefined };

export type ReflectorEvent =
  | { readonly type: "listed"; readonly resourceVersion: string }
  /** The server closed the watch in order, `elapsed` milliseconds after it began. */
  | { readonly type: "closed"; readonly resourceVersion: string; readonly elapsed: number }
  | {
      readonly type: "failed";
      readonly failure: Failure;
      /** The last version of the watch; `undefined` for a list. */
      readonly resourceVersion?: string | undefined;
      readonly elapsed: number;
    }
  /** The wait is over. */
  | { readonly type: "resume" }
  /** A full list was requested. */
  | { readonly type: "relist"; readonly reason: ListReason };

export const START: ReflectorState = { kind: "listing", reason: "initial", failures: 0, quickCloses: 0, gones: 0 };

const FIRST_DELAY_MS = 800;
const MAX_DELAY_MS = 30_000;
/** The longest `Retry-After` that is respected; a server may send years by mistake. */
const MOST_ASKED_MS = 60_000;
const HEALTHY_MS = 120_000;
const QUICK_MS = 1_000;
const QUICK_CLOSES = 3;
/** Milliseconds before an absent kind is looked up again: its definition is usually applied shortly before or after. */
const FIRST_LOOK_MS = 1_000;
const MAX_LOOK_MS = 3_000;

export function next(state: ReflectorState, event: ReflectorEvent): ReflectorState {
  switch (event.type) {
    case "resume":
      return state.kind === "pausing" || state.kind === "disconnected" ? state.next : state;
    case "relist": {
      const attempt = attemptOf(state);
      const listing = listingFor(event.reason, attempt);
      return state === attempt ? listing : { ...(state as Pausing | Disconnected), next: listing };
    }
    case "listed": {
      const { failures, quickCloses, gones } = attemptOf(state);
      const appeared = state.kind === "listing" && state.reason === "appeared";
      const { resourceVersion } = event;
      return { kind: "watching", resourceVersion, failures: appeared ? 0 : failures, quickCloses, gones };
    }
    case "closed":
      return afterClose(attemptOf(state), event);
    default:
      return afterFailure(attemptOf(state), event);
  }
}

function attemptOf(state: ReflectorState): Listing | Watching {
  return state.kind === "pausing" || state.kind === "disconnected" ? state.next : state;
}

function listingFor(reason: ListReason, { failures, quickCloses, gones }: AttemptHistory): Listing {
  return { kind: "listing", reason, failures, quickCloses, gones };
}

function afterClose(
  state: Listing | Watching,
  { resourceVersion, elapsed }: { resourceVersion: string; elapsed: number },
): ReflectorState {
  const failures = elapsed >= HEALTHY_MS ? 0 : state.failures;
  const quickCloses = elapsed >= QUICK_MS ? 0 : state.quickCloses + 1;
  const gones = elapsed >= QUICK_MS ? 0 : state.gones;
  if (quickCloses < QUICK_CLOSES) return { kind: "watching", resourceVersion, failures, quickCloses, gones };
  // Some servers close the watch at once instead of reporting that the version is too old.
  const listing = listingFor("closed", { failures, quickCloses, gones });
  if (quickCloses === QUICK_CLOSES) return listing;
  const delay = backOff(quickCloses - QUICK_CLOSES - 1);
  const status: InformerState = { kind: "unavailable", message: "The server closes each watch at once" };
  return { kind: "pausing", delay, exact: false, next: listing, status };
}

function afterFailure(
  state: Listing | Watching,
  event: { failure: Failure; resourceVersion?: string | undefined; elapsed: number },
): ReflectorState {
  const { failure, resourceVersion } = event;
  const before = state.kind === "watching" && event.elapsed >= HEALTHY_MS ? 0 : state.failures;
  const lasted = event.elapsed >= QUICK_MS;
  const gones = lasted ? 0 : state.gones;
  const counted: AttemptHistory = { failures: before + 1, quickCloses: lasted ? 0 : state.quickCloses, gones };
  const again: Listing | Watching =
    state.kind === "watching"
      ? { kind: "watching", resourceVersion: resourceVersion ?? state.resourceVersion, ...counted }
      : { kind: "listing", reason: state.reason, ...counted };
  const { message } = failure;
  const pause = { kind: "pausing", delay: backOff(before), exact: false } as const;
  switch (failure.kind) {
    case "gone": {
      // The server works and names the reason, so earlier failures do not count.
      const reason = state.kind === "listing" ? state.reason : "gone";
      const listing = listingFor(reason, { ...counted, failures: before, gones: gones + 1 });
      const status: InformerState = { kind: "unavailable", message, code: 410 };
      return gones === 0 ? listing : { ...pause, delay: backOff(gones - 1), next: listing, status };
    }
    case "missing":
      return {
        kind: "pausing",
        delay: Math.min(MAX_LOOK_MS, FIRST_LOOK_MS * 1.5 ** before),
        exact: true,
        next: listingFor("appeared", counted),
        status: { kind: "waiting", message },
      };
    case "forbidden":
      return { ...pause, next: again, status: { kind: "unavailable", message, code: failure.code } };
    case "busy": {
      const status: InformerState = { kind: "unavailable", message, code: failure.code };
      if (failure.retryAfter === undefined) return { ...pause, next: again, status };
      // Repeated `Retry-After: 0` must not become a storm of requests.
      const least = Math.min(backOff(before) / 4, 1_000);
      const delay = Math.min(Math.max(failure.retryAfter * 1000, least), MOST_ASKED_MS);
      return { kind: "pausing", delay, exact: true, next: again, status };
    }
    case "unreachable":
      return {
        kind: "disconnected",
        delay: before < 3 ? 0 : Math.min(backOff(before - 3), FIRST_DELAY_MS * 4),
        next: again,
        status: { kind: "unavailable", message },
      };
    default:
      return {
        ...pause,
        next: listingFor(state.kind === "listing" ? state.reason : "error", counted),
        status: { kind: "unavailable", message, code: failure.code },
      };
  }
}

function backOff(failures: number): number {
  return Math.min(MAX_DELAY_MS, FIRST_DELAY_MS * 2 ** failures);
}

/** Classifies the error of a list or watch. */
export function failureOf(error: unknown): Failure {
  const message = error instanceof Error ? error.message : String(error);
  if (isUnreachable(error)) return { kind: "unreachable", message };
  if (error instanceof NoRoomError) return { kind: "busy", message, code: undefined, retryAfter: undefined };
  if (!isApiError(error)) return { kind: "other", message, code: undefined };
  const { code, retryAfter } = error;
  if (isGone(error) || isTooLarge(error)) return { kind: "gone", message };
  if (isNotFound(error)) return { kind: "missing", message };
  if (isForbidden(error) || isUnauthorized(error)) return { kind: "forbidden", message, code };
  if (isTooManyRequests(error) || code >= 500) return { kind: "busy", message, code, retryAfter };
  return { kind: "other", message, code };
}

/**
 * Whether the requested version is newer than the server's, as after a failover; Kubernetes has reported it in three
 * forms.
 */
function isTooLarge({
  code,
  status,
}: {
  code: number;
  status: {
    message?: string | undefined;
    details?:
      { causes?: readonly { reason?: string | undefined; message?: string | undefined }[] | undefined } | undefined;
  };
}): boolean {
  if (code !== 504) return false;
  const says = (text: string | undefined): boolean => text?.includes("Too large resource version") === true;
  const causes = status.details?.causes ?? [];
  return (
    says(status.message) || causes.some(({ reason, message }) => reason === "ResourceVersionTooLarge" || says(message))
  );
}
