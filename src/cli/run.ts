import { command } from "./command.ts"; export const runCommand = command({ options: [], run: async () => 0 });
