/**
 * A `coordination.k8s.io/v1` Lease.
 *
 * @see https://kubernetes.io/docs/reference/kubernetes-api/cluster-resources/lease-v1/
 */
export interface Lease {
  readonly apiVersion: "coordination.k8s.io/v1";
  readonly kind: "Lease";
  readonly metadata: LeaseMetadata;
  readonly spec?: LeaseSpec | undefined;
}

export interface LeaseMetadata {
  readonly name: string;
  readonly namespace: string;
  readonly uid?: string | undefined;
  readonly resourceVersion?: string | undefined;
  readonly labels?: Readonly<Record<string, string>> | undefined;
  readonly annotations?: Readonly<Record<string, string>> | undefined;
}

export interface LeaseSpec {
  readonly holderIdentity?: string | undefined;
  readonly leaseDurationSeconds?: number | undefined;
  /** A time in RFC 3339 with microseconds. */
  readonly acquireTime?: string | undefined;
  /** A time in RFC 3339 with microseconds. */
  readonly renewTime?: string | undefined;
  readonly leaseTransitions?: number | undefined;
}

/** The claim that a holder writes into the Lease. */
export interface Claim {
  readonly identity: string;
  /** The lease duration in milliseconds. */
  readonly leaseDuration: number;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** Returns the identity of the holder; empty when nobody holds the Lease. */
export function holderOf(lease: Lease | undefined): string {
  return lease?.spec?.holderIdentity ?? "";
}

/** The longest identity that is printed whole. */
const MOST_SHOWN = 128;

/** Returns a holder for messages: cut, because anybody who may write the Lease can write any length. */
export function shownHolder(holder: string): string {
  return holder.length <= MOST_SHOWN ? holder : `${holder.slice(0, MOST_SHOWN)}… (${holder.length} characters)`;
}

/**
 * Whether a holder released the Lease, as client-go does; somebody who only empties the holder leaves the other fields.
 */
export function isReleased(lease: Lease): boolean {
  const { leaseDurationSeconds, acquireTime, renewTime } = lease.spec ?? {};
  return holderOf(lease) === "" && leaseDurationSeconds === 1 && renewTime !== undefined && renewTime === acquireTime;
}

/** Whether a Lease was made in advance, and nobody has held it yet. */
export function wasNeverHeld(lease: Lease): boolean {
  return holderOf(lease) === "" && lease.spec?.renewTime === undefined && lease.spec?.acquireTime === undefined;
}

/** Returns the lease duration that the holder wrote, in milliseconds; `fallback` when there is none. */
export function durationOf(lease: Lease, fallback: number): number {
  const seconds = lease.spec?.leaseDurationSeconds;
  return seconds === undefined ? fallback : seconds * 1_000;
}

/** Makes a new Lease that this candidate holds. */
export function newLease(metadata: LeaseMetadata, claim: Claim): Lease {
  return {
    apiVersion: "coordination.k8s.io/v1",
    kind: "Lease",
    metadata,
    spec: { ...claimed(claim), leaseTransitions: 0 },
  };
}

/** The largest number of transitions that the server accepts; somebody else may have written it. */
const MOST_TRANSITIONS = 2 ** 31 - 1;

/** Makes this candidate the holder: that is a transition unless it already is. */
export function takenLease(lease: Lease, claim: Claim): Lease {
  const { leaseTransitions = 0, acquireTime } = lease.spec ?? {};
  const isOurs = holderOf(lease) === claim.identity;
  const acquired = claimed(claim);
  return {
    ...lease,
    spec: {
      ...lease.spec,
      ...acquired,
      acquireTime: isOurs ? (acquireTime ?? acquired.acquireTime) : acquired.acquireTime,
      leaseTransitions: isOurs ? leaseTransitions : Math.min(leaseTransitions + 1, MOST_TRANSITIONS),
    },
  };
}

/**
 * Returns the Lease without a holder.
 *
 * @param outlasts the milliseconds for which an earlier holder may still write. Without them, any candidate may take
 * the Lease at once; with them, the Lease looks like one that somebody has emptied, so that others wait.
 */
export function releasedLease(lease: Lease, now: number, outlasts = 0): Lease {
  const time = microTime(now);
  const released =
    outlasts <= 0
      ? { leaseDurationSeconds: 1, acquireTime: time, renewTime: time }
      : { leaseDurationSeconds: Math.ceil(outlasts / 1_000) + 1 };
  return { ...lease, spec: { ...lease.spec, holderIdentity: "", ...released } };
}

/** Formats a time as Kubernetes' MicroTime: RFC 3339 with exactly six decimals. */
function microTime(milliseconds: number): string {
  const micros = Math.min(999, Math.round((milliseconds % 1) * 1_000));
  return new Date(milliseconds).toISOString().replace("Z", `${String(micros).padStart(3, "0")}Z`);
}

/** The two times always differ, so that no claim whose holder somebody emptied looks like a release. */
function claimed({ identity, leaseDuration, now }: Claim): LeaseSpec {
  const acquired = Math.floor(now);
  return {
    holderIdentity: identity,
    leaseDurationSeconds: Math.ceil(leaseDuration / 1_000),
    acquireTime: microTime(acquired),
    renewTime: microTime(Math.max(now, acquired + 0.001)),
  };
}
