/** Semantic versions in rules. @see https://semver.org */
import type { Environment } from "@marcbachmann/cel-js";

class Version {
  readonly numbers: readonly bigint[];
  /** The identifiers of a pre-release; empty for a release. */
  readonly before: readonly string[];

  constructor(numbers: readonly bigint[], before: readonly string[]) {
    this.numbers = numbers;
    this.before = before;
  }
}

const number = "(0|[1-9]\\d*)";
const identifier = "(?:0|[1-9]\\d*|\\d*[a-zA-Z-][0-9a-zA-Z-]*)";
const strict = new RegExp(
  `^${number}\\.${number}\\.${number}(?:-(${identifier}(?:\\.${identifier})*))?(?:\\+[0-9A-Za-z-]+(?:\\.[0-9A-Za-z-]+)*)?$`,
);

export function registerVersions(environment: Environment): void {
  environment
    .registerType("Semver", { ctor: Version, fields: {} })
    .registerFunction("semver(string): Semver", (text: string) => parsed(text))
    .registerFunction("semver(string, bool): Semver", (text: string, lenient: boolean) => parsed(text, lenient))
    .registerFunction("isSemver(string): bool", (text: string) => parse(text) !== undefined)
    .registerFunction(
      "isSemver(string, bool): bool",
      (text: string, lenient: boolean) => parse(text, lenient) !== undefined,
    )
    .registerFunction("Semver.isLessThan(Semver): bool", (a: Version, b: Version) => compare(a, b) < 0)
    .registerFunction("Semver.isGreaterThan(Semver): bool", (a: Version, b: Version) => compare(a, b) > 0)
    .registerFunction("Semver.compareTo(Semver): int", (a: Version, b: Version) => BigInt(Math.sign(compare(a, b))));
  for (const [index, name] of ["major", "minor", "patch"].entries()) {
    environment.registerFunction(`Semver.${name}(): int`, ({ numbers }: Version) => numbers[index]!);
  }
}

function parsed(text: string, lenient = false): Version {
  const version = parse(text, lenient);
  if (!version) throw new Error(problem(text));
  return version;
}

/** Explains an invalid version in the words of the server's library. */
function problem(text: string): string {
  const parts = text.split(".");
  if (text === "") return "Version string empty";
  if (parts.length < 3) return "No Major.Minor.Patch elements found";
  for (const [index, name] of ["major", "minor", "patch"].entries()) {
    const number =
      index < 2
        ? parts[index]!
        : parts
            .slice(2)
            .join(".")
            .replace(/[-+].*$/s, "");
    const quoted = JSON.stringify(number);
    if (!/^\d+$/.test(number)) {
      return `Invalid character(s) found in ${name} number ${quoted}`;
    }
    if (number.length > 1 && number.startsWith("0")) {
      const what = `${name.charAt(0).toUpperCase()}${name.slice(1)}`;
      return `${what} number must not contain leading zeroes ${quoted}`;
    }
  }
  return "Invalid character(s) found in version";
}

function parse(text: string, lenient = false): Version | undefined {
  const [, major, minor, patch, before] = strict.exec(lenient ? completed(text) : text) ?? [];
  if (major === undefined) return undefined;
  return new Version([BigInt(major), BigInt(minor!), BigInt(patch!)], before?.split(".") ?? []);
}

/** Normalizes a version: `v1.02` becomes `1.2.0`. */
function completed(text: string): string {
  const [, core = "", rest = ""] = /^v?([\d.]*)(.*)$/s.exec(text.trim()) ?? [];
  const numbers = core.split(".").map((part) => part.replace(/^0+(?=\d)/, ""));
  while (numbers.length < 3) numbers.push("0");
  return numbers.join(".") + rest;
}

function compare(a: Version, b: Version): number {
  for (const [index, one] of a.numbers.entries()) {
    const other = b.numbers[index]!;
    if (one !== other) return one < other ? -1 : 1;
  }
  if (a.before.length === 0 || b.before.length === 0) return b.before.length - a.before.length;
  for (const [index, one] of a.before.entries()) {
    const other = b.before[index];
    if (other === undefined) return 1;
    if (one !== other) return compareIdentifiers(one, other);
  }
  return a.before.length - b.before.length;
}

/** Orders numbers before words. */
function compareIdentifiers(a: string, b: string): number {
  const [left, right] = [/^\d+$/.test(a), /^\d+$/.test(b)];
  if (left && right) return Number(a) - Number(b);
  if (left !== right) return left ? -1 : 1;
  return a < b ? -1 : 1;
}
