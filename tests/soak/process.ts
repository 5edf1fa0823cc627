/** Runs the operator as a child process that answers questions. */
import { join } from "node:path";
import type { Answer, Question, State, Usage } from "./protocol.ts";

export class Operator implements AsyncDisposable {
  readonly #child: Bun.Subprocess<"ignore", "inherit", "inherit">;
  readonly #answers: ((answer: Answer) => void)[];

  private constructor(child: Bun.Subprocess<"ignore", "inherit", "inherit">, answers: ((answer: Answer) => void)[]) {
    this.#child = child;
    this.#answers = answers;
  }

  static async start(kubeconfig: string): Promise<Operator> {
    const answers: ((answer: Answer) => void)[] = [];
    const ready = new Promise<Answer>((resolve) => answers.push(resolve));
    const child = Bun.spawn([process.execPath, join(import.meta.dirname, "operator.ts"), kubeconfig], {
      stdio: ["ignore", "inherit", "inherit"],
      ipc: (answer: Answer) => answers.shift()?.(answer),
      serialization: "json",
    });
    await Promise.race([
      ready,
      child.exited.then((code) => {
        throw new Error(`The operator ended with ${code}`);
      }),
    ]);
    return new Operator(child, answers);
  }

  async usage(): Promise<Usage> {
    return (await this.#ask("usage")).usage!;
  }

  async classes(): Promise<Readonly<Record<string, number>>> {
    return (await this.#ask("classes")).classes!;
  }

  async state(): Promise<State> {
    return (await this.#ask("state")).state!;
  }

  async stop(): Promise<{ ended: number; exitCode: number; resources: { before: string; after: string } }> {
    const began = performance.now();
    const { stopped } = await this.#ask("stop");
    const exitCode = await this.#child.exited;
    return { ended: Math.round(performance.now() - began), exitCode, resources: stopped! };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#child.exitCode === null) this.#child.kill("SIGKILL");
    await this.#child.exited;
  }

  #ask(question: Question): Promise<Answer> {
    const answered = new Promise<Answer>((resolve) => this.#answers.push(resolve));
    this.#child.send(question);
    return answered;
  }
}
