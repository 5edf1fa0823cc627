/** Versions of packages, by Bun. */

/** Whether a version is in a range of npm's. */
export function satisfies(version: string, range: string): boolean {
  return Bun.semver.satisfies(version, range);
}
