/** `binnacle version` */
import { runtimeName } from "#runtime/about";
import { type Command, command } from "./command.ts";
import { latestRelease } from "./latest-release.ts";

/** The exit status for "there is a newer release". */
const NEWER = 3;

export const versionCommand: Command = command({
  options: [
    {
      name: "check",
      type: "boolean",
      default: false,
      describe: `Also ask whether a newer version has been released: exit status ${NEWER} if so, and 1 if that cannot be told`,
    },
    {
      name: "releases",
      type: "string",
      describe: "check: address or folder of the releases, which holds a file 'latest' [default: the registry of npm]",
    },
    { name: "timeout", type: "duration", default: "5s", describe: "check: how long to wait for an answer" },
  ],
  async run(values, { embedded, env, out }) {
    const { version, operator } = embedded;
    const name = operator === undefined ? "" : `${operator.name}, built with `;
    out(`${name}binnacle ${version} (${process.platform}-${process.arch}, ${runtimeName})\n`);
    if (!values.check) return 0;
    const latest = await latestRelease({ releases: values.releases, timeout: values.timeout, env });
    const order = compareVersions(version, latest);
    if (order < 0) out(`${latest} has been released, and this is older\n`);
    else out(order === 0 ? "This is the latest release\n" : `This is newer than the latest release, ${latest}\n`);
    return order < 0 ? NEWER : 0;
  },
});

/** Below 0 when the first version is older, above 0 when it is newer, 0 when they differ at most in build metadata. */
export function compareVersions(one: string, other: string): number {
  const [a, b] = [parts(one), parts(other)];
  for (const index of [0, 1, 2]) {
    const difference = Number(a.release[index] ?? 0) - Number(b.release[index] ?? 0);
    if (difference !== 0) return difference;
  }
  // Prereleases are older than their release.
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

/** Numeric identifiers are older than words, and a version with fewer identifiers is older. */
function compareIdentifiers(one: string | undefined, other: string | undefined): number {
  if (one === undefined || other === undefined) return one === other ? 0 : one === undefined ? -1 : 1;
  const [isNumber, isOtherNumber] = [/^\d+$/.test(one), /^\d+$/.test(other)];
  if (isNumber && isOtherNumber) return Number(one) - Number(other);
  if (isNumber !== isOtherNumber) return isNumber ? -1 : 1;
  return one === other ? 0 : one < other ? -1 : 1;
}
