/** Follows docs/getting-started.md: writes each file, runs each command, and finds each line of output. */
import { expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { assets } from "../../scripts/controlplane/controlplane.ts";
import { blocksOf } from "../../scripts/house/check-readme.ts";
import { Bench } from "../support/binary.ts";
import { isOnDeno } from "../support/program.ts";
import { until } from "../support/until.ts";

const page = await readFile(join(import.meta.dirname, "../../docs/getting-started.md"), "utf8");
const lines = page.split("\n");

interface Step {
  readonly command: string;
  readonly output: readonly string[];
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

/** Removes what differs from run to run. */
function normal(text: string): string {
  return text
    .replaceAll(/\[[0-9.]+m?s\]/g, "[time]")
    .replaceAll(/after [0-9.]+ s\b/g, "after a moment")
    .replaceAll(/:\d{4,5}\b/g, ":port")
    .replaceAll(/" deleted from \S+ namespace/g, '" deleted')
    .trim();
}

test("docs/getting-started.md", async () => {
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
      for (const { command, output } of stepsOf(text)) {
        if (command.startsWith("binnacle dev")) {
          dev = Bun.spawn(["sh", "-c", `exec ${command}`], { cwd: bench.dir, env, stdout: "pipe", stderr: "ignore" });
          const reader = dev.stdout.getReader();
          let log = "";
          while (!log.includes("  try ")) log += new TextDecoder().decode((await reader.read()).value);
          for (const expected of output) expect(normal(log)).toContain(normal(expected));
          continue;
        }
        // Deno's runner tells it in its own words.
        const wanted = isOnDeno && command.startsWith("binnacle test") ? ["2 passed | 0 failed"] : output;
        // The command is repeated until its output appears, as a reader would do.
        let said = "";
        await until(
          async () => {
            const child = Bun.spawn(["sh", "-c", command], { cwd: bench.dir, env, stdout: "pipe", stderr: "pipe" });
            said = (await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])).join("");
            return wanted.every((expected) => normal(said).includes(normal(expected)));
          },
          { within: 90_000, every: 200, what: () => `$ ${command}\n${wanted.join("\n")}\n-- but\n${said}` },
        );
      }
    }
  } finally {
    dev?.kill();
    await dev?.exited;
  }
}, 240_000);
