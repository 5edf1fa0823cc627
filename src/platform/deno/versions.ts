/** Versions of packages in the form of npm. */

type Version = readonly [major: number, minor: number, patch: number];
/** A range of versions: at least the first, and below the second. */
type Span = readonly [from: Version, below: Version];

const EVERY: Span = [
  [0, 0, 0],
  [Infinity, 0, 0],
];

/**
 * Whether a released version, such as `1.2.3`, is in a range of npm's: comparators, `^`, `~`, `x`, hyphens and `||`. An
 * invalid range includes every version, because it excludes none.
 */
export function satisfies(version: string, range: string): boolean {
  const own = parse(version);
  if (own === undefined) return false;
  return range.split("||").some((alternative) => {
    const spans = spansOf(alternative.trim());
    return spans === undefined || spans.every(([from, below]) => compare(own, from) >= 0 && compare(own, below) < 0);
  });
}

function spansOf(text: string): readonly Span[] | undefined {
  if (text === "" || text === "latest") return [EVERY];
  const hyphen = /^(\S+)\s+-\s+(\S+)$/.exec(text);
  const parts =
    hyphen === null ? text.replace(/([<>=~^])\s+/g, "$1").split(/\s+/) : [`>=${hyphen[1]}`, `<=${hyphen[2]}`];
  const spans = parts.map(spanOf);
  return spans.every((span) => span !== undefined) ? spans : undefined;
}

function spanOf(text: string): Span | undefined {
  const match = /^(\^|~>?|[<>]=?|=)?v?(\d+|[xX*])(?:\.(\d+|[xX*]))?(?:\.(\d+|[xX*])(?:[-+][0-9A-Za-z.+-]*)?)?$/.exec(
    text,
  );
  if (match === null) return undefined;
  const [, operator = "=", ...fields] = match;
  const [major, minor, patch] = fields.map((field) =>
    field === undefined || /[xX*]/.test(field) ? undefined : +field,
  );
  const from: Version = [major ?? 0, minor ?? 0, patch ?? 0];
  const end = endOf(major, minor, patch);
  switch (operator) {
    case ">=":
      return [from, EVERY[1]];
    case ">":
      return [end, EVERY[1]];
    case "<":
      return [EVERY[0], from];
    case "<=":
      return [EVERY[0], end];
    case "^":
      if (major === undefined) return EVERY;
      if (major > 0 || minor === undefined) return [from, [major + 1, 0, 0]];
      return [from, minor > 0 || patch === undefined ? [0, minor + 1, 0] : [0, 0, patch + 1]];
    case "=":
      return [from, end];
    default:
      return [from, minor === undefined ? end : [from[0], minor + 1, 0]];
  }
}

/** Returns the first version after all those that the fields stand for. */
function endOf(major: number | undefined, minor: number | undefined, patch: number | undefined): Version {
  if (major === undefined) return EVERY[1];
  if (minor === undefined) return [major + 1, 0, 0];
  return patch === undefined ? [major, minor + 1, 0] : [major, minor, patch + 1];
}

function parse(text: string): Version | undefined {
  const match = /^(\d+)\.(\d+)\.(\d+)$/.exec(text);
  return match === null ? undefined : [Number(match[1]), Number(match[2]), Number(match[3])];
}

function compare(one: Version, other: Version): number {
  return one[0] - other[0] || one[1] - other[1] || one[2] - other[2];
}
