/** What suites said of the real control plane, and how another server's specs compare with it. */

import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { FileReport } from "../../scripts/test-report.ts";
import type { PartRun } from "./part-runs.ts";
import type { Outcome } from "./spec.ts";
import type { Part } from "./suites.ts";

/** What a run is compared with. */
export interface Expectation {
  /** From the start to the end on the real control plane, where all of it ran. */
  readonly seconds?: number | undefined;
  /** The outcome of each spec, by its name. */
  readonly specs: Readonly<Record<string, Outcome>>;
}

/** The specs of one package as the real control plane left them. */
interface PackageRecord extends Expectation {
  readonly seconds: number;
}

export type Recorded = Readonly<Record<string, PackageRecord>>;

const folder = join(import.meta.dirname, "recorded");

/** Names the specs that differ, each with its reason. */
const page = join(import.meta.dirname, "../../docs/fidelity.md");

/** The record of a suite, by package. */
export function recorded(suite: string): Recorded {
  const file = join(folder, `${suite}.json`);
  return existsSync(file) ? (JSON.parse(readFileSync(file, "utf8")) as Recorded) : {};
}

/** Replaces the packages of a suite's record that ran. */
export function record(suite: string, packages: ReadonlyMap<string, PartRun>): void {
  const all: Record<string, PackageRecord> = { ...recorded(suite) };
  for (const [id, { seconds, specs }] of packages) {
    const entries = specs.map(({ name, outcome }) => [name, outcome] as const).sort(([a], [b]) => (a < b ? -1 : 1));
    all[id] = { seconds: Math.round(seconds), specs: Object.fromEntries(entries) };
  }
  const sorted = Object.fromEntries(Object.entries(all).sort(([a], [b]) => (a < b ? -1 : 1)));
  writeFileSync(join(folder, `${suite}.json`), `${JSON.stringify(sorted, null, 2)}\n`);
}

/**
 * The report of a part: what passes counts as passed, a spec that fails though it passes on the real control plane as failed, and
 * every other as skipped. A spec that was recorded and did not run has failed.
 */
export function compared({ id, record: known }: Part, { specs, seconds }: PartRun): FileReport {
  const counts = { passed: 0, failed: 0, skipped: 0 };
  const failures: string[] = [];
  const outcomes = new Map(specs.map(({ name, outcome }) => [name, outcome]));
  for (const name of new Set([...outcomes.keys(), ...Object.keys(known?.specs ?? {})])) {
    const verdict = verdictOn(outcomes.get(name), known?.specs[name]);
    const outcome = verdict === "failed" && isExplained(name) ? "skipped" : verdict;
    counts[outcome]++;
    if (outcome === "failed") failures.push(name);
  }
  return { file: id, seconds, ...counts, failures };
}

function verdictOn(outcome: Outcome | undefined, onReal: Outcome | undefined): Outcome {
  if (outcome === "passed") return "passed";
  return onReal === "passed" || (onReal === undefined && outcome === "failed") ? "failed" : "skipped";
}

/** Whether the page about fidelity names a spec that differs, with its reason. */
function isExplained(name: string): boolean {
  return readFileSync(page, "utf8").includes(`\`${name}\``);
}
