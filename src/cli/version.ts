/** `binnacle version` */
import { runtimeName } from "#runtime/about";
import { type Command, command } from "./command.ts";

export const versionCommand: Command = command({
  options: [],
  run(_values, { embedded, out }) {
    const operator = embedded.operator === undefined ? "" : `${embedded.operator.name}, built with `;
    out(`${operator}binnacle ${embedded.version} (${process.platform}-${process.arch}, ${runtimeName})\n`);
    return Promise.resolve(0);
  },
});
