/** `binnacle why` */
import type { RunAnswer } from "../../history/run-answer.ts";
import type { HistoryAnswer, KeyAnswer } from "../../server/debug/answers.ts";
import { printable, printableLines } from "../../observe/printable.ts";
import { type Command, command, type Host } from "../command.ts";
import { whenSignalled } from "../signals.ts";
import { UsageError, UserError } from "../usage-error.ts";
import { type Answered, askAll } from "./ask-all.ts";
import type { DebugClient, Targets } from "./debug-client.ts";
import { objectText, runLines } from "../../history/run-sentences.ts";
import { readableAge } from "../../observe/readable-units.ts";
import { findTargets, outputOption, targetOptions } from "./targets.ts";

/** Milliseconds after which --watch asks again although no run has ended: keys change their state too. */
const LOOK_EVERY = 2_000;

export const whyCommand: Command = command({
  options: [
    {
      name: "kind",
      type: "string",
      positional: true,
      describe: "Kind, such as Deployment, deployments or Deployment.apps",
    },
    {
      name: "name",
      type: "string",
      positional: true,
      describe: "Object, as namespace/name, or as name for a cluster-scoped kind",
    },
    { name: "limit", type: "number", default: 5, describe: "The number of runs to tell" },
    { name: "controller", type: "string", describe: "Tell only runs of this controller" },
    {
      name: "watch",
      letter: "w",
      type: "boolean",
      default: false,
      describe: "Keep telling each further run when it ends",
    },
    ...targetOptions,
    outputOption,
  ],
  async run(values, host) {
    const { kind, name } = values;
    if (kind === undefined || name === undefined)
      throw new UserError("Name the object, such as `binnacle why Deployment default/web`");
    const [first = "", second, ...rest] = name.split("/");
    if (rest.length > 0) throw new UsageError(`'${name}' is no object: expected namespace/name, or name`);
    const query = new URLSearchParams({ kind, limit: String(values.limit) });
    query.set("name", second ?? first);
    if (second !== undefined) query.set("namespace", first);
    if (values.controller !== undefined) query.set("controller", values.controller);
    const path = `/debug/history?${query}`;
    await using targets = await findTargets(values, host);
    const told = new Set<string>();
    const answers = await histories(targets, path, host);
    if (values.output === "json") {
      host.out(
        `${JSON.stringify(
          answers.map(({ replica, answer }) => ({ replica, ...answer })),
          undefined,
          2,
        )}\n`,
      );
      return 0;
    }
    host.out(`${present(answers)}\n`);
    tell(answers, { told, host, limit: values.limit });
    if (!values.watch) return 0;
    const stopping = new AbortController();
    void whenSignalled(() => stopping.abort()).catch(() => {});
    await follow(targets.clients, stopping.signal, async () => {
      tell(await histories(targets, path, host), { told, host, limit: values.limit });
    });
    return 0;
  },
});

type Histories = readonly Answered<HistoryAnswer>[];

/** @throws UserError when no replica knows the object. */
async function histories({ clients }: Targets, path: string, host: Host): Promise<Histories> {
  const reasons: string[] = [];
  const answers = await askAll(
    clients,
    async (client) => {
      const answer = await client.find<HistoryAnswer>(path, (reason) => reasons.push(reason));
      return answer;
    },
    host.err,
  );
  const known = answers.flatMap(({ answer, ...from }) => (answer === undefined ? [] : [{ ...from, answer }]));
  if (known.length === 0) throw new UserError(reasons[0] ?? "No process knows the object");
  return known;
}

/** Tells the state of the object and of its keys. */
function present(answers: Histories): string {
  const { object } = answers[0]!.answer;
  const cached = answers.find(({ answer }) => answer.present !== undefined)?.answer.present;
  const name = object === undefined ? "The object" : objectText(object);
  const conditions = cached?.conditions.map(
    ({ type, status, reason, message }) =>
      `\n  ${type} is ${status}${reason === undefined ? "" : ` (${reason})`}${message === undefined || message === "" ? "" : `: ${message}`}`,
  );
  const state =
    cached === undefined
      ? "is in no cache: it does not exist, or no controller watches it"
      : `exists${cached.generation === undefined ? "" : `, generation ${cached.generation}`}${cached.isDeleting ? ", and is being deleted" : ""}`;
  const keys = answers.flatMap(({ replica, answer }) =>
    answer.keys.map((key) => `\n  ${key.controller}${answers.length > 1 ? ` on ${replica}` : ""}: ${keyText(key)}`),
  );
  const controllers = [...new Set(answers.flatMap(({ answer }) => answer.controllers))];
  const idle =
    keys.length > 0
      ? ""
      : controllers.length === 0
        ? "\n  No controller of this process reconciles this kind"
        : `\n  ${controllers.join(", ")}: is idle, nothing is queued`;
  return printableLines(`${name} ${state}${conditions?.join("") ?? ""}${keys.join("")}${idle}`);
}

function keyText({ state, since, until, failures, reason, causes }: KeyAnswer): string {
  const ago = since === undefined ? "" : ` for ${readableAge(Math.max(0, Date.now() - Date.parse(since)))}`;
  const then = until === undefined ? "" : ` and runs in ${readableAge(Math.max(0, Date.parse(until) - Date.now()))}`;
  const often = failures === 0 ? "" : ` after ${failures} ${failures === 1 ? "failure" : "failures"}`;
  const why = reason ?? causes.join("; ");
  return `is ${state}${ago}${then}${often}${why === "" ? "" : `: ${why}`}`;
}

interface Telling {
  /** The ids of the runs that have been told. */
  readonly told: Set<string>;
  readonly host: Host;
  readonly limit: number;
}

/** Tells the runs that have not been told, the oldest first. */
function tell(answers: Histories, { told, host, limit }: Telling): void {
  const all = new Map<string, RunAnswer>();
  for (const { answer } of answers)
    for (const run of [...answer.runs, ...answer.writers, ...answer.linked]) all.set(run.id, run);
  const meant = answers.flatMap(({ answer }) => (answer.runs.length > 0 ? answer.runs : answer.writers));
  const fresh = meant
    .filter(({ id, duration }) => !told.has(id) && (told.size === 0 || duration !== undefined))
    .sort((a, b) => (a.at < b.at ? -1 : 1))
    .slice(-limit);
  if (meant.length === 0) host.out("\nNo run that reconciled or wrote it is recorded.\n");
  for (const run of fresh) {
    if (run.duration !== undefined) told.add(run.id);
    const lines = runLines(run, { runOf: (id) => all.get(id), isShared: answers.length > 1 });
    host.out(`\n${lines.map(printable).join("\n")}\n`);
  }
}

/** Calls a function whenever a run has ended, until the signal fires. @throws what the function throws */
async function follow(clients: readonly DebugClient[], signal: AbortSignal, look: () => Promise<void>): Promise<void> {
  const failing = new AbortController();
  const following = AbortSignal.any([signal, failing.signal]);
  let isLooking = false;
  let isDue = false;
  const due = async (): Promise<void> => {
    isDue = true;
    if (isLooking) return;
    isLooking = true;
    while (isDue && !following.aborted) {
      isDue = false;
      await look().catch((error: unknown) => failing.abort(error));
    }
    isLooking = false;
  };
  const timer = setInterval(() => void due(), LOOK_EVERY);
  try {
    await Promise.all(
      clients.map((client) => client.follow("/debug/stream", (event) => void (event === "run" && due()), following)),
    );
    failing.signal.throwIfAborted();
  } finally {
    clearInterval(timer);
  }
}
