/** The runs of a suite's parts, and what they say beside the record of the real control plane. */

import type { Result } from "../../scripts/test-runs.ts";
import { compared } from "./record.ts";
import type { Spec } from "./spec.ts";
import type { Part } from "./suites.ts";

export interface PartRun {
  readonly seconds: number;
  readonly specs: readonly Spec[];
}

const ATTEMPTS = 3;

function lengthOf({ record }: Part): number {
  return record?.seconds ?? Number.MAX_SAFE_INTEGER;
}

/** What a later run of some specs leaves of an earlier one: what failed around those has not failed any more. */
function newest(earlier: readonly Spec[], later: readonly Spec[]): readonly Spec[] {
  const names = new Set(later.map(({ name }) => name));
  return [...earlier.filter(({ name, outcome }) => outcome !== "failed" && !names.has(name)), ...later];
}

export class PartRuns {
  /** The newest run of each part, by its name. */
  readonly runs = new Map<string, PartRun>();
  readonly #parts: ReadonlyMap<string, Part>;

  constructor(parts: readonly Part[]) {
    this.#parts = new Map(parts.map((part) => [part.id, part]));
  }

  /** The names of the parts, the longest first, because one that began last would be waited for alone; before them those of unknown length. */
  get ids(): readonly string[] {
    return [...this.#parts.values()].toSorted((a, b) => lengthOf(b) - lengthOf(a)).map(({ id }) => id);
  }

  /**
   * Runs a part. The second run of it is about what failed in the first one, so many times: some specs are races that the real
   * control plane loses as often.
   */
  async run(id: string): Promise<Result> {
    const part = this.#parts.get(id);
    if (part === undefined) throw new Error(`Cannot run '${id}': no suite has it`);
    let run = this.runs.get(id);
    if (run === undefined) {
      const begin = performance.now();
      const specs = await part.run();
      run = { specs, seconds: (performance.now() - begin) / 1000 };
    } else {
      for (let attempt = 1; attempt <= ATTEMPTS && compared(part, run).failed > 0; attempt++) {
        run = { ...run, specs: newest(run.specs, await part.run(compared(part, run).failures)) };
      }
    }
    this.runs.set(id, run);
    return { files: [compared(part, run)], lost: [] };
  }

  /** Why specs have failed. */
  failures(): readonly string[] {
    return [...this.runs].flatMap(([id, run]) =>
      compared(this.#parts.get(id)!, run).failures.map((name) => {
        const spec = run.specs.find((spec) => spec.name === name);
        return `${id}: ${name}: ${spec?.failure ?? spec?.outcome ?? "it did not run"}`;
      }),
    );
  }

  /** One row for each part. */
  table(): readonly string[] {
    const rows = [["", "passed", "failed", "skipped", "seconds", "on the real one"]];
    for (const [id, part] of this.#parts) {
      const run = this.runs.get(id);
      if (run === undefined) continue;
      const { passed, failed, skipped } = compared(part, run);
      const real = part.record?.seconds?.toFixed(0) ?? "";
      rows.push([id, ...[passed, failed, skipped].map(String), run.seconds.toFixed(0), real]);
    }
    const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)));
    return rows.map((row) =>
      row.map((cell, at) => (at === 0 ? cell.padEnd(widths[at]!) : cell.padStart(widths[at]!))).join("  "),
    );
  }
}
