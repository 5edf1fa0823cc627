/** A real registry of images, built once with Go and kept outside the repository. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { goProgram } from "../../scripts/controlplane/go-program.ts";

/** The program of main.go; `undefined` where it is not there and no Go is there to build it. */
export function registryProgram(): Promise<string | undefined> {
  return goProgram("registry", import.meta.dirname);
}

/** A layer, with its bytes as they are pulled and as they are unpacked. */
export interface StoredLayer {
  readonly digest: string;
  readonly compressed: number;
  readonly uncompressed: number;
}

/** The layers of an image that some registry has. @param program of {@link registryProgram} */
export async function layersOf(program: string, name: string): Promise<readonly StoredLayer[]> {
  return JSON.parse(await asked(program, "describe", name)) as readonly StoredLayer[];
}

async function asked(program: string, ...args: readonly string[]): Promise<string> {
  const child = Bun.spawn([program, ...args], { stdout: "pipe", stderr: "pipe" });
  const [text, words] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
  if ((await child.exited) !== 0) throw new Error(`The registry's program cannot ${args[0]}: ${words.trim()}`);
  return text;
}

/** A running registry. */
export class RealRegistry implements AsyncDisposable {
  /** Such as `127.0.0.1:12345`. */
  readonly host: string;
  readonly #program: string;
  readonly #child: ChildProcess;

  private constructor(program: string, { child, host }: { readonly child: ChildProcess; readonly host: string }) {
    this.#program = program;
    this.#child = child;
    this.host = host;
  }

  static async start(program: string): Promise<RealRegistry> {
    const child = spawn(program, ["serve"], { stdio: ["ignore", "pipe", 2] });
    const lines = createInterface({ input: child.stdout! });
    const [host] = (await Promise.race([once(lines, "line"), once(child, "exit")])) as [unknown];
    if (typeof host !== "string") throw new Error(`Cannot start the registry: it ended with ${String(host)}`);
    return new RealRegistry(program, { child, host });
  }

  /** Pulls an image with another implementation, and compares all that it says of itself. @returns what is wrong */
  async validate(name: string): Promise<string> {
    const child = Bun.spawn([this.#program, "validate", name], { stdout: "ignore", stderr: "pipe" });
    const text = await new Response(child.stderr).text();
    return (await child.exited) === 0 ? "" : text;
  }

  /** Pushes the image of an archive as `docker save` makes it. */
  async push(archive: string, name: string): Promise<void> {
    await asked(this.#program, "push", archive, name);
  }

  async layers(name: string): Promise<readonly StoredLayer[]> {
    return await layersOf(this.#program, name);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const ended = once(this.#child, "exit");
    this.#child.kill();
    await ended;
  }
}
