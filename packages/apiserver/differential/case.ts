/** A case: an independent sequence of requests to a server, and the record of its answers. */
import { Session } from "./session.ts";
import type { Tier } from "./tiers.ts";

export interface Case {
  readonly name: string;
  /** How much of the answers is compared. @default what the group and the resource of each request's path say */
  readonly tier?: Tier;
  /**
   * Whether the case depends on objects of the whole cluster, such as definitions: it is played by itself, before the
   * others.
   */
  readonly isAlone?: boolean;
  run(session: Session): Promise<void>;
}

/** A server that gets the requests. */
export interface Target extends AsyncDisposable {
  readonly name: "real" | "embedded";
  /** Sends a request. @param credentials whether it has the administrator's certificate. @default it has */
  fetch(request: Request, credentials?: "none"): Promise<Response>;
}

export interface Call {
  readonly method: string;
  /** The path and query. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** An object is sent as JSON, a text as it is. */
  readonly body?: unknown;
  /** Whether it is sent without the administrator's certificate; headers may contain a token. @default with it */
  readonly credentials?: "none";
}

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** The parsed body if it is JSON; for a watch the events. */
  readonly body: unknown;
}

/**
 * Stands for the status of an answer that did not come: kube-apiserver panics at some requests and closes the
 * connection.
 */
export const noAnswer = -1;

export interface Exchange {
  readonly label: string;
  readonly call: Call;
  readonly answer: Answer;
}

/** The exchanges of one case in their order. */
export interface CaseRecord {
  readonly name: string;
  /** The tier of its case, where that has one. */
  readonly tier?: Tier;
  readonly exchanges: readonly Exchange[];
}

/** Runs cases on a server. @param atOnce how many run at the same time */
export async function runCases(target: Target, cases: readonly Case[], atOnce = 1): Promise<CaseRecord[]> {
  const records: CaseRecord[] = [];
  for (const each of cases) if (each.isAlone) records.push(await runCase(target, each));
  const others = cases.filter(({ isAlone }) => !isAlone).values();
  const lane = async (): Promise<void> => {
    for (const each of others) records.push(await runCase(target, each));
  };
  await Promise.all(Array.from({ length: atOnce }, lane));
  return records;
}

async function runCase(target: Target, each: Case): Promise<CaseRecord> {
  const { name, tier } = each;
  const session = new Session(target, name);
  try {
    await each.run(session);
  } catch (error) {
    session.note(`broke off: ${String(error)}`, undefined);
  }
  return { name, ...(tier && { tier }), exchanges: session.exchanges };
}
