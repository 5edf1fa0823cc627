/** The Lease object of an election. */

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

/** What a holder writes into the Lease. */
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
    spec: { ...claimed(claim, claim.now), leaseTransitions: 0 },
  };
}

/** Makes this candidate the holder: that is a transition unless it already is. */
export function takenLease(lease: Lease, claim: Claim): Lease {
  const { leaseTransitions = 0, acquireTime } = lease.spec ?? {};
  const isOurs = holderOf(lease) === claim.identity;
  const acquired = claimed(claim, claim.now);
  return {
    ...lease,
    spec: {
      ...lease.spec,
      ...acquired,
      acquireTime: isOurs ? (acquireTime ?? acquired.acquireTime) : acquired.acquireTime,
      leaseTransitions: isOurs ? leaseTransitions : leaseTransitions + 1,
    },
  };
}

/** Returns the Lease without a holder, so that any candidate may take it at once. */
export function releasedLease(lease: Lease, now: number): Lease {
  const time = microTime(now);
  return {
    ...lease,
    spec: { ...lease.spec, holderIdentity: "", leaseDurationSeconds: 1, acquireTime: time, renewTime: time },
  };
}

/** Formats a time as Kubernetes' MicroTime: RFC 3339 with exactly six decimals. */
function microTime(milliseconds: number): string {
  return new Date(milliseconds).toISOString().replace("Z", "000Z");
}

function claimed({ identity, leaseDuration, now }: Claim, acquired: number): LeaseSpec {
  return {
    holderIdentity: identity,
    leaseDurationSeconds: Math.ceil(leaseDuration / 1_000),
    acquireTime: microTime(acquired),
    renewTime: microTime(now),
  };
}
