/** Candidates on an API server, whose Lease others edit, and whose requests are lost or late. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { assets, type ControlPlane, lendPlane } from "../../tests/support/control-plane.ts";
import { defaultDurations } from "../../tests/support/integration/election-world.ts";
import { until } from "../../tests/support/until.ts";
import { loadKubeconfig } from "../kube/config/kubeconfig.ts";
import { type ApiServer, createApiServer } from "binnacle-apiserver";
import { isNotFound } from "../kube/errors/api-error.ts";
import type { ClusterConfig } from "../kube/config/cluster-config.ts";
import { createTransport, type Transport } from "../kube/transport/transport.ts";
import { FakeClock } from "../testing/fake-clock.ts";
import { Elector } from "./elector.ts";
import type { Lease } from "./lease.ts";
import { KubeLeaseLock, type LeaseLock, type LockCall, type WatchFrom } from "./lease-lock.ts";

const SEED = Number(process.env.ELECTION_SEED ?? 1);
const ACTS = Number(process.env.ELECTION_ACTS ?? 25);
const LEASES = "/apis/coordination.k8s.io/v1/namespaces/default/leases";
/** After its last edit a Lease may say four lease durations; then each candidate needs an attempt. */
const BOUND = 4 * defaultDurations.leaseDuration + 3 * defaultDurations.retryPeriod;

/** A way to the server on which requests or answers get lost, or come late. */
class FaultyLock extends KubeLeaseLock implements LeaseLock {
  fault: "none" | "cut" | "lost answers" | "late" = "none";
  /** Requests that the server has not answered. */
  waiting = 0;
  readonly #clock: FakeClock;

  constructor(transport: Transport, name: string, clock: FakeClock) {
    super(transport, { namespace: "default", name });
    this.#clock = clock;
  }

  override get(call: LockCall): Promise<Lease | undefined> {
    return this.#through(call, () => super.get(call));
  }

  override create(lease: Lease, call: LockCall): Promise<Lease> {
    return this.#through(call, () => super.create(lease, call));
  }

  override update(lease: Lease, call: LockCall): Promise<Lease> {
    return this.#through(call, () => super.update(lease, call));
  }

  override watch(from: WatchFrom, onChange: (lease: Lease | undefined) => void): Promise<void> {
    return super.watch(from, (lease) => this.fault === "none" && onChange(lease));
  }

  async #through<T>(call: LockCall, send: () => Promise<T>): Promise<T> {
    if (this.fault === "cut") return this.#silence(call);
    this.waiting++;
    const answer = await send().finally(() => this.waiting--);
    if (this.fault === "lost answers") return this.#silence(call);
    if (this.fault === "late") await new Promise<void>((resolve) => this.#clock.setTimeout(resolve, 3_000));
    return answer;
  }

  #silence({ signal, timeout }: LockCall): Promise<never> {
    return new Promise((_, reject) => {
      signal.addEventListener("abort", () => reject(signal.reason));
      this.#clock.setTimeout(() => reject(new Error("no answer in time")), timeout);
    });
  }
}

/** Lets three candidates run while somebody edits their Lease `ACTS` times. */
async function play(config: ClusterConfig, seed: number): Promise<void> {
  await using cleanup = new AsyncDisposableStack();
  const name = `edited-${seed}`;
  const path = `${LEASES}/${name}`;
  const clock = new FakeClock();
  const random = generator(seed);
  const pick = <T>(all: readonly T[]): T => all[Math.floor(random() * all.length)]!;
  const hands = createTransport(config);
  cleanup.defer(() => hands.close());
  const candidates = ["a", "b", "c"].map((identity) => {
    const transport = createTransport(config);
    const lock = new FaultyLock(transport, name, clock);
    const elector = new Elector({ ...defaultDurations, lock, identity, clock, wall: clock, random });
    cleanup.defer(() => transport.close());
    cleanup.defer(() => elector.stop());
    return { lock, elector };
  });
  const look = (): void => {
    const writers = candidates.filter(({ elector }) => elector.refused === undefined);
    expect(writers.length).toBeLessThanOrEqual(1);
  };
  const pass = async (ms: number): Promise<void> => {
    for (let passed = 0; passed < ms; passed += 500) {
      await clock.advanceInTurns(500);
      look();
      await until(() => candidates.every(({ lock }) => lock.waiting === 0));
      await new Promise((resolve) => setTimeout(resolve, 2)); // watches
      look();
    }
  };
  const patch = (spec: object): Promise<unknown> =>
    hands.request({ method: "PATCH", path, contentType: "application/merge-patch+json", body: { spec } });
  const edits: readonly (() => Promise<unknown>)[] = [
    () => hands.request({ method: "DELETE", path }),
    () => patch({ holderIdentity: "" }),
    () => patch({ holderIdentity: "nobody" }),
    () => patch({ holderIdentity: pick(["a", "b", "c"]) }),
    () => patch({ leaseDurationSeconds: pick([1, 2 ** 31 - 1]) }),
    () => patch({ renewTime: "2199-01-01T00:00:00.000000Z", leaseTransitions: 2 ** 31 - 1 }),
  ];
  candidates[0]!.elector.start();
  await until(() => candidates[0]!.elector.isLeader);
  for (const { elector } of candidates) elector.start();
  await pass(1_000);
  for (let act = 0; act < ACTS; act++) {
    const whom = pick(candidates);
    whom.lock.fault = pick(["none", "none", "cut", "lost answers", "late"] as const);
    const edit = pick(edits);
    await edit().catch((error: unknown) => {
      if (!isNotFound(error)) throw error;
    });
    await pass(pick([500, 1_500, 6_000, 20_000]));
    if (random() < 0.5) for (const { lock } of candidates) lock.fault = "none";
  }
  for (const { lock } of candidates) lock.fault = "none";
  await pass(BOUND);
  expect(candidates.filter(({ elector }) => elector.isLeader)).toHaveLength(1);
}

test("Elector leads alone on the embedded server, whatever others make of the Lease", async () => {
  await using server = await createApiServer();
  await play(inProcess(server), SEED);
}, 60_000);

describe.skipIf((await assets()) === undefined)("on kube-apiserver", () => {
  let plane: ControlPlane;
  beforeAll(async () => void (plane = await lendPlane(false)), 180_000);
  afterAll(async () => plane[Symbol.asyncDispose](), 180_000);

  test("Elector leads alone, whatever others make of the Lease", async () => {
    const config = await loadKubeconfig({ kubeconfig: plane.kubeconfig, env: {} });
    await play(config, SEED);
  }, 120_000);
});

function inProcess(server: ApiServer): ClusterConfig {
  return {
    server: "https://server",
    context: "x",
    user: "x",
    namespace: "default",
    tls: { ca: undefined, cert: undefined, key: undefined, serverName: undefined, rejectUnauthorized: true },
    answer: (request) => server.fetch(request),
    headers: () => ({}),
    reload: () => Promise.resolve(false),
  };
}

function generator(seed: number): () => number {
  let state = (seed * 2_654_435_761) >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
