/** The compiled binary as a user has it: copied into an empty folder, with a PATH that holds neither node nor bun. */
import { copyFile, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { program } from "./program.ts";
import { until } from "./until.ts";

/** A folder with the binary and nothing else. */
export class Bench {
  readonly dir: string;

  private constructor(dir: string) {
    this.dir = dir;
  }

  static async create(): Promise<Bench> {
    const dir = await mkdtemp(join(tmpdir(), "binnacle-"));
    await copyFile(program, join(dir, "binnacle"));
    return new Bench(dir);
  }

  /** Writes a file below the folder. */
  async write(path: string, text: string): Promise<string> {
    const file = join(this.dir, path);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, text);
    return file;
  }

  /** Copies one of the examples into the controllers folder. */
  async example(name: string, to = "controllers"): Promise<void> {
    await this.write(
      `${to}/${name}.ts`,
      await readFile(join(import.meta.dirname, "../../controllers", `${name}.ts`), "utf8"),
    );
  }

  async remove(path: string): Promise<void> {
    await rm(join(this.dir, path), { recursive: true });
  }

  /** Runs a command to its end. */
  async exec(...args: string[]): Promise<{ readonly code: number; readonly stdout: string; readonly stderr: string }> {
    const child = this.#spawn(args);
    const [stdout, stderr, code] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
      child.exited,
    ]);
    return { code, stdout, stderr };
  }

  /** Starts `binnacle run`, with free ports for health and metrics. */
  async run(options: {
    readonly kubeconfig: string;
    readonly args?: readonly string[];
    /** More variables. */
    readonly env?: Readonly<Record<string, string>>;
  }): Promise<Operator> {
    const [health, metrics] = [await freePort(), await freePort()];
    const own = ["--kubeconfig", options.kubeconfig, "--log-format", "json"];
    const addresses = [
      "--health-probe-bind-address",
      `127.0.0.1:${health}`,
      "--metrics-bind-address",
      `127.0.0.1:${metrics}`,
    ];
    const child = this.#spawn(["run", ...own, ...addresses, ...(options.args ?? [])], options.env);
    return new Operator(child, { health, metrics });
  }

  #spawn(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
    return Bun.spawn([join(this.dir, "binnacle"), ...args], {
      cwd: this.dir,
      env: { PATH: join(this.dir, "nothing"), HOME: this.dir, ...env },
      stdout: "pipe",
      stderr: "pipe",
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.dir, { recursive: true, force: true });
  }
}

type Child = Bun.Subprocess<"ignore", "pipe", "pipe">;

/** One line of the log. */
export interface LogLine {
  readonly level: string;
  readonly msg: string;
  readonly [field: string]: unknown;
}

/** A running `binnacle run`. */
export class Operator {
  readonly child: Child;
  readonly started: number = performance.now();
  /** Everything on standard error. */
  text = "";
  readonly #ports: { readonly health: number; readonly metrics: number };

  constructor(child: Child, ports: { readonly health: number; readonly metrics: number }) {
    this.child = child;
    this.#ports = ports;
    void this.#read();
  }

  async #read(): Promise<void> {
    const decoder = new TextDecoder();
    for await (const chunk of this.child.stderr) this.text += decoder.decode(chunk, { stream: true });
  }

  get log(): readonly LogLine[] {
    const lines = this.text.split("\n").filter((line) => line.startsWith("{"));
    return lines.map((line) => JSON.parse(line) as LogLine);
  }

  /** The answer of the health listener; status 0 while nothing listens. */
  async health(path: string): Promise<{ readonly status: number; readonly body: string }> {
    try {
      const response = await fetch(`http://127.0.0.1:${this.#ports.health}${path}`);
      return { status: response.status, body: await response.text() };
    } catch {
      return { status: 0, body: "" };
    }
  }

  /** Sends a request to the health listener. */
  send(path: string, init: RequestInit): Promise<Response> {
    return fetch(`http://127.0.0.1:${this.#ports.health}${path}`, init);
  }

  async metrics(): Promise<string> {
    return (await fetch(`http://127.0.0.1:${this.#ports.metrics}/metrics`)).text();
  }

  /** One sample by its name and some of its labels; 0 when there is none. */
  async metric(name: string, labels: Readonly<Record<string, string>> = {}): Promise<number> {
    return sample(await this.metrics(), name, labels);
  }

  /** Milliseconds from the start to the first 200 of /readyz. */
  async ready(): Promise<number> {
    await until(async () => (await this.health("/readyz")).status === 200, {
      what: () => `ready:\n${this.text}`,
      every: 2,
    });
    return performance.now() - this.started;
  }

  /** CPU seconds, resident and peak memory in MiB. */
  async usage(): Promise<{ readonly cpu: number; readonly rss: number; readonly peak: number }> {
    const stat = await readFile(`/proc/${this.child.pid}/stat`, "utf8");
    const status = await readFile(`/proc/${this.child.pid}/status`, "utf8");
    const [user, system] = stat
      .slice(stat.lastIndexOf(")") + 2)
      .split(" ")
      .slice(11, 13)
      .map(Number);
    const mebibytes = (field: string): number =>
      Number(new RegExp(`${field}:\\s+(\\d+)`).exec(status)?.[1] ?? 0) / 1024;
    return { cpu: ((user ?? 0) + (system ?? 0)) / 100, rss: mebibytes("VmRSS"), peak: mebibytes("VmHWM") };
  }

  signal(signal: NodeJS.Signals = "SIGTERM"): void {
    this.child.kill(signal);
  }

  /** Asks it to end, and waits for its exit status. */
  async stop(): Promise<number> {
    this.signal();
    return this.child.exited;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.child.exitCode === null) await this.stop();
  }
}

/** The sum of the samples of a metric that carry all the labels. */
export function sample(text: string, name: string, labels: Readonly<Record<string, string>> = {}): number {
  let sum = 0;
  for (const line of text.split("\n")) {
    if (!line.startsWith(`${name}{`) && !line.startsWith(`${name} `)) continue;
    if (!Object.entries(labels).every(([label, value]) => line.includes(`${label}="${value}"`))) continue;
    sum += Number(line.slice(line.lastIndexOf(" ") + 1));
  }
  return sum;
}

export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise<void>((resolve) => void server.close(() => resolve()));
  return port;
}
