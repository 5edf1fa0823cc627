/** Which families of cases fall. */
import type { Case } from "./case.ts";

type Count = { cases: number; fallen: number };

/** The last step of a case, where it fell, or each one where it did not. */
function familiesOf({ kind, state, steps, findings }: Case): string[] {
  const hasFallen = findings.length > 0;
  const judged = hasFallen ? steps.slice(-1) : steps;
  const families = [`kind   ${kind.kind}`, `state  ${state}`];
  for (const { time, acts, declared } of judged) {
    families.push(`time   ${time}`);
    if (acts.length === 0)
      families.push(declared === undefined ? "act    pruned" : "act    none, or another declaration");
    for (const { edit, form } of acts) families.push(`edit   ${edit}`, `form   ${form}`);
  }
  return [...new Set(families)];
}

export function table(cases: readonly Case[]): string {
  const counts = new Map<string, Count>();
  const problems = new Map<string, number>();
  for (const one of cases) {
    for (const family of familiesOf(one)) {
      const count = counts.get(family) ?? { cases: 0, fallen: 0 };
      counts.set(family, count);
      count.cases++;
      if (one.findings.length > 0) count.fallen++;
    }
    for (const problem of new Set(one.findings.map((finding) => finding.problem)))
      problems.set(problem, (problems.get(problem) ?? 0) + 1);
  }
  const rows = [...counts]
    .toSorted(([a, one], [b, other]) => a.slice(0, 6).localeCompare(b.slice(0, 6)) || other.fallen - one.fallen)
    .map(
      ([family, { cases: all, fallen }]) =>
        `${family.padEnd(40)}${String(all).padStart(7)}${String(fallen).padStart(7)}`,
    );
  const kinds = [...problems]
    .toSorted(([, a], [, b]) => b - a)
    .map(([problem, count]) => `${problem.padEnd(47)}${String(count).padStart(7)}`);
  return [`${"family".padEnd(40)}  cases fallen`, ...rows, "", ...kinds].join("\n");
}

/** The fallen cases that have the same problem in the same way. */
export function groups(cases: readonly Case[]): readonly (readonly [name: string, cases: readonly Case[]])[] {
  const found = new Map<string, Case[]>();
  for (const one of cases) {
    const [first] = one.findings;
    if (first === undefined) continue;
    const last = one.steps.at(-1)!;
    const acts = last.acts.map(({ edit }) => edit).join(", then ");
    const name = `${first.problem}: ${acts || "another declaration"}, ${last.time}`;
    found.set(name, [...(found.get(name) ?? []), one]);
  }
  return [...found].toSorted(([, a], [, b]) => b.length - a.length);
}

/** A fallen case in a line. */
export function lineOf({ number, kind, state, steps, findings }: Case): string {
  const { time, acts } = steps.at(-1)!;
  const texts = acts.map(({ edit, form }) => `${edit} by ${form}`);
  const [{ problem, detail } = { problem: "", detail: "" }] = findings;
  return `${number} ${kind.kind}, ${state}, ${time}, ${texts.join(" and ") || "another declaration"}: ${problem}: ${detail}`;
}

/** All that is needed to see what happened, and to play it again. */
export function describeCase(one: Case, seed: number): string {
  const lines = [
    `--seed ${seed} --case ${one.number}: ${one.kind.kind}, ${one.state}`,
    ...one.steps.flatMap(({ time, acts, declared }) => [
      `  ${time}, declared ${JSON.stringify(declared)}`,
      ...acts.flatMap(({ edit, form, requests }) => [
        `    ${edit} by ${form}`,
        ...requests.map((text) => `      ${text}`),
      ]),
    ]),
    `  live ${JSON.stringify(one.live)}`,
    ...one.findings.map(({ problem, detail }) => `  ${problem}: ${detail}`),
  ];
  return lines.join("\n");
}
