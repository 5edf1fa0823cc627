/** `binnacle log-level` */
import { LOG_LEVELS } from "../../observe/log.ts";
import type { LogLevelsAnswer, ProcessAnswer } from "../../server/debug/answers.ts";
import { type Command, command } from "../command.ts";
import { UsageError } from "../usage-error.ts";
import { askAll } from "./ask-all.ts";
import { findTargets, outputOption, targetOptions } from "./targets.ts";

const LEVELS: readonly string[] = LOG_LEVELS;
/** Lets a module follow the level of the log again. */
const DEFAULT = "default";

export const logLevelCommand: Command = command({
  options: [
    {
      name: "what",
      type: "list",
      positional: true,
      describe: `New level of the log (${LEVELS.join(", ")}), or a module and its new level, where ${DEFAULT} follows the log; when left out, the levels are shown`,
    },
    { name: "for", type: "duration", describe: "Return to the present level after this time, such as 10m" },
    ...targetOptions,
    outputOption,
  ],
  async run(values, host) {
    const words = values.what ?? [];
    const level = words.at(-1);
    const module = words.length > 1 ? words[0] : undefined;
    if (words.length > 2) throw new UsageError(`Unexpected argument '${words[2]}'`);
    if (level !== undefined && !LEVELS.includes(level) && !(level === DEFAULT && module !== undefined))
      throw new UsageError(`'${level}' is no level: expected ${LEVELS.join(", ")}, or ${DEFAULT} after a module`);
    await using targets = await findTargets(values, host);
    const body = { level: level === DEFAULT ? null : level, module, for: values.for };
    const answers = await askAll(
      targets.clients,
      async (client): Promise<LogLevelsAnswer> =>
        level === undefined
          ? (await client.get<ProcessAnswer>("/debug/process")).log
          : client.post<LogLevelsAnswer>("/debug/log-level", body),
      host.err,
    );
    if (values.output === "json") {
      const replicas = answers.map(({ replica, answer }) => ({ replica, ...answer }));
      host.out(`${JSON.stringify(replicas, undefined, 2)}\n`);
      return 0;
    }
    for (const { replica, answer } of answers) {
      const own = Object.entries(answer.modules).map(([name, one]) => `, ${name}: ${one}`);
      host.out(`${answers.length > 1 ? `${replica}: ` : ""}${answer.level}${own.join("")}\n`);
    }
    return 0;
  },
});
