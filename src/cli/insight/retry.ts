/** `binnacle retry` */
import type { KeysAnswer, RetryAnswer } from "../../server/debug/answers.ts";
import { type Command, command } from "../command.ts";
import { UsageError, UserError } from "../usage-error.ts";
import { askAll } from "./ask-all.ts";
import type { DebugClient } from "./debug-client.ts";
import { findTargets, outputOption, targetOptions } from "./targets.ts";

/** The most keys of each replica that one command runs; the listener answers no more of them at once. */
const MOST_KEYS = 5_000;

export const retryCommand: Command = command({
  options: [
    { name: "key", type: "list", positional: true, describe: "Keys to run, such as default/web" },
    {
      name: "controller",
      type: "string",
      describe: "Controller of the keys; needed when several controllers have the same key",
    },
    { name: "parked", type: "boolean", default: false, describe: "Run all parked keys" },
    {
      name: "failing",
      type: "boolean",
      default: false,
      describe: "Run all keys that failed and wait for their next try",
    },
    ...targetOptions,
    outputOption,
  ],
  async run(values, host) {
    const { key: names = [], parked, failing, controller } = values;
    if (names.length === 0 && !parked && !failing)
      throw new UsageError("Name the keys to run, such as `binnacle retry default/web`, or pass --parked or --failing");
    await using targets = await findTargets(values, host);
    const { clients } = targets;
    const runs: (RetryAnswer & { readonly replica: string })[] = [];
    /** Several replicas may know a key, of which one works on it. */
    const retry = async (client: DebugClient, key: string, name: string | undefined): Promise<string | undefined> => {
      const response = await client.act("/debug/retry", { controller: name, key });
      const answer = (await response.json()) as RetryAnswer & { readonly error: string };
      if (!response.ok) return answer.error;
      runs.push({ replica: client.name, controller: answer.controller, key });
      return undefined;
    };
    let refused = 0;
    const states = [...(parked ? ["parked"] : []), ...(failing ? ["failing"] : [])].join(",");
    if (states !== "") {
      const query = new URLSearchParams({ limit: String(MOST_KEYS), state: states });
      if (controller !== undefined) query.set("controller", controller);
      const path = `/debug/keys?${query}`;
      for (const { client, replica, answer } of await askAll(clients, (one) => one.get<KeysAnswer>(path), host.err)) {
        for (const one of answer.keys) {
          const problem = await retry(client, one.key, one.controller);
          if (problem === undefined) continue;
          refused++;
          host.err(`${replica}: ${one.controller} ${one.key} does not run: ${problem}\n`);
        }
        const more = answer.total - answer.keys.length;
        if (more > 0) host.err(`${replica} has ${more} more such keys: repeat the command\n`);
      }
    }
    for (const key of names) {
      const before = runs.length;
      const answers = await askAll(clients, (one) => retry(one, key, controller), host.err);
      if (runs.length === before) throw new UserError([...new Set(answers.map(({ answer }) => answer))].join("\n"));
    }
    if (values.output === "json") host.out(`${JSON.stringify(runs, undefined, 2)}\n`);
    else if (runs.length === 0 && refused === 0) host.out(`No key is ${states.replace(",", " or ")}.\n`);
    for (const one of values.output === "json" ? [] : runs)
      host.out(`${clients.length > 1 ? `${one.replica}: ` : ""}${one.controller} ${one.key} runs again\n`);
    return refused > 0 && runs.length === 0 ? 1 : 0;
  },
});
