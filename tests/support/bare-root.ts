/** A root folder with a C library and a handful of programs, and no tools to build anything, in which commands run by chroot. */
import { spawnSync } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

/** What this machine lacks for it, as the end of "Skipped: …"; undefined when it can be done. */
export function whyNoRoot(programs: readonly string[]): string | undefined {
  if (process.platform !== "linux") return "a bare root folder is made on Linux alone";
  if (process.getuid?.() !== 0) return "a bare root folder needs root";
  const missing = ["unshare", "chroot", "mount", "ldd", ...programs].filter((name) => Bun.which(name) === null);
  if (missing.length > 0) return `the PATH has no ${missing.join(", ")}`;
  const trial = spawnSync("unshare", ["--mount", "--pid", "--fork", "mount", "-t", "proc", "proc", "/proc"], {
    encoding: "utf8",
  });
  return trial.status === 0 ? undefined : `mounts cannot be made here: ${trial.stderr.trim().split("\n")[0] ?? ""}`;
}

export interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunOptions {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
}

export class BareRoot implements Disposable {
  readonly dir: string;
  /** Folders of this machine by their place inside, mounted while a command runs. */
  readonly #mounts = new Map<string, string>();

  /** @param programs names on the PATH; they come to `/usr/bin` with the libraries that they need. */
  constructor(programs: readonly string[]) {
    this.dir = mkdtempSync(join(tmpdir(), "binnacle-root-"));
    for (const folder of ["tmp", "proc", "dev", "etc", "user", "usr/bin", "bin"]) {
      mkdirSync(join(this.dir, folder), { recursive: true });
    }
    writeFileSync(join(this.dir, "etc/hosts"), "127.0.0.1 localhost\n");
    for (const name of programs) this.program(name);
    copyFileSync(realpathSync(Bun.which("sh")!), join(this.dir, "bin/sh"));
    this.#libraries(realpathSync(Bun.which("sh")!));
    // The whole C library: what executables of Bun link is in every distribution.
    this.#libraries(process.execPath);
  }

  /** Adds a program of this machine. */
  program(name: string): void {
    const file = realpathSync(Bun.which(name)!);
    copyFileSync(file, join(this.dir, "usr/bin", name));
    this.#libraries(file);
  }

  /** Adds a folder of this machine, read-only. */
  mount(from: string, to: string): void {
    mkdirSync(join(this.dir, to), { recursive: true });
    this.#mounts.set(to, from);
  }

  write(path: string, text: string | Uint8Array): void {
    mkdirSync(dirname(join(this.dir, path)), { recursive: true });
    writeFileSync(join(this.dir, path), text);
  }

  /** What the executable links, and the loader, at the places where they are on this machine. */
  #libraries(file: string): void {
    const { stdout } = spawnSync("ldd", [file], { encoding: "utf8" });
    for (const [, path = ""] of stdout.matchAll(/(?:=> |^\s*)(\/\S+) \(0x/gm)) {
      const place = join(this.dir, path);
      if (existsSync(place)) continue;
      mkdirSync(dirname(place), { recursive: true });
      copyFileSync(realpathSync(path), place);
    }
  }

  /** Runs a shell command inside to its end, with nothing of this process's environment. */
  async run(command: string, { cwd = "/user", env = {} }: RunOptions = {}): Promise<Ran> {
    const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
    const mounts = [...this.#mounts].map(
      ([to, from]) => `mount --bind -o ro ${quoted(from)} ${quoted(join(this.dir, to))}`,
    );
    const script = [
      "set -e",
      `mount -t proc proc ${quoted(join(this.dir, "proc"))}`,
      `mount --rbind /dev ${quoted(join(this.dir, "dev"))}`,
      ...mounts,
      `exec chroot ${quoted(this.dir)} /bin/sh -c ${quoted(`cd ${quoted(cwd)} || exit\n${command}`)}`,
    ].join("\n");
    const child = Bun.spawn(["unshare", "--mount", "--pid", "--fork", "--kill-child", "sh", "-c", script], {
      env: { PATH: "/usr/sbin:/usr/bin:/sbin:/bin", ...env, HOME: "/user" },
      stdin: "ignore",
      stdout: "pipe",
      stderr: "pipe",
    });
    const [stdout, stderr, code] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
      child.exited,
    ]);
    return { code, stdout, stderr };
  }

  [Symbol.dispose](): void {
    rmSync(this.dir, { recursive: true, force: true });
  }
}
