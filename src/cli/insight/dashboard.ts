/** `binnacle dashboard` */
import { spawn } from "node:child_process";
import { type Command, command } from "../command.ts";
import { whenSignalled } from "../signals.ts";
import type { TicketAnswer } from "../../server/debug/answers.ts";
import { findTargets, targetOptions } from "./targets.ts";

export const dashboardCommand: Command = command({
  options: [
    {
      name: "open",
      type: "boolean",
      default: true,
      describe: "Open the page in the browser; --no-open only prints its address",
    },
    ...targetOptions,
  ],
  async run(values, host) {
    const signalled = whenSignalled(() => undefined);
    await using targets = await findTargets(values, host);
    for (const client of targets.clients) {
      const { target } = client;
      const page = `http://${target.address}/`;
      const token = await target.token().catch(() => undefined);
      // The token is in the fragment, which browsers do not send, so that no log of a server or proxy has it.
      const address = token === undefined ? page : `${page}#token=${token}`;
      host.out(`${targets.clients.length > 1 ? `${target.name}  ` : ""}${address}\n`);
      if (!values.open) continue;
      // Other users of the machine see the browser's command line, so it has a ticket, which is good only once.
      const { ticket } = token === undefined ? {} : await client.post<TicketAnswer>("/debug/ticket", {});
      openInBrowser(ticket === undefined ? page : `${page}#ticket=${ticket}`);
    }
    if (values.deployment === undefined) return 0;
    host.err("Forwarding the ports until Ctrl-C\n");
    await signalled;
    return 0;
  },
});

function openInBrowser(address: string): void {
  const [program, ...args] =
    process.platform === "darwin"
      ? ["open", address]
      : process.platform === "win32"
        ? ["cmd", "/c", "start", "", address]
        : ["xdg-open", address];
  const child = spawn(program, args, { stdio: "ignore", detached: true });
  child.on("error", () => {}); // the address has been printed
  child.unref();
}
