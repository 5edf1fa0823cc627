/** The order of versions. @see https://semver.org/#spec-item-11 */

/** Below 0 when the first version is older, above 0 when it is newer, 0 when they differ at most in build metadata. */
export function compareVersions(one: string, other: string): number {
  const [a, b] = [parts(one), parts(other)];
  for (const index of [0, 1, 2]) {
    const difference = Number(a.release[index] ?? 0) - Number(b.release[index] ?? 0);
    if (difference !== 0) return difference;
  }
  // What comes before a release is older than the release.
  if (a.before.length === 0 || b.before.length === 0) return b.before.length - a.before.length;
  for (let index = 0; index < Math.max(a.before.length, b.before.length); index++) {
    const difference = compareIdentifiers(a.before[index], b.before[index]);
    if (difference !== 0) return difference;
  }
  return 0;
}

interface Parts {
  readonly release: readonly string[];
  readonly before: readonly string[];
}

function parts(version: string): Parts {
  const [release = "", before] = version.split("+", 1)[0]!.split(/-(.*)/s);
  return { release: release.split("."), before: before === undefined ? [] : before.split(".") };
}

/** Numbers are older than words, and what has fewer identifiers is older. */
function compareIdentifiers(one: string | undefined, other: string | undefined): number {
  if (one === undefined || other === undefined) return one === other ? 0 : one === undefined ? -1 : 1;
  const [isNumber, isOtherNumber] = [/^\d+$/.test(one), /^\d+$/.test(other)];
  if (isNumber && isOtherNumber) return Number(one) - Number(other);
  if (isNumber !== isOtherNumber) return isNumber ? -1 : 1;
  return one === other ? 0 : one < other ? -1 : 1;
}
