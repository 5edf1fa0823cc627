/** `binnacle version` */
import { runtimeName } from "#runtime/about";
import { type Command, command } from "./command.ts";
import { compareVersions } from "./compare-versions.ts";
import { latestRelease } from "./latest-release.ts";

/** The exit status that says that there is a newer release. */
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
