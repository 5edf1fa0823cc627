/**
 * A controller process for a long time behind a network that breaks in every way: at the end it holds what the API server
 * holds, has reconciled everything, has leaked nothing, and ends by itself.
 *
 *     bun tests/soak/soak.ts [SECONDS] [SEED]
 */
import { readFile, writeFile } from "node:fs/promises";
import { crdOf } from "../../src/resource/crd.ts";
import { TcpProxy } from "../support/tcp-proxy.ts";
import { until } from "../support/until.ts";
import { startControlPlane } from "../../scripts/controlplane/controlplane.ts";
import { Box } from "../support/integration/lab.ts";
import { Chaos } from "./chaos.ts";
import { Operator } from "./process.ts";
import type { State, Usage } from "./protocol.ts";
import { soakKinds, Writer } from "./writer.ts";

export interface SoakOptions {
  readonly seconds: number;
  readonly seed: number;
  /** The number of objects of each of five kinds. @default 1_000 */
  readonly objects?: number;
  /** Whether to report which classes of objects grew. @default false */
  readonly classes?: boolean;
}

export interface SoakReport {
  readonly writes: number;
  readonly faults: Readonly<Record<string, number>>;
  /** The memory after a fifth of the time, and at the end. */
  readonly early: Usage;
  readonly late: Usage;
  /** The classes that grew most, in bytes; empty unless requested. */
  readonly grown: Readonly<Record<string, number>>;
  /** Milliseconds from the end of the faults until everything was equal and reconciled. */
  readonly settled: number;
  /** Milliseconds from the request to stop until the process had ended by itself. */
  readonly ended: number;
  readonly exitCode: number;
  readonly resources: { readonly before: string; readonly after: string };
  readonly state: State;
}

/** Runs the soak. @throws when the operator does not reach the state of the server within two quiet minutes. */
export async function soak({ seconds, seed, objects = 1_000, classes = false }: SoakOptions): Promise<SoakReport> {
  const random = randomFrom(seed);
  await using plane = await startControlPlane();
  await using proxy = await TcpProxy.start(plane.url);
  await plane.apply(JSON.stringify(crdOf(Box)));
  await plane.kubectl("wait", "--for=condition=Established", `crd/boxes.${Box.group}`, "--timeout=20s");
  const kubeconfig = `${plane.kubeconfig}-proxied`;
  await writeFile(kubeconfig, (await readFile(plane.kubeconfig, "utf8")).replace(plane.url, proxy.url));
  const writer = new Writer(plane, random);
  await writer.fill(objects);
  await using operator = await Operator.start(kubeconfig);
  await until(async () => (await operator.state()).synced, { what: "a synced operator", within: 60_000 });
  // Objects from events take more memory than those from lists, so from here on all come from events.
  await writer.changeAll();
  const chaos = new Chaos({ plane, proxy, random });
  const running = [chaos.run(), writer.run(50)];
  await Bun.sleep((seconds * 1_000) / 5);
  const early = await operator.usage();
  const earlyClasses = classes ? await operator.classes() : {};
  await Bun.sleep((seconds * 4_000) / 5);
  chaos.stop();
  writer.stop();
  await Promise.all(running);
  proxy.inject();
  await proxy.listen();
  const quiet = performance.now();
  let difference: string | undefined = "";
  await until(async () => (difference = await differs(writer, await operator.state())) === undefined, {
    within: 120_000,
    every: 250,
    what: () => `equal to the server: ${difference}`,
  });
  const settled = Math.round(performance.now() - quiet);
  const state = await operator.state();
  const late = await operator.usage();
  const grown = classes ? growth(earlyClasses, await operator.classes()) : {};
  const { ended, exitCode, resources } = await operator.stop();
  const { faults } = chaos;
  return { writes: writer.writes, faults, early, late, grown, settled, ended, exitCode, resources, state };
}

/** Returns the growth by class, the largest first. */
function growth(
  early: Readonly<Record<string, number>>,
  late: Readonly<Record<string, number>>,
): Readonly<Record<string, number>> {
  const grown = Object.entries(late).map(([name, bytes]): [string, number] => [name, bytes - (early[name] ?? 0)]);
  return Object.fromEntries(grown.sort(([, a], [, b]) => b - a).slice(0, 15));
}

/** Returns the first difference from the server; `undefined` when there is none. */
async function differs(writer: Writer, { stores, reconciled }: State): Promise<string | undefined> {
  for (const kind of soakKinds) {
    const items = await writer.list(kind);
    if (items === undefined) return `${kind}: the server lists nothing`;
    const store = stores[kind]!;
    if (Object.keys(store).length !== items.length) return `${kind}: ${Object.keys(store).length} of ${items.length}`;
    for (const { metadata, spec, status } of items) {
      const { uid, resourceVersion, generation } = metadata;
      const key = `${metadata.namespace}/${metadata.name}`;
      const held = store[key];
      if (held?.uid !== uid || held.version !== resourceVersion) {
        return `${kind} ${key}: ${held?.version}, on the server ${resourceVersion}`;
      }
      const last = kind === "Box" ? String(generation) : resourceVersion;
      if (reconciled[kind]![key] !== last) return `${kind} ${key}: reconciled at ${reconciled[kind]![key]}, is ${last}`;
      if (kind === "Box" && status?.turn !== spec?.turn) return `${key}: status ${status?.turn}, spec ${spec?.turn}`;
    }
  }
  return undefined;
}

/**
 * Returns numbers from 0 to 1 that are the same for the same seed. @see
 * https://en.wikipedia.org/wiki/Linear_congruential_generator
 */
function randomFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

if (import.meta.main) {
  const [seconds = "600", seed = String(Date.now() % 1e6)] = process.argv.slice(2);
  const began = performance.now();
  const report = await soak({ seconds: Number(seconds), seed: Number(seed), classes: true });
  const { state, ...rest } = report;
  console.log(JSON.stringify({ seed, ...rest, relists: state.relists, backwards: state.backwards }, undefined, 2));
  console.log(`in ${Math.round((performance.now() - began) / 1_000)} s`);
}
