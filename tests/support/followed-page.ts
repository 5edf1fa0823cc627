/** Follows a page of the documentation as a reader does: writes each file, runs each command, and finds each line of output. */
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { assets } from "../../scripts/controlplane/controlplane.ts";
import { blocksOf } from "../../scripts/house/check-readme.ts";
import { Bench } from "./binary.ts";
import { until } from "./until.ts";

interface Step {
  readonly command: string;
  readonly output: readonly string[];
}

export interface FollowOptions {
  /** Removes from a text what differs from run to run. */
  readonly normal: (text: string) => string;
  /** Returns the lines that a command has to print. @default those of the page */
  readonly wanted?: ((step: Step) => readonly string[]) | undefined;
}

/**
 * Follows a page of `docs/`. A file is named in bold above its block, and `binnacle dev` goes on until the end of the page.
 *
 * @throws Error that says what a command printed instead of what the page says.
 */
export async function followPage(
  name: string,
  { normal, wanted = ({ output }) => output }: FollowOptions,
): Promise<void> {
  const page = await readFile(join(import.meta.dirname, "../../docs", name), "utf8");
  const lines = page.split("\n");
  await using bench = await Bench.create();
  const folder = await assets();
  const tools = folder !== undefined && existsSync(join(folder, "kubectl")) ? `:${folder}` : "";
  const env = {
    HOME: bench.dir,
    PATH: `${bench.dir}${tools}:${process.env["PATH"]}`,
    KUBECONFIG: join(bench.dir, ".binnacle/kubeconfig"),
  };
  let dev: Bun.Subprocess<"ignore", "pipe", "ignore"> | undefined;
  try {
    for (const { language, line, text } of blocksOf(page)) {
      const file = /^\*\*`(.*)`\*\*$/.exec(lines[line - 4] ?? "")?.[1];
      if (file !== undefined) await bench.write(file, `${text}\n`);
      if (language !== "console") continue;
      for (const step of stepsOf(text)) {
        const { command, output } = step;
        if (command.startsWith("binnacle dev")) {
          dev = Bun.spawn(["sh", "-c", `exec ${command}`], { cwd: bench.dir, env, stdout: "pipe", stderr: "ignore" });
          const reader = dev.stdout.getReader();
          let log = "";
          while (!log.includes("  try ")) log += new TextDecoder().decode((await reader.read()).value);
          const missing = output.filter((expected) => !normal(log).includes(normal(expected)));
          if (missing.length > 0) throw new Error(`$ ${command}\n${missing.join("\n")}\n-- but\n${log}`);
          continue;
        }
        // The command is repeated until its output appears, as a reader would do.
        const expected = wanted(step);
        let said = "";
        await until(
          async () => {
            const child = Bun.spawn(["sh", "-c", command], { cwd: bench.dir, env, stdout: "pipe", stderr: "pipe" });
            said = (await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])).join("");
            return expected.every((one) => normal(said).includes(normal(one)));
          },
          { within: 90_000, every: 200, what: () => `$ ${command}\n${expected.join("\n")}\n-- but\n${said}` },
        );
      }
    }
  } finally {
    dev?.kill();
    await dev?.exited;
  }
}

/** A command may continue on further lines within quotes. */
function stepsOf(text: string): Step[] {
  const steps: { command: string; output: string[] }[] = [];
  for (const line of text.split("\n")) {
    const last = steps.at(-1);
    if (line.startsWith("$ ")) steps.push({ command: line.slice(2), output: [] });
    else if (last !== undefined && (last.command.split("'").length - 1) % 2 === 1) last.command += `\n${line}`;
    else if (line.trim() !== "") last?.output.push(line);
  }
  return steps;
}
