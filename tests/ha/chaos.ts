/** Injects faults into replicas, their connections to the API server, and the server. */
import type { ControlPlane } from "../../scripts/controlplane/controlplane.ts";
import type { Replica } from "./replica.ts";

export interface Struck {
  readonly plane: ControlPlane;
  readonly replica: Replica;
  /** Returns a number from 0 to 1. */
  readonly random: () => number;
}

/** Injects the fault, and resolves when it is over. */
export type Strike = (struck: Struck) => Promise<void>;

const seconds = (from: number, to: number, random: () => number): number => 1_000 * (from + random() * (to - from));

export const strikes: Readonly<Record<string, Strike>> = {
  SIGTERM: async ({ replica }) => {
    await replica.terminate();
    await replica.begin();
  },
  "kill -9": async ({ replica }) => {
    await replica.crash();
    await Bun.sleep(1_000);
    await replica.begin();
  },
  SIGSTOP: ({ replica, random }) => replica.stopFor(seconds(3, 30, random)),
  cut: async ({ replica }) => replica.proxy.cut(),
  "half-open": async ({ replica }) => {
    replica.proxy.halfOpen();
    await Bun.sleep(10_000); // by then pings have detected it
  },
  stall: async ({ replica, random }) => {
    replica.proxy.inject({ stalled: true });
    await Bun.sleep(seconds(3, 25, random));
    replica.proxy.inject();
    replica.proxy.cut(); // the swallowed bytes would be missing in the middle of the stream
  },
  "late answers": async ({ replica, random }) => {
    replica.proxy.inject({ delay: seconds(3, 12, random) });
    await Bun.sleep(30_000);
    replica.proxy.inject();
  },
  refused: async ({ replica, random }) => {
    await replica.proxy.refuse();
    await Bun.sleep(seconds(2, 20, random));
    await replica.proxy.listen();
  },
  "server restart": ({ plane }) => plane.restart("kube-apiserver"),
};

/** Faults of a process that does not lead, after which nobody has to take over. */
export const STANDBY: readonly string[] = ["SIGSTOP", "cut", "stall", "kill -9"];

/** Yields all faults in a random order, again and again; `first` come first. */
export function* deck(random: () => number, first: readonly string[]): Generator<string> {
  yield* first;
  for (;;) {
    const cards = Object.keys(strikes);
    while (cards.length > 0) yield cards.splice(Math.floor(random() * cards.length), 1)[0]!;
  }
}

/**
 * Returns numbers from 0 to 1 that are the same for the same seed. @see
 * https://en.wikipedia.org/wiki/Linear_congruential_generator
 */
export function randomFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
