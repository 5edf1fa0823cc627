/** `binnacle pause` and `binnacle resume` */
import type { PauseAnswer } from "../../server/debug/answers.ts";
import { type Command, command } from "../command.ts";
import { askAll } from "./ask-all.ts";
import { findTargets, outputOption, targetOptions } from "./targets.ts";

export const pauseCommand: Command = pausing("pause");
export const resumeCommand: Command = pausing("resume");

function pausing(action: "pause" | "resume"): Command {
  return command({
    options: [
      {
        name: "module",
        type: "string",
        positional: true,
        describe: "Module, by the name of its file, such as guestbook.ts [default: all modules]",
      },
      ...targetOptions,
      outputOption,
    ],
    async run(values, host) {
      const { module } = values;
      await using targets = await findTargets(values, host);
      const answers = await askAll(
        targets.clients,
        (client) => client.post<PauseAnswer>(`/debug/${action}`, { module }),
        host.err,
      );
      if (values.output === "json") {
        const replicas = answers.map(({ replica, answer }) => ({ replica, ...answer }));
        host.out(`${JSON.stringify(replicas, undefined, 2)}\n`);
        return 0;
      }
      for (const { replica, answer } of answers)
        host.out(`${answers.length > 1 ? `${replica}: ` : ""}${sentence(answer)}\n`);
      return 0;
    },
  });
}

function sentence({ isPaused, modules }: PauseAnswer): string {
  if (isPaused) return "everything is paused: no run begins";
  return modules.length === 0 ? "nothing is paused" : `paused: ${modules.join(", ")}`;
}
