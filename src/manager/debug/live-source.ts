/** Reads the parts of the running process for the debug listener, and acts on them. */
import { hostname } from "node:os";
import type { OutcomeAnswer, RunAnswer } from "../../history/run-answer.ts";
import type { RunHistory } from "../../history/run-history.ts";
import type { ModuleRegistry } from "../../module/module-registry.ts";
import { withoutSecrets } from "../../observe/known-secrets.ts";
import type { LogLevel, RootLog } from "../../observe/log.ts";
import { messageOf } from "../../platform/error-message.ts";
import type {
  CheckAnswer,
  HistoryAnswer,
  InformersAnswer,
  KeysAnswer,
  LeasesAnswer,
  LogLevelsAnswer,
  LogLineAnswer,
  ModulesAnswer,
  OverviewAnswer,
  OwnersAnswer,
  PauseAnswer,
  ProcessAnswer,
  RetryAnswer,
  RunsAnswer,
  WebhooksAnswer,
} from "../../server/debug/answers.ts";
import {
  BadRequest,
  type DebugSource,
  type HistoryQuery,
  type KeyFilter,
  type LogFilter,
  NotKnown,
  type ObjectQuery,
  type RunQuery,
} from "../../server/debug/debug-app.ts";
import { CONVERSION_PATH } from "../../webhook/conversion/conversion-endpoint.ts";
import type { HealthReport } from "../../server/health-checks.ts";
import type { MemoryGuard } from "../memory-guard.ts";
import type { Process } from "../process.ts";
import type { Webhooks } from "../webhooks.ts";
import { informerAnswers } from "./informer-answers.ts";
import { historyAnswer } from "./history-answers.ts";
import { controllerAnswer, keyAnswers, type LastError } from "./key-answers.ts";
import { LastErrors } from "./last-errors.ts";
import { LogTail } from "./log-tail.ts";
import { OverviewSamples } from "./overview-samples.ts";
import { isOwnToken } from "./own-token.ts";
import { ownerTree } from "./owner-tree.ts";

/** The parts of the process that are not in {@link Process}. */
export interface LiveSourceParts {
  readonly log: RootLog;
  readonly modules: ModuleRegistry;
  readonly webhooks: Pick<Webhooks, "address" | "host" | "expiries">;
  readonly memory: Pick<MemoryGuard, "limit" | "used"> | undefined;
  readonly history: RunHistory;
  readonly version: string | undefined;
}

const FAILURES: ReadonlySet<OutcomeAnswer["result"]> = new Set(["error", "retry", "parked", "unreachable"]);
/** The names of the notes about leadership and shares, among those of `/readyz?verbose`. */
const LEASE = /^(?:leaderElection|shards)\//;

export class LiveSource implements DebugSource, Disposable {
  readonly #process: Process;
  readonly #parts: LiveSourceParts;
  readonly #startedAt: number;
  readonly #cleanup = new DisposableStack();
  readonly #tail: LogTail;
  readonly #samples: OverviewSamples;
  readonly #errors: LastErrors;
  readonly #lastError: LastError = (controller, key) => this.#errors.of(controller, key);
  /** The levels that are set for a while, by module; the empty name stands for the log itself. */
  readonly #temporaryLevels = new Map<string, TemporaryLevel>();

  constructor(process: Process, parts: LiveSourceParts) {
    this.#process = process;
    this.#parts = parts;
    const { clock, connection } = process;
    this.#startedAt = clock.now();
    this.#errors = new LastErrors(() => parts.modules.controllers);
    this.#tail = this.#cleanup.use(new LogTail(parts.log, (text) => parts.history.clean(text)));
    this.#samples = this.#cleanup.use(
      new OverviewSamples({
        clock,
        controllers: () => parts.modules.controllers,
        answers: () => connection.stats.answers.values().reduce((sum, count) => sum + count, 0),
        memory: () => this.#used,
      }),
    );
    this.#cleanup.use(parts.history.onEnd((run) => this.#ended(run)));
  }

  /** Called with each run that ends. */
  #ended({ controller, key, duration = 0, outcome }: RunAnswer): void {
    const failed = isFailure(outcome);
    this.#samples.ended({ controller, failed, duration });
    this.#errors.ended(controller, key, failed ? outcome?.error : undefined);
  }

  async process(): Promise<ProcessAnswer> {
    const { version, log, memory } = this.#parts;
    const { clock, connection, development } = this.#process;
    const { sessions, streams, inFlight, protocol, answers } = connection.stats;
    const checks = await this.#checks();
    return {
      version,
      replica: hostname(),
      pid: process.pid,
      startedAt: new Date(this.#startedAt).toISOString(),
      now: new Date(clock.now()).toISOString(),
      mode: development ? "dev" : "run",
      server: {
        address: withoutSecrets(connection.server),
        isReachable: connection.reachability.reachable,
        sessions,
        watches: streams,
        inFlight,
        protocol,
        answers: Object.fromEntries(answers),
      },
      isLeader: this.#isLeader,
      isPaused: this.#process.pause.isPaused,
      log: levelsOf(log),
      memory: { used: this.#used, limit: memory?.limit },
      history: this.#parts.history.stats,
      isReady: checks.every(({ result }) => result !== "failed"),
      checks,
    };
  }

  modules(): ModulesAnswer {
    const { modules } = this.#parts;
    const { pause } = this.#process;
    const { controllers } = modules;
    return {
      modules: modules.statuses().map(({ name, file, state, message, errors, reloads }) => ({
        name,
        file,
        state: pause.holds(name) ? "paused" : state,
        message: message === undefined ? undefined : withoutSecrets(message),
        errors,
        reloads,
        controllers: controllers.filter(({ module }) => module === name).map(controllerAnswer),
      })),
    };
  }

  informers(): InformersAnswer {
    return { informers: informerAnswers(this.#process.informers, this.#process.connectionClock.now()) };
  }

  keys(filter: KeyFilter): KeysAnswer {
    return keyAnswers(this.#parts.modules.controllers, filter, this.#lastError);
  }

  leases(): LeasesAnswer {
    const notes = this.#process.health.readyz.notes();
    return {
      leases: notes.flatMap(([name, note]) => (LEASE.test(name) ? [{ name, state: textOf(note() ?? "ok") }] : [])),
    };
  }

  webhooks(): WebhooksAnswer {
    const { address, host, expiries } = this.#parts.webhooks;
    const { webhooks, converted } = host.served;
    return {
      address,
      webhooks: [
        ...webhooks.map(({ path, type, name }) => ({ name, path, type })),
        ...converted.map(({ kind }) => ({ name: kind, path: CONVERSION_PATH, type: "conversion" })),
      ],
      certificates: expiries.map(([name, until]) => ({ name, expires: new Date(until).toISOString() })),
    };
  }

  owners(query: ObjectQuery): OwnersAnswer {
    const { informers } = this.#process;
    const { modules, history } = this.#parts;
    const clean = (text: string): string => history.clean(text);
    return ownerTree({ informers, controllers: modules.controllers, clean }, query);
  }

  history(query: HistoryQuery): HistoryAnswer {
    const { informers } = this.#process;
    const { modules, history } = this.#parts;
    const { controllers } = modules;
    const clean = (text: string): string => history.clean(text);
    return historyAnswer({ informers, controllers, history, lastError: this.#lastError, clean }, query);
  }

  runs({ failed, limit, ...filter }: RunQuery): RunsAnswer {
    const runs = this.#parts.history.runs(filter).filter(({ outcome }) => !failed || isFailure(outcome));
    return { runs: [...runs.take(limit)] };
  }

  run(id: string): RunAnswer | undefined {
    return this.#parts.history.run(id);
  }

  onRun(listener: (run: RunAnswer) => void): Disposable {
    const own = (run: RunAnswer): void => listener(run);
    return this.#parts.history.onEnd(own);
  }

  overview(): readonly OverviewAnswer[] {
    return this.#samples.samples;
  }

  onSecond(listener: (overview: OverviewAnswer) => void): Disposable {
    return this.#samples.onSample(listener);
  }

  log(filter: LogFilter, limit: number): readonly LogLineAnswer[] {
    return this.#tail.lines(filter, limit);
  }

  onLine(filter: LogFilter, listener: (line: LogLineAnswer) => void): Disposable {
    return this.#tail.onLine(filter, listener);
  }

  retry(controller: string | undefined, key: string): RetryAnswer {
    const { controllers } = this.#parts.modules;
    const meant = controllers.filter(({ name }) => controller === undefined || name === controller);
    if (meant.length === 0) {
      const names = controllers.map(({ name }) => name).join(", ");
      throw new NotKnown(`there is no controller ${JSON.stringify(controller)}; there are ${names || "none"}`);
    }
    const what = controller === undefined ? "no controller" : `controller ${controller}`;
    const working = meant.filter((one) => one.works(key));
    const [only] = working;
    if (only === undefined)
      throw new NotKnown(
        `${what} ${controller === undefined ? "has the" : "has no"} key ${JSON.stringify(key)} on this replica`,
      );
    if (working.length > 1) {
      const names = working.map(({ name }) => name).join(", ");
      throw new BadRequest(`several controllers have the key ${JSON.stringify(key)}: name one of ${names}`);
    }
    if (this.#isLeader === false) throw new NotKnown("another replica leads, which has the key too");
    only.retry(key);
    this.#parts.log.info("A key runs by request", { module: only.module, controller: only.name, key });
    return { controller: only.name, key };
  }

  setPaused(module: string | undefined, isPaused: boolean): PauseAnswer {
    const { log } = this.#parts;
    const { pause } = this.#process;
    if (module === undefined) {
      pause.isPaused = isPaused;
      if (!isPaused) for (const one of pause.modules) pause.setPaused(one, false);
    } else {
      this.#requireModule(module);
      pause.setPaused(module, isPaused);
    }
    log.info(
      isPaused ? "Paused by request: no run begins" : "Resumed by request",
      module === undefined ? {} : { module },
    );
    return { isPaused: pause.isPaused, modules: pause.modules };
  }

  setLogLevel(change: {
    readonly module: string | undefined;
    readonly level: LogLevel | undefined;
    readonly within: number | undefined;
  }): LogLevelsAnswer {
    const { module, level, within } = change;
    const { log } = this.#parts;
    if (module !== undefined) this.#requireModule(module);
    const name = module ?? "";
    const temporary = this.#temporaryLevels.get(name);
    temporary?.timer[Symbol.dispose]();
    this.#temporaryLevels.delete(name);
    const present = module === undefined ? log.level : log.moduleLevels.get(module);
    const before = temporary === undefined ? present : temporary.before;
    setLevel(log, module, level);
    if (within !== undefined) {
      const timer = this.#process.clock.setTimeout(() => {
        this.#temporaryLevels.delete(name);
        setLevel(log, module, before);
      }, within);
      this.#temporaryLevels.set(name, { before, timer });
    }
    return levelsOf(log);
  }

  async profile(ms: number): Promise<string> {
    const { cpuProfile } = await import("./profiles.ts");
    return cpuProfile(ms, { clock: this.#process.clock, signal: this.#process.stopping });
  }

  async heap(): Promise<string> {
    const { cleanHeapSnapshot } = await import("./profiles.ts");
    return cleanHeapSnapshot();
  }

  isOwn(token: string): Promise<boolean> {
    return isOwnToken(this.#process.installer, token);
  }

  [Symbol.dispose](): void {
    for (const { timer } of this.#temporaryLevels.values()) timer[Symbol.dispose]();
    this.#cleanup.dispose();
  }

  /** Whether this replica works; `undefined` when it has no others beside it. */
  get #isLeader(): boolean | undefined {
    const { elections, sharding } = this.#process;
    return elections?.isLeader ?? sharding?.shards.isLeader;
  }

  get #used(): number {
    return this.#parts.memory?.used() ?? process.memoryUsage.rss();
  }

  #requireModule(module: string): void {
    const names = this.#parts.modules.statuses().map(({ name }) => name);
    if (!names.includes(module))
      throw new NotKnown(`there is no module ${JSON.stringify(module)}; there are ${names.join(", ") || "none"}`);
  }

  async #checks(): Promise<readonly CheckAnswer[]> {
    const { readyz } = this.#process.health;
    const failed = await Promise.all(
      readyz.checks().map(async ([name, check]): Promise<CheckAnswer | undefined> => {
        const report = await Promise.resolve()
          .then(check)
          .catch((error: unknown) => messageOf(error));
        return report === undefined ? undefined : { name, result: "failed", reason: textOf(report) };
      }),
    );
    const notes = readyz.notes().map(([name, note]): CheckAnswer | undefined => {
      const report = note();
      return report === undefined ? undefined : { name, result: "note", reason: textOf(report) };
    });
    return [...failed, ...notes].filter((one) => one !== undefined);
  }
}

interface TemporaryLevel {
  /** The level that comes back; `undefined` lets the module follow the log. */
  readonly before: LogLevel | undefined;
  readonly timer: Disposable;
}

function isFailure(outcome: OutcomeAnswer | undefined): boolean {
  return outcome !== undefined && FAILURES.has(outcome.result);
}

function textOf(report: string | HealthReport): string {
  return withoutSecrets(typeof report === "string" ? report : report.text);
}

function levelsOf({ level, moduleLevels }: RootLog): LogLevelsAnswer {
  return { level, modules: Object.fromEntries(moduleLevels) };
}

function setLevel(log: RootLog, module: string | undefined, level: LogLevel | undefined): void {
  if (module !== undefined) log.setModuleLevel(module, level);
  else if (level !== undefined) log.level = level;
}
