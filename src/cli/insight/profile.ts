/** `binnacle profile` */
import { writeFileSync } from "node:fs";
import { type Command, command } from "../command.ts";
import { messageOf } from "../../platform/error-message.ts";
import { UserError } from "../usage-error.ts";
import { askAll } from "./ask-all.ts";
import { readableSize } from "../../observe/readable-units.ts";
import { findTargets, targetOptions } from "./targets.ts";

export const profileCommand: Command = command({
  options: [
    { name: "seconds", type: "number", default: 10, describe: "Length of the CPU profile" },
    {
      name: "heap",
      type: "boolean",
      default: true,
      describe: "Take a heap snapshot too, which stops the process for a moment and needs memory; it contains no texts",
    },
    ...targetOptions,
  ],
  async run(values, host) {
    await using targets = await findTargets(values, host);
    const { clients } = targets;
    host.err(`Profiling for ${values.seconds} s ...\n`);
    const wanted = [
      { path: "/debug/profile", body: { seconds: values.seconds }, suffix: "cpuprofile" },
      ...(values.heap ? [{ path: "/debug/heap", body: {}, suffix: "heapsnapshot" }] : []),
    ];
    for (const { path, body, suffix } of wanted) {
      const answers = await askAll(clients, async (client) => (await client.act(path, body)).text(), host.err);
      for (const { replica, answer } of answers) {
        const file = `${replica.replaceAll(/[^\w.-]/g, "-")}.${suffix}`;
        try {
          writeFileSync(file, answer, { mode: 0o600 });
        } catch (error) {
          throw new UserError(`Cannot write ${file}: ${messageOf(error)}`);
        }
        host.out(`${file}  ${readableSize(answer.length)}\n`);
      }
    }
    host.err("Chrome opens them: DevTools, Performance for the CPU profile, Memory for the heap snapshot\n");
    return 0;
  },
});
