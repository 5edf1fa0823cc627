/** `binnacle dashboard` */
import { spawn } from "node:child_process";
import { type Command, command } from "../command.ts";
import { whenSignalled } from "../signals.ts";
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
    for (const { target } of targets.clients) {
      // The token is in the fragment, which browsers do not send, so that no log of a server or proxy has it.
      const address = `http://${target.address}/#token=${await target.token().catch(() => "")}`.replace(/#token=$/, "");
      host.out(`${targets.clients.length > 1 ? `${target.name}  ` : ""}${address}\n`);
      if (values.open) openInBrowser(address);
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
