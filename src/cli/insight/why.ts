/** `binnacle why` */
import { type Command, command } from "../command.ts";

export const whyCommand: Command = command({ options: [], run: () => Promise.resolve(0) });
