/** The version of a checkout, which follows from its tags. */
import { spawnSync } from "node:child_process";
import { readFileSync, realpathSync } from "node:fs";
import { join } from "node:path";

/** What git knows of a checkout. */
export interface Source {
  /** In full. */
  readonly commit: string;
  /** Seconds since the epoch. */
  readonly committed: number;
  /** Whether nothing differs from the commit; files that git ignores do not count. */
  readonly isClean: boolean;
  /** The highest version among the tags of the commit, such as `v1.2.3`. */
  readonly tag: string | undefined;
  /** The nearest version tag before the commit, or its own. */
  readonly base: string | undefined;
  /** Commits since the base; since the first one where there is none. */
  readonly since: number;
}

const TAG = /^v\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?$/;
/** Digits of a commit in a version. `--short` alone would take more of them in a larger repository. */
const DIGITS = 12;

/** @returns undefined where the folder is not the top of a repository with a commit. */
export function sourceOf(root: string): Source | undefined {
  const top = git(root, "rev-parse", "--show-toplevel");
  if (top === undefined || realpathSync(top) !== realpathSync(root)) return undefined;
  const commit = git(root, "rev-parse", "HEAD");
  if (commit === undefined) return undefined;
  const [tag] = (git(root, "tag", "--points-at", "HEAD") ?? "")
    .split("\n")
    .filter((name) => TAG.test(name))
    .sort((a, b) => Bun.semver.order(b.slice(1), a.slice(1)));
  const base = tag ?? git(root, "describe", "--tags", "--abbrev=0", "--match", "v[0-9]*.[0-9]*.[0-9]*");
  const isVersion = base !== undefined && TAG.test(base);
  return {
    commit,
    committed: Number(git(root, "log", "-1", "--format=%ct")),
    isClean: git(root, "status", "--porcelain") === "",
    tag,
    base: isVersion ? base : undefined,
    since: Number(git(root, "rev-list", "--count", isVersion ? `${base}..HEAD` : "HEAD")),
  };
}

/**
 * `1.2.3` for a clean tree whose commit has the tag `v1.2.3`. Another tree is between two releases: `1.2.4-dev.7+3663180c0ffe` is seven
 * commits after 1.2.3, and `.dirty` at its end says that files differ from the commit. Without a repository it is what package.json says.
 */
export function versionOf(root: string): string {
  const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { version: string };
  const source = sourceOf(root);
  if (source === undefined) return version;
  const { commit, isClean, tag, base, since } = source;
  if (tag !== undefined && isClean) return tag.slice(1);
  const build = `${commit.slice(0, DIGITS)}${isClean ? "" : ".dirty"}`;
  return `${base === undefined ? `${version}-dev` : following(base.slice(1))}.${since}+${build}`;
}

/** What is later than a release and earlier than the one after it. */
function following(release: string): string {
  if (release.includes("-")) return `${release}.dev`;
  const [major, minor, patch] = release.split(".");
  return `${major}.${minor}.${Number(patch) + 1}-dev`;
}

function git(root: string, ...args: readonly string[]): string | undefined {
  const { status, stdout } = spawnSync("git", args, { cwd: root, encoding: "utf8" });
  return status === 0 ? stdout.trim() : undefined;
}
