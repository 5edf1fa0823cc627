/** A project of another language: a folder with the files of its page, where commands run with the binary on their PATH. */
import { expect } from "bun:test";
import { cpSync, mkdirSync, rmSync, symlinkSync } from "node:fs";
import { homedir } from "node:os";
import { delimiter, join } from "node:path";
import { program } from "../support/program.ts";
import { type Page, type PageCommand, readPage, writeFiles } from "./page.ts";

const root = join(import.meta.dirname, "../..");

/** What a toolchain builds or installs once is kept here, for all checkouts of this machine. */
export const cache: string = join(process.env["XDG_CACHE_HOME"] ?? join(homedir(), ".cache"), "binnacle", "languages");

/** Whether a page cannot be followed here, because a program is missing, which it says. */
export function lacks(...programs: readonly string[]): boolean {
  const missing = programs.filter((name) => Bun.which(name) === null);
  if (missing.length > 0) console.log(`Skipped: there is no ${missing.join(" and no ")} on the PATH.`);
  return missing.length > 0;
}

export class Project {
  readonly page: Page;
  readonly folder: string;
  readonly #env: Readonly<Record<string, string>>;

  /**
   * @param locks the folder here whose files, such as a lock file, are laid beside those of the page
   * @param env further variables; a PATH is searched before that of this process
   */
  constructor(
    name: string,
    { locks, env = {} }: { readonly locks?: string; readonly env?: Record<string, string> } = {},
  ) {
    this.page = readPage(name);
    // It is outside of this project, whose configuration would count, and stays, so that compilers find what they made before.
    const all = join(cache, "projects", new Bun.CryptoHasher("sha256").update(root).digest("hex").slice(0, 12));
    this.folder = join(all, name);
    const bin = join(all, "bin");
    mkdirSync(bin, { recursive: true });
    rmSync(join(bin, "binnacle"), { force: true });
    symlinkSync(program, join(bin, "binnacle"));
    const path = [bin, env["PATH"], process.env["PATH"]].filter((part) => part !== undefined).join(delimiter);
    this.#env = { ...env, PATH: path, KUBECONFIG: "/dev/null" };
    mkdirSync(this.folder, { recursive: true });
    if (locks !== undefined) cpSync(join(import.meta.dirname, locks), this.folder, { recursive: true });
    writeFiles(this.folder, this.page);
  }

  /** Runs a command of the shell. @returns what it printed. @throws Error with that when it fails */
  async run(command: string): Promise<string> {
    const start = performance.now();
    const child = Bun.spawn(["bash", "-c", command], {
      cwd: this.folder,
      env: { ...process.env, ...this.#env },
      stdin: "ignore",
      stdout: "pipe",
      stderr: "pipe",
    });
    const [out, err, code] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
      child.exited,
    ]);
    console.log(`${((performance.now() - start) / 1000).toFixed(1)} s: ${command}`);
    if (code !== 0) throw new Error(`'${command}' ended with ${code}:\n${out}${err}`);
    return out + err;
  }

  /** Runs the commands of the page, and finds what the page says that they print. */
  async follow(commands: readonly PageCommand[] = this.page.commands): Promise<void> {
    expect(commands.length).toBeGreaterThan(0);
    for (const { command, output } of commands) {
      const printed = Bun.stripANSI(await this.run(command));
      for (const line of output) expect(printed).toContain(line.trim());
    }
  }
}
