/** Judges what replicas did by the server's own history of their Lease, and by their records. */
import { isOk, isWrite, type LoggedRequest } from "./audit-log.ts";
import type { StoredLease } from "./lease-history.ts";
import type { RunRecord } from "./records.ts";

/** A fault of a replica, or of what is between it and the server. */
export interface Fault {
  readonly kind: string;
  /** The user of the affected process; `undefined` when it was none of them. */
  readonly user: string | undefined;
  /** Whether that process was the leader. */
  readonly leader: boolean;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

export interface Evidence {
  readonly requests: readonly LoggedRequest[];
  /** Every version of the Lease, in order. */
  readonly lease: readonly StoredLease[];
  /** The name of the Lease, of which a replica says in an Event that it leads no more. */
  readonly leaseName: string;
  readonly runs: readonly RunRecord[];
  readonly faults: readonly Fault[];
  /** When the last fault was over and everything worked again. */
  readonly until: number;
}

/** Why a write was illegitimate. */
export type Offence = "another held the Lease" | "the Lease had been released" | "the Lease had run out";

export interface Violation {
  readonly offence: Offence;
  readonly request: LoggedRequest;
  /** For how many milliseconds the writer had not held the Lease any more. */
  readonly late: number;
}

export interface TwoRuns {
  readonly key: string;
  readonly first: RunRecord;
  readonly second: RunRecord;
}

export interface Takeover {
  readonly fault: Fault;
  /** Milliseconds until another process wrote an object; `undefined` when none did before the next fault. */
  readonly ms: number | undefined;
  /** The longest time without any write, in milliseconds, before the next fault. */
  readonly silence: number;
}

export interface Verdict {
  /** The number of judged writes: those that the server executed, except to Leases. */
  readonly writes: number;
  readonly violations: readonly Violation[];
  readonly runs: number;
  readonly cut: number;
  readonly twoRuns: readonly TwoRuns[];
  readonly takeovers: readonly Takeover[];
}

/** A version of the Lease, with the times of its write and of its holder's process. */
interface Version {
  readonly revision: number;
  readonly user: string | undefined;
  readonly isFree: boolean;
  readonly from: number;
  readonly until: number;
  /** When it expires at the latest. */
  readonly expires: number;
}

export function judge({ requests, lease, leaseName, runs, faults, until }: Evidence): Verdict {
  const versions = versionsOf(lease, requests);
  const writes = requests
    .filter((request) => isWrite(request) && isOk(request) && !isOfElection(request, leaseName))
    .sort((a, b) => a.answered - b.answered);
  const seen = new Set<number>();
  const violations: Violation[] = [];
  for (const request of writes) {
    const { revision } = request;
    // A write that changed nothing has an earlier revision in its response.
    const isNew = revision !== undefined && !seen.has(revision);
    if (revision !== undefined) seen.add(revision);
    const violation = isNew ? byRevision(request, versions) : byTime(request, versions);
    if (violation !== undefined) violations.push(violation);
  }
  return {
    writes: writes.length,
    violations,
    runs: runs.length,
    cut: runs.filter(({ isCut }) => isCut).length,
    twoRuns: twoAtOnce(runs),
    takeovers: takeoversOf(faults, { writes, until }),
  };
}

function isOfElection({ resource, name }: LoggedRequest, leaseName: string): boolean {
  return resource === "leases" || (resource === "events" && name.startsWith(`${leaseName}.`));
}

function versionsOf(lease: readonly StoredLease[], requests: readonly LoggedRequest[]): readonly Version[] {
  const logged = new Map<number, LoggedRequest>();
  const users = new Map<string, string>();
  for (const request of requests) {
    if (request.resource !== "leases" || !isWrite(request) || !isOk(request)) continue;
    if (request.revision !== undefined) logged.set(request.revision, request);
    if (request.holder) users.set(request.holder, request.user);
  }
  return lease.map(({ revision, holder, duration, renewed }) => {
    const { received, answered } = logged.get(revision) ?? { received: renewed, answered: renewed };
    return {
      revision,
      user: users.get(holder),
      isFree: holder === "",
      from: received,
      until: answered,
      expires: answered + duration,
    };
  });
}

/** The order of etcd's writes decides, and only the server's clock, for the duration of a renewal. */
function byRevision(request: LoggedRequest, versions: readonly Version[]): Violation | undefined {
  const index = versions.findLastIndex(({ revision }) => revision < request.revision!);
  return offence(request, { versions, index });
}

/** Without an order, any process that held the Lease between request and response could write. */
function byTime(request: LoggedRequest, versions: readonly Version[]): Violation | undefined {
  const last = versions.findLastIndex(({ from }) => from <= request.answered);
  const first = Math.max(
    0,
    versions.findLastIndex(({ until }) => until <= request.received),
  );
  for (let index = first; index <= last; index++) {
    if (offence(request, { versions, index }) === undefined) return undefined;
  }
  return offence(request, { versions, index: first });
}

function offence(
  request: LoggedRequest,
  { versions, index }: { readonly versions: readonly Version[]; readonly index: number },
): Violation | undefined {
  const version = versions[index];
  const violation = (offence: Offence, since: number): Violation => ({
    offence,
    request,
    late: Math.max(0, request.received - since),
  });
  if (version === undefined) return violation("the Lease had been released", request.received);
  if (version.user === request.user && !version.isFree) {
    return request.received > version.expires ? violation("the Lease had run out", version.expires) : undefined;
  }
  const since = versions[lastOf(request.user, versions, index) + 1]?.until ?? version.until;
  return violation(version.isFree ? "the Lease had been released" : "another held the Lease", since);
}

/** Returns the last version before `index` that the process held. */
function lastOf(user: string, versions: readonly Version[], index: number): number {
  return versions.slice(0, index).findLastIndex((version) => version.user === user);
}

function twoAtOnce(runs: readonly RunRecord[]): readonly TwoRuns[] {
  const byKey = Map.groupBy(runs, ({ key }) => key);
  const overlaps: TwoRuns[] = [];
  for (const [key, ofKey] of byKey) {
    const ordered = ofKey.toSorted((a, b) => a.from - b.from);
    let first = ordered[0]!;
    for (const second of ordered.slice(1)) {
      if (second.from < first.until) overlaps.push({ key, first, second });
      if (second.until > first.until) first = second;
    }
  }
  return overlaps;
}

function takeoversOf(
  faults: readonly Fault[],
  { writes, until }: { readonly writes: readonly LoggedRequest[]; readonly until: number },
): readonly Takeover[] {
  const work = writes.filter(({ resource }) => resource !== "events");
  return faults.map((fault, index) => {
    const end = faults[index + 1]?.at ?? until;
    const after = work.filter(({ answered }) => answered >= fault.at && answered < end);
    const next = after.find(({ user }) => user !== fault.user);
    let silence = 0;
    let last = fault.at;
    for (const { answered } of after) {
      silence = Math.max(silence, answered - last);
      last = answered;
    }
    silence = Math.max(silence, end - last);
    return {
      fault,
      ms: fault.user === undefined || next === undefined ? undefined : next.answered - fault.at,
      silence,
    };
  });
}
