/** `binnacle keys` */
import { KEY_STATES, type KeyAnswer, type KeysAnswer, type KeyStateName } from "../../server/debug/answers.ts";
import { type Command, command } from "../command.ts";
import { askAll } from "./ask-all.ts";
import { table } from "./table.ts";
import { readableAge } from "../../observe/readable-units.ts";
import { findTargets, outputOption, targetOptions } from "./targets.ts";

const DESCRIBED: Readonly<Record<KeyStateName, string>> = {
  parked: "List parked keys, which are not retried by themselves",
  stuck: "List keys whose run was told to stop and has not ended",
  failing: "List keys whose last run failed and that wait for their next try",
  running: "List keys whose run is under way",
  waiting: "List keys that are ready and wait for a free worker",
  delayed: "List keys that are due at a later time",
};

export const keysCommand: Command = command({
  options: [
    {
      name: "match",
      type: "string",
      positional: true,
      describe: "Text that the listed keys contain, such as default/",
    },
    ...KEY_STATES.map((state) => ({
      name: state,
      type: "boolean" as const,
      default: false,
      describe: DESCRIBED[state],
    })),
    { name: "controller", type: "string", describe: "List only keys of this controller" },
    { name: "limit", type: "number", default: 100, describe: "The largest number of keys to list for each replica" },
    ...targetOptions,
    outputOption,
  ],
  async run(values, host) {
    const states = KEY_STATES.filter((state) => (values as Readonly<Record<string, unknown>>)[state] === true);
    const query = new URLSearchParams({ limit: String(values.limit) });
    if (states.length > 0) query.set("state", states.join(","));
    if (values.controller !== undefined) query.set("controller", values.controller);
    if (values.match !== undefined) query.set("key", values.match);
    await using targets = await findTargets(values, host);
    const answers = await askAll(targets.clients, (client) => client.get<KeysAnswer>(`/debug/keys?${query}`), host.err);
    const keys = answers.flatMap(({ replica, answer }) => answer.keys.map((key) => ({ replica, ...key })));
    const total = answers.reduce((sum, { answer }) => sum + answer.total, 0);
    if (values.output === "json") {
      host.out(`${JSON.stringify({ total, keys }, undefined, 2)}\n`);
      return 0;
    }
    if (keys.length === 0) {
      host.out(`No key is ${states.length === 0 ? "queued, running or parked" : states.join(" or ")}.\n`);
      return 0;
    }
    const rows = keys.map((key) => [
      answers.length > 1 ? key.replica : "",
      key.controller,
      key.key,
      key.state,
      when(key),
      key.failures === 0 ? "" : String(key.failures),
      key.reason ?? key.causes.join("; "),
    ]);
    host.out(`${table(["REPLICA", "CONTROLLER", "KEY", "STATE", "TIME", "FAILURES", "REASON"], rows)}\n`);
    if (total > keys.length) host.out(`and ${total - keys.length} more: a higher --limit lists them\n`);
    return 0;
  },
});

/** For how long a key is in its state, or until when it waits. */
function when({ since, until }: KeyAnswer): string {
  if (until !== undefined) return `in ${readableAge(Math.max(0, Date.parse(until) - Date.now()))}`;
  return since === undefined ? "" : readableAge(Math.max(0, Date.now() - Date.parse(since)));
}
