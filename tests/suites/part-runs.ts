/** The runs of a suite's parts, and what they say beside the record of the real control plane. */

import type { Result } from "../../scripts/test-runs.ts";
import { compared } from "./record.ts";
import type { Spec } from "./spec.ts";
import type { Part } from "./suites.ts";

export interface PartRun {
  readonly seconds: number;
  readonly specs: readonly Spec[];
}

export class PartRuns {
  /** The newest run of each part, by its name. */
  readonly runs = new Map<string, PartRun>();
  readonly #parts: ReadonlyMap<string, Part>;

  constructor(parts: readonly Part[]) {
    this.#parts = new Map(parts.map((part) => [part.id, part]));
  }

  /** The names of the parts, the longest first: one that began last would be waited for alone. */
  get ids(): readonly string[] {
    return [...this.#parts.values()]
      .toSorted((a, b) => (b.record?.seconds ?? 0) - (a.record?.seconds ?? 0))
      .map(({ id }) => id);
  }

  /** Runs a part. The second run of a part is about what failed in the first, where the part can do that. */
  async run(id: string): Promise<Result> {
    const part = this.#parts.get(id);
    if (part === undefined) throw new Error(`Cannot run '${id}': no suite has it`);
    const first = this.runs.get(id);
    const begin = performance.now();
    const specs = await part.run(first === undefined ? undefined : this.#failing(part, first));
    const seconds = first?.seconds ?? (performance.now() - begin) / 1000;
    const newest = new Map([...(first?.specs ?? []), ...specs].map((spec) => [spec.name, spec]));
    const run = { seconds, specs: [...newest.values()] };
    this.runs.set(id, run);
    return { files: [compared(part, run)], lost: [] };
  }

  #failing(part: Part, { specs }: PartRun): readonly string[] {
    const passed = new Set(specs.filter(({ outcome }) => outcome === "passed").map(({ name }) => name));
    return Object.keys(part.record?.specs ?? {}).filter((name) => !passed.has(name));
  }

  /** One row for each part. */
  table(): readonly string[] {
    const rows = [["", "passed", "failed", "skipped", "seconds", "on the real one"]];
    for (const [id, part] of this.#parts) {
      const run = this.runs.get(id);
      if (run === undefined) continue;
      const { passed, failed, skipped } = compared(part, run);
      const real = part.record === undefined ? "" : part.record.seconds.toFixed(0);
      rows.push([id, ...[passed, failed, skipped].map(String), run.seconds.toFixed(0), real]);
    }
    const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)));
    return rows.map((row) =>
      row.map((cell, at) => (at === 0 ? cell.padEnd(widths[at]!) : cell.padStart(widths[at]!))).join("  "),
    );
  }
}
