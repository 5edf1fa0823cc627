import { command } from "./command.ts"; export const manifestsCommand = command({ options: [], run: async () => 0 });
