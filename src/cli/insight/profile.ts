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
    { name: "seconds", type: "number", default: 10, describe: "Length of the CPU profile in seconds" },
    {
      name: "heap",
      type: "boolean",
      default: true,
      describe:
        "Take a heap snapshot too: the process stands still meanwhile and needs several times the heap's memory; the contents of strings are left out",
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
    host.err("Open them in Chrome DevTools: the CPU profile under Performance, the heap snapshot under Memory\n");
    return 0;
  },
});
