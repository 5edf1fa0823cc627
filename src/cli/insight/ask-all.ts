/** Asks all replicas the same question at once. */
import { messageOf } from "../../platform/error-message.ts";
import { UserError } from "../usage-error.ts";
import type { DebugClient } from "./debug-client.ts";

/** The answer of one replica. */
export interface Answered<T> {
  readonly replica: string;
  readonly client: DebugClient;
  readonly answer: T;
}

/**
 * Returns the answers in the order of the clients; a replica that does not answer is reported and left out.
 *
 * @throws UserError when none answers.
 */
export async function askAll<T>(
  clients: readonly DebugClient[],
  ask: (client: DebugClient) => Promise<T>,
  report: (text: string) => void,
): Promise<readonly Answered<T>[]> {
  const results = await Promise.allSettled(clients.map(ask));
  const answers: Answered<T>[] = [];
  const failures: string[] = [];
  for (const [index, result] of results.entries()) {
    const client = clients[index]!;
    if (result.status === "fulfilled") answers.push({ replica: client.name, client, answer: result.value });
    else failures.push(messageOf(result.reason));
  }
  if (answers.length === 0) throw new UserError(failures.join("\n"));
  for (const failure of failures) report(`${failure}\n`);
  return answers;
}
