import { command } from "./command.ts"; export const checkCommand = command({ options: [], run: async () => 0 });
