/** Reads what the operator's module recorded about its runs. */
import { readFile } from "node:fs/promises";

/** A run from its beginning to its end, without the time in which its process was stopped. */
export interface RunRecord {
  readonly user: string;
  readonly key: string;
  /** Milliseconds since the epoch. */
  readonly from: number;
  readonly until: number;
  /** Whether it was told to end before it was done. */
  readonly isCut: boolean;
}

/** A process of the operator, as the test that started it knows it. */
export interface ProcessRecord {
  readonly user: string;
  /** When it ended; `undefined` while it runs. */
  readonly ended: number | undefined;
  /** When SIGSTOP stopped it, and when it continued. */
  readonly stops: readonly { readonly from: number; readonly until: number }[];
}

interface Step {
  readonly at: number;
  readonly what: "begin" | "step" | "end" | "cut";
}

/** Returns the runs in the lines `TIME RUN KEY STEP` of a process. */
export function runsOf(lines: readonly string[], { user, ended, stops }: ProcessRecord): readonly RunRecord[] {
  const runs = new Map<string, { readonly key: string; readonly steps: Step[] }>();
  for (const line of lines) {
    const [at, run, key, what] = line.split(" ");
    if (what === undefined) continue; // a kill has cut the line short
    const entry = runs.get(run!) ?? { key: key!, steps: [] };
    runs.set(run!, entry);
    entry.steps.push({ at: Number(at), what: what as Step["what"] });
  }
  return [...runs.values()].map(({ key, steps }) => {
    const from = steps[0]!.at;
    const last = steps.at(-1)!;
    const isOver = last.what === "end" || last.what === "cut";
    const until = isOver ? last.at : (ended ?? Infinity);
    // It ran until its process was stopped, unless it took another step after that.
    const stop = stops.find((one) => one.from >= from && one.from <= until);
    const goesOn = stop === undefined || steps.some(({ at, what }) => at >= stop.until && what === "step");
    return { user, key, from, until: goesOn ? until : stop.from, isCut: last.what === "cut" };
  });
}

export async function readRuns(file: string, process: ProcessRecord): Promise<readonly RunRecord[]> {
  const text = await readFile(file, "utf8").catch(() => "");
  return runsOf(text.split("\n"), process);
}
