/**
 * Two replicas of an operator that elect a leader, under load and under faults, judged by the API server's audit log, the
 * history of their Lease in etcd, and what the operator's module recorded.
 *
 *     bun tests/ha/ha.ts [--seconds 600] [--seed N] [--dir DIR] [--faults A,B,…] [--definition FILE] [-- COMMAND [ARGUMENT…]]
 *
 * Without a command it is `dist/binnacle` with `tests/ha/operator`. Another operator finds `KUBECONFIG`, `PORT` (it answers
 * `GET /readyz` there), `LEADER_ELECT=1`, `LEADER_ELECTION_ID` and `LEADER_ELECTION_NAMESPACE` in its environment. It makes for
 * each object of the definition's kind a ConfigMap `w-<name>` with `data.size` and `data.payload` as in its spec.
 */
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { until } from "../support/until.ts";
import { AuditLog, isOk, isWrite } from "./audit-log.ts";
import { deck, randomFrom, STANDBY, strikes } from "./chaos.ts";
import { type Fault, judge } from "./judge.ts";
import { grantEverything, startJudgedPlane } from "./judged-plane.ts";
import { leaseHistory } from "./lease-history.ts";
import { kindOf, Load } from "./load.ts";
import { binnacle, Replica, type ReplicaOptions } from "./replica.ts";
import { type HaReport, table } from "./report.ts";

export interface HaOptions {
  /** For how many seconds faults are injected. */
  readonly seconds: number;
  readonly seed: number;
  /** Seconds of Lease requests at rest, before the first fault. @default 0 */
  readonly rest?: number;
  /** The faults that come first; others follow in a random order. @default the common ones: SIGTERM, kill -9 */
  readonly first?: readonly string[];
  /** Whether no others follow. @default false */
  readonly only?: boolean;
  /** The CustomResourceDefinition as YAML. @default widgets.yaml */
  readonly definition?: string;
  /** The command line. @default the compiled binary with the module in `operator/` */
  readonly command?: ReplicaOptions["command"];
  /** The folder in which kubeconfigs, logs and records are written and stay. @default a folder that is removed */
  readonly dir?: string | undefined;
  /** Changes per second. @default 20 */
  readonly rate?: number;
  /** Called with what is being done. @default not called */
  readonly onProgress?: (text: string) => void;
}

const LEASE = { namespace: "default", name: "ha-operator" };
/** Milliseconds after a fault within which everything must work again. */
const WELL_WITHIN = 120_000;

export async function highAvailability(options: HaOptions): Promise<HaReport> {
  const {
    seconds,
    seed,
    rest = 0,
    first = ["SIGTERM", "kill -9"],
    only = false,
    rate = 20,
    onProgress = () => {},
  } = options;
  const definition = options.definition ?? (await readFile(join(import.meta.dirname, "widgets.yaml"), "utf8"));
  await using cleanup = new AsyncDisposableStack();
  const dir = options.dir ?? (await mkdtemp(join(tmpdir(), "binnacle-ha-")));
  if (options.dir === undefined) cleanup.defer(() => rm(dir, { recursive: true, force: true }));
  const plane = cleanup.use(await startJudgedPlane(dir));
  await grantEverything(plane, definition);
  const audit = new AuditLog(join(dir, "audit.log"));
  const load = new Load(plane, { kind: kindOf(definition), objects: 100 });
  await load.fill();

  const command = options.command ?? binnacle(join(import.meta.dirname, "operator"));
  const start = async (name: string): Promise<Replica> =>
    cleanup.use(await Replica.start({ plane, dir, name, lease: LEASE, command }));
  const replicas = [await start("a"), await start("b")] as const;
  const random = randomFrom(seed);

  /** Returns the replica whose process holds the Lease. */
  const leader = async (): Promise<Replica | undefined> => {
    await audit.read();
    const last = audit.requests.findLast((one) => one.resource === "leases" && isWrite(one) && isOk(one));
    return last?.holder ? replicas.find(({ user }) => user === last.user) : undefined;
  };
  const isWell = async (): Promise<boolean> => {
    const ready = await Promise.all(replicas.map((replica) => replica.isReady()));
    const user = (await leader())?.user;
    const since = Date.now() - 2_000;
    return (
      ready.every(Boolean) &&
      user !== undefined &&
      audit.requests.some(
        (one) => one.user === user && one.answered > since && isWrite(one) && one.resource !== "leases",
      )
    );
  };
  const well = (what: string) => until(isWell, { within: WELL_WITHIN, every: 200, what: `all is well after ${what}` });

  load.start(rate);
  await well("the start");
  const leaseRequests = rest > 0 ? await requestsAtRest(audit, rest) : undefined;

  const faults: Fault[] = [];
  const end = performance.now() + seconds * 1_000;
  for (const kind of only ? first : deck(random, first)) {
    if (performance.now() > end) break;
    const leading = (await leader())!;
    const strikesStandby = STANDBY.includes(kind) && faults.length >= first.length && random() < 0.2;
    const replica = strikesStandby ? replicas.find((one) => one !== leading)! : leading;
    const isOfReplica = kind !== "server restart";
    faults.push({
      kind,
      user: isOfReplica ? replica.user : undefined,
      leader: isOfReplica && !strikesStandby,
      at: Date.now(),
    });
    onProgress(`${kind} of ${isOfReplica ? replica.user : "kube-apiserver"}`);
    await strikes[kind]!({ plane, replica, random });
    await well(kind);
    await Bun.sleep(500 + random() * 2_000);
  }
  const over = Date.now();
  await load.stop();
  let unsettled: string | undefined = "";
  await until(async () => (unsettled = await load.unsettled()) === undefined, {
    within: 60_000,
    every: 500,
    what: "everything is settled",
  }).catch(() => {});
  for (const replica of replicas) await replica.terminate();
  await audit.read();
  const runs = (await Promise.all(replicas.map((replica) => replica.runs()))).flat();
  const verdict = judge({
    requests: audit.requests,
    lease: await leaseHistory(plane, LEASE),
    leaseName: LEASE.name,
    runs,
    faults,
    until: over,
  });
  const exits = replicas[0].exits + replicas[1].exits;
  return { ...verdict, exits, leaseRequests, unsettled };
}

/** Measures the rate. @returns requests for Leases per second. */
async function requestsAtRest(audit: AuditLog, seconds: number): Promise<number> {
  await audit.read();
  const before = audit.requests.length;
  await Bun.sleep(seconds * 1_000);
  await audit.read();
  return audit.requests.slice(before).filter(({ resource }) => resource === "leases").length / seconds;
}

const USAGE =
  "usage: bun tests/ha/ha.ts [--seconds 600] [--seed N] [--dir DIR] [--faults A,B,…] [--definition FILE] [-- COMMAND [ARGUMENT…]]";

/** Parses the arguments. @throws Error that says what is wrong with them. */
async function given(args: readonly string[]): Promise<HaOptions> {
  const { values, positionals } = parseArgs({
    args: [...args],
    options: {
      seconds: { type: "string", default: "600" },
      seed: { type: "string", default: String(Date.now() % 1e6) },
      dir: { type: "string" },
      faults: { type: "string" },
      definition: { type: "string" },
    },
    allowPositionals: true,
  });
  const faults = values.faults?.split(",");
  const unknown = faults?.find((fault) => !(fault in strikes));
  if (unknown !== undefined) {
    throw new Error(`There is no fault '${unknown}': there are ${Object.keys(strikes).join(", ")}`);
  }
  for (const name of ["seconds", "seed"] as const) {
    if (!(Number(values[name]) >= 0)) throw new Error(`--${name} is '${values[name]}': expected a number`);
  }
  return {
    seconds: Number(values.seconds),
    seed: Number(values.seed),
    rest: faults === undefined ? 30 : 0,
    dir: values.dir,
    ...(faults !== undefined && { first: faults, only: true }),
    ...(values.definition !== undefined && { definition: await readFile(values.definition, "utf8") }),
    ...(positionals.length > 0 && { command: () => positionals }),
    onProgress: (text) => console.log(`${new Date().toISOString()} ${text}`),
  };
}

async function main(args: readonly string[]): Promise<number> {
  let options: HaOptions;
  try {
    options = await given(args);
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : String(error)}\n${USAGE}`);
    return 2;
  }
  console.log(`seed ${options.seed}`);
  const report = await highAvailability(options);
  for (const { fault, ms, silence } of report.takeovers) {
    const what = `${new Date(fault.at).toISOString()} ${fault.kind} of ${fault.user ?? "kube-apiserver"}`;
    console.log(
      `${what}: ${ms === undefined ? "nobody else wrote" : `another wrote after ${ms} ms`}, silence ${silence} ms`,
    );
  }
  console.log(table(report));
  return 0;
}

if (import.meta.main) process.exitCode = await main(process.argv.slice(2));
