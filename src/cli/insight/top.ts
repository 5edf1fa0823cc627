/** `binnacle top` */
import { isTerminal } from "../../observe/terminal.ts";
import { sleep } from "../../platform/clock.ts";
import type {
  ControllerAnswer,
  InformerAnswer,
  InformersAnswer,
  ModulesAnswer,
  OverviewAnswer,
  ProcessAnswer,
} from "../../server/debug/answers.ts";
import { type Command, command } from "../command.ts";
import { whenSignalled } from "../signals.ts";
import { type Answered, askAll } from "./ask-all.ts";
import type { DebugClient } from "./debug-client.ts";
import { table } from "./table.ts";
import { readableAge, readableMillis, readableSize } from "../../observe/readable-units.ts";
import { findTargets, outputOption, targetOptions } from "./targets.ts";

/** The answers of one replica from which a screen is made. */
interface Load {
  readonly process: ProcessAnswer;
  readonly modules: ModulesAnswer;
  readonly informers: InformersAnswer;
  /** The last seconds, the newest last. */
  readonly seconds: readonly OverviewAnswer[];
}

const STANDARD_OUTPUT = 1;
/** The seconds over which rates are averaged. */
const WINDOW = 10;
const CLEAR = "\u001b[H\u001b[2J\u001b[3J";

export const topCommand: Command = command({
  options: [
    {
      name: "once",
      type: "boolean",
      default: false,
      describe: "Print the load once and end, instead of updating it",
    },
    { name: "every", type: "duration", default: "2s", describe: "Time between two updates" },
    ...targetOptions,
    outputOption,
  ],
  async run(values, host) {
    await using targets = await findTargets(values, host);
    const isLive = !values.once && values.output === "text" && isTerminal(STANDARD_OUTPUT);
    const stopping = new AbortController();
    if (isLive) void whenSignalled(() => stopping.abort()).catch(() => {});
    for (;;) {
      const loads = await askAll(targets.clients, loadOf, host.err);
      if (values.output === "json") {
        const replicas = loads.map(({ replica, answer }) => ({ replica, ...answer }));
        host.out(`${JSON.stringify(replicas, undefined, 2)}\n`);
        return 0;
      }
      host.out(`${isLive ? CLEAR : ""}${picture(loads)}\n`);
      if (!isLive) return 0;
      await sleep(values.every, { signal: stopping.signal }).catch(() => {});
      if (stopping.signal.aborted) return 0;
    }
  },
});

async function loadOf(client: DebugClient): Promise<Load> {
  const [process, modules, informers, overview] = await Promise.all([
    client.get<ProcessAnswer>("/debug/process"),
    client.get<ModulesAnswer>("/debug/modules"),
    client.get<InformersAnswer>("/debug/informers"),
    client.get<readonly OverviewAnswer[]>("/debug/overview"),
  ]);
  return { process, modules, informers, seconds: overview.slice(-WINDOW) };
}

function picture(loads: readonly Answered<Load>[]): string {
  const isOne = loads.length === 1;
  const named = (replica: string): string => (isOne ? "" : replica);
  return [
    table(
      [
        "REPLICA",
        "READY",
        "LEADS",
        "RUNS/S",
        "ERRORS/S",
        "P50",
        "P99",
        "WAITING",
        "RUNNING",
        "FAILING",
        "PARKED",
        "REQUESTS/S",
        "MEMORY",
      ],
      loads.map(({ replica, answer }) => [replica, ...processRow(answer)]),
    ),
    table(
      ["REPLICA", "MODULE", "CONTROLLER", "STATE", "RUNS/S", "WAITING", "RUNNING", "FAILING", "PARKED", "STUCK", "WHY"],
      loads.flatMap(({ replica, answer }) =>
        answer.modules.modules.flatMap((module) =>
          (module.controllers.length === 0 ? [undefined] : module.controllers).map((controller) => [
            named(replica),
            module.name,
            ...controllerRow(controller, answer.seconds, { state: module.state, message: module.message }),
          ]),
        ),
      ),
    ),
    table(
      ["REPLICA", "INFORMER", "SELECTOR", "STATE", "OBJECTS", "SIZE", "LAST EVENT", "RELISTS", "USERS", "WHY"],
      loads.flatMap(({ replica, answer }) =>
        answer.informers.informers.map((informer) => [
          named(replica),
          ...informerRow(informer, Date.parse(answer.process.now)),
        ]),
      ),
    ),
    ...loads.flatMap(({ replica, answer: { process } }) =>
      process.checks
        .filter(({ result }) => result === "failed")
        .map(({ name, reason }) => `${isOne ? "The process" : replica} is not ready: ${name}: ${reason}`),
    ),
  ].join("\n\n");
}

function processRow({ process, seconds }: Load): readonly string[] {
  const last = seconds.at(-1);
  const rate = (of: (second: OverviewAnswer) => number): string => perSecond(seconds, of);
  const { memory } = process;
  return [
    process.isReady ? "yes" : "no",
    process.isLeader === undefined ? "" : process.isLeader ? "yes" : "no",
    rate(({ runs }) => runs),
    rate(({ errors }) => errors),
    millis(seconds.findLast(({ p50 }) => p50 !== undefined)?.p50),
    millis(seconds.findLast(({ p99 }) => p99 !== undefined)?.p99),
    String(last?.keys.waiting ?? 0),
    String(last?.keys.running ?? 0),
    String(last?.keys.failing ?? 0),
    String(last?.keys.parked ?? 0),
    rate(({ requests }) => requests),
    memory.limit === undefined
      ? readableSize(memory.used)
      : `${readableSize(memory.used)} of ${readableSize(memory.limit)}`,
  ];
}

function controllerRow(
  controller: ControllerAnswer | undefined,
  seconds: readonly OverviewAnswer[],
  module: { readonly state: string; readonly message: string | undefined },
): readonly string[] {
  if (controller === undefined) return ["", module.state, "", "", "", "", "", "", module.message ?? ""];
  const { name, keys, state, message } = controller;
  const isModules = module.state !== "running" && module.state !== "loading";
  return [
    name,
    isModules ? module.state : state,
    perSecond(seconds, ({ controllers }) => controllers[name]?.runs ?? 0),
    String(keys.waiting),
    String(keys.running),
    String(keys.failing),
    String(keys.parked),
    keys.stuck === 0 ? "" : String(keys.stuck),
    message ?? module.message ?? "",
  ];
}

function informerRow(informer: InformerAnswer, now: number): readonly string[] {
  const { kind, selector, state, objects, bytes, lastEvent, relists, users, message } = informer;
  return [
    kind.group === "" ? kind.kind : `${kind.kind}.${kind.group}`,
    selector,
    state,
    String(objects),
    readableSize(bytes),
    lastEvent === undefined ? "" : readableAge(Math.max(0, now - Date.parse(lastEvent))),
    Object.entries(relists)
      .map(([reason, count]) => `${reason} ${count}`)
      .join(", "),
    [...new Set(users)].join(", "),
    message ?? "",
  ];
}

function perSecond(seconds: readonly OverviewAnswer[], of: (second: OverviewAnswer) => number): string {
  if (seconds.length === 0) return "0";
  const rate = seconds.reduce((sum, second) => sum + of(second), 0) / seconds.length;
  return rate >= 10 || rate === 0 ? String(Math.round(rate)) : rate.toFixed(1);
}

function millis(value: number | undefined): string {
  return value === undefined ? "" : readableMillis(value).replace(" ", "");
}
