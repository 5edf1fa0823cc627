/** What the operator's module wrote down about its runs. */
import { readFile } from "node:fs/promises";

/** A run at work: from its beginning to its end, and not while its process was stopped. */
export interface RunRecord {
  readonly user: string;
  readonly key: string;
  /** Milliseconds since the epoch. */
  readonly from: number;
  readonly until: number;
  /** It was told to end before it had done all it had to. */
  readonly isCut: boolean;
}

/** A process of the operator, as whoever started it knows it. */
export interface ProcessRecord {
  readonly user: string;
  /** When it ended; `undefined` while it runs. */
  readonly ended: number | undefined;
  /** When it was stopped by SIGSTOP, and when it went on. */
  readonly stops: readonly { readonly from: number; readonly until: number }[];
}

interface Step {
  readonly at: number;
  readonly what: "begin" | "step" | "end" | "cut";
}

/** Runs in the lines `TIME RUN KEY STEP` of a process. */
export function runsOf(lines: readonly string[], { user, ended, stops }: ProcessRecord): readonly RunRecord[] {
  const runs = new Map<string, { readonly key: string; readonly steps: Step[] }>();
  for (const line of lines) {
    const [at, run, key, what] = line.split(" ");
    if (what === undefined) continue; // a line that a kill cut short
    const entry = runs.get(run!) ?? { key: key!, steps: [] };
    runs.set(run!, entry);
    entry.steps.push({ at: Number(at), what: what as Step["what"] });
  }
  return [...runs.values()].map(({ key, steps }) => {
    const from = steps[0]!.at;
    const last = steps.at(-1)!;
    const isOver = last.what === "end" || last.what === "cut";
    const until = isOver ? last.at : (ended ?? Infinity);
    // It was at work until its process was stopped, unless it took another step after that.
    const stop = stops.find((one) => one.from >= from && one.from <= until);
    const goesOn = stop === undefined || steps.some(({ at, what }) => at >= stop.until && what === "step");
    return { user, key, from, until: goesOn ? until : stop.from, isCut: last.what === "cut" };
  });
}

export async function readRuns(file: string, process: ProcessRecord): Promise<readonly RunRecord[]> {
  const text = await readFile(file, "utf8").catch(() => "");
  return runsOf(text.split("\n"), process);
}
