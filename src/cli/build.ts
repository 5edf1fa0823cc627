/** `binnacle build` */
import { isTerminal } from "../observe/terminal.ts";
import { command, type Command } from "./command.ts";
import { buildOptions } from "./build-options.ts";
import { whenSignalled } from "./signals.ts";
import { UsageError, UserError } from "./usage-error.ts";

const STANDARD_ERROR = 2;

export const buildCommand: Command = command({
  options: buildOptions,
  async run(values, host) {
    const imageOnly = ["apiserver", "base", "label", "sbom", "plain-http"] as const;
    const misplaced = imageOnly.find((name) => values[name] !== undefined && values[name] !== false);
    if (values.image === undefined && misplaced !== undefined) {
      throw new UsageError(`--${misplaced} is for images: add --image with the name of one, or leave it out`);
    }
    if (values.image !== undefined && values.name !== undefined) {
      throw new UsageError("--name is for executables: an image is named by --image; leave one out");
    }
    if (values.apiserver && values.external) {
      throw new UsageError("--apiserver has no modules that --external could leave outside: leave one out");
    }
    if (host.embedded.source !== undefined) {
      throw new UsageError(
        "This binnacle runs from its sources, which cannot be embedded: build it first, and use dist/binnacle",
      );
    }
    const stop = new AbortController();
    const outputs: string[] = [];
    void whenSignalled(() => stop.abort(new UserError(stoppedMessage(outputs))));
    const { Progress } = await import("../build/index.ts");
    using progress = new Progress({ write: host.err, isTerminal: isTerminal(STANDARD_ERROR) });
    const context = { host, progress, signal: stop.signal, onWritten: (file: string) => void outputs.push(file) };
    try {
      if (values.image === undefined) {
        const { buildExecutables } = await import("./build-executables.ts");
        return await buildExecutables(values, context);
      }
      const { buildImageOf } = await import("./build-image.ts");
      return await buildImageOf({ ...values, image: values.image }, context);
    } catch (error) {
      // Whatever failed after the signal failed because of it.
      stop.signal.throwIfAborted();
      throw error;
    }
  },
});

/** Returns the last message of a build that was stopped. */
export function stoppedMessage(outputs: readonly string[]): string {
  if (outputs.length === 0) return "Stopped, and nothing has been written";
  return `Stopped: ${outputs.join(", ")} ${outputs.length === 1 ? "has" : "have"} been written, and nothing else`;
}
