/** Formats the differences as text: counted by kind, verb and field, the first ones in full. */
import type { ExchangeDifference } from "./compare.ts";

export function report(differing: readonly ExchangeDifference[], { first }: { readonly first: number }): string {
  const lines: string[] = [];
  const groups = new Map<string, number>();
  for (const { caseName, expected, actual, differences } of differing) {
    for (const { field } of differences) {
      const key = `${caseName}  ${(actual ?? expected)?.call.method ?? "?"}  ${field.replace(/\[\d+\]/g, "[]")}`;
      groups.set(key, (groups.get(key) ?? 0) + 1);
    }
  }
  for (const [key, count] of [...groups].toSorted((left, right) => right[1] - left[1])) lines.push(`${count}\t${key}`);
  for (const { caseName, expected, actual, differences } of differing.slice(0, first)) {
    const call = actual?.call ?? expected?.call;
    lines.push("", `── ${caseName}: ${expected?.label ?? actual?.label}`, `   ${call?.method} ${call?.path}`);
    if (call?.headers !== undefined) lines.push(`   headers: ${short(call.headers, 300)}`);
    if (call?.body !== undefined) lines.push(`   body: ${short(call.body, 600)}`);
    for (const { field, expected: left, actual: right } of differences.slice(0, 12)) {
      lines.push(`   ${field}`, `     real: ${short(left, 900)}`, `     ours: ${short(right, 900)}`);
    }
    if (differences.length > 12) lines.push(`   and ${differences.length - 12} more fields`);
  }
  return lines.join("\n");
}

function short(value: unknown, limit: number): string {
  const text = JSON.stringify(value) ?? "(absent)";
  return text.length > limit ? `${text.slice(0, limit)}…` : text;
}
