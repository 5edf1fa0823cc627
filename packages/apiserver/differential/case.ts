/** A case: an independent sequence of exchanges. */
import type { CaseRecord, Target } from "./exchange.ts";
import { Session } from "./session.ts";
import type { Tier } from "./tiers.ts";

export interface Case {
  readonly name: string;
  /** How much of the answers is compared. @default what the group and the resource of each request's path say */
  readonly tier?: Tier;
  run(session: Session): Promise<void>;
}

/** Runs the cases one after the other on a server. */
export async function runCases(target: Target, cases: readonly Case[]): Promise<CaseRecord[]> {
  const records: CaseRecord[] = [];
  for (const each of cases) {
    const session = new Session(target, each.name);
    try {
      await each.run(session);
    } catch (error) {
      await session.send(`(broke off: ${String(error)})`, "GET", "/version").catch(() => undefined);
    }
    records.push({ ...session.record, ...(each.tier && { tier: each.tier }) });
  }
  return records;
}
