/** Formats a judgement as a table. */
import type { Offence, Takeover, Verdict } from "./judge.ts";

const OFFENCES: readonly Offence[] = ["another held the Lease", "the Lease had been released", "the Lease had run out"];

export interface HaReport extends Verdict {
  /** How many processes ended without being told to. */
  readonly exits: number;
  /** Lease requests per second at rest, of both replicas together; `undefined` when that was not measured. */
  readonly leaseRequests: number | undefined;
  /** What the operator had not done a minute after the last fault; `undefined` for nothing. */
  readonly unsettled: string | undefined;
}

export function table(report: HaReport): string {
  const { violations, takeovers, leaseRequests } = report;
  const offences = OFFENCES.map((offence) => {
    const matching = violations.filter((violation) => violation.offence === offence);
    const late = Math.max(...matching.map((violation) => violation.late));
    const value = matching.length === 0 ? "0" : `${matching.length}, up to ${seconds(late)} too late`;
    return [`… while ${offence}`, value] as const;
  });
  const rows: readonly (readonly [string, string])[] = [
    ["writes judged", String(report.writes)],
    ...offences,
    ["runs recorded, cut off", report.runs === 0 ? "none" : `${report.runs}, ${report.cut}`],
    ["two runs of one key at once", report.runs === 0 ? "not known" : String(report.twoRuns.length)],
    ["processes that ended by themselves", String(report.exits)],
    ["Lease requests a second at rest", leaseRequests === undefined ? "not measured" : leaseRequests.toFixed(2)],
    ["left undone at the end", report.unsettled ?? "nothing"],
  ];
  return [
    "| judged | |",
    "| --- | --- |",
    ...rows.map(([what, value]) => `| ${what} | ${value} |`),
    "",
    "| fault | of | times | another wrote after: p50 | at most | nobody wrote for: p50 | at most |",
    "| --- | --- | --- | --- | --- | --- | --- |",
    ...[...Map.groupBy(takeovers, kindOf)].map(([kind, all]) => faultRow(kind, all)),
  ].join("\n");
}

function kindOf({ fault: { kind, user, leader } }: Takeover): string {
  return `${kind} | ${user === undefined ? "server" : leader ? "leader" : "standby"}`;
}

function faultRow(kind: string, takeovers: readonly Takeover[]): string {
  const isOfLeader = kind.endsWith("leader");
  const times = takeovers.flatMap(({ ms }) => (ms === undefined || !isOfLeader ? [] : [ms])).sort((a, b) => a - b);
  const silences = takeovers.map(({ silence }) => silence).sort((a, b) => a - b);
  const both = (values: readonly number[]): string =>
    values.length === 0 ? "– | –" : `${seconds(values[(values.length - 1) >> 1]!)} | ${seconds(values.at(-1)!)}`;
  return `| ${kind} | ${takeovers.length} | ${both(times)} | ${both(silences)} |`;
}

function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(2)} s`;
}
