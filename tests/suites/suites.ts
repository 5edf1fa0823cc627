/** The suites that judge the API server, each by the name that `npm run test:suites -- NAME` knows. */

import { mkdtemp, rm } from "node:fs/promises";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { e2ePrograms, fifth, type Filter, groups, only, runE2e } from "./e2e.ts";
import { suitesCache } from "./go-module.ts";
import { controllerRuntime, operators } from "./modules.ts";
import { hasOwnNetworks } from "./own-network.ts";
import { type PackageTests, packageTests, runPackage } from "./package-tests.ts";
import { type PackageRecord, recorded } from "./record.ts";
import { scaffoldTests } from "./scaffold.ts";
import { assetsOf, realAssets, type Server, startCluster } from "./servers.ts";
import type { Spec } from "./spec.ts";

/** One part of a suite, which runs by itself. */
export interface Part {
  readonly id: string;
  /** What the real control plane gave for it. */
  readonly record?: PackageRecord | undefined;
  /** @param again the specs that failed just before, when they are tried once more */
  run(again?: readonly string[]): Promise<readonly Spec[]>;
}

/** The parts of a suite on one server, ready to run, until it is disposed of. */
export interface ReadySuite extends AsyncDisposable {
  readonly parts: readonly Part[];
  /** How many parts may run at once. */
  readonly limit: number;
}

export interface SuiteOptions {
  readonly server: Server;
  /** Whether all of a suite runs that is long. @default a fixed fifth */
  readonly all?: boolean | undefined;
  /** Whether the specs are those that the names of groups select, rather than those that are recorded. @default false */
  readonly anew?: boolean | undefined;
}

type Suite = (options: SuiteOptions) => Promise<ReadySuite>;

export const suites: Readonly<Record<string, Suite>> = {
  "controller-runtime": (options) => envtestSuite("controller-runtime", () => packageTests(controllerRuntime), options),
  scaffold: (options) => envtestSuite("scaffold", scaffoldTests, options),
  operators: (options) => envtestSuite("operators", operatorTests, options),
  e2e: e2eSuite,
};

/** Where a suite leaves its logs and reports. */
export function outputOf(server: Server): string {
  return suitesCache("results", server);
}

async function operatorTests(): Promise<readonly PackageTests[]> {
  const tests: PackageTests[] = [];
  for (const operator of operators) tests.push(...(await packageTests(operator)));
  return tests;
}

/** Suites that start servers themselves, by envtest. */
async function envtestSuite(
  name: string,
  tests: () => Promise<readonly PackageTests[]>,
  { server }: SuiteOptions,
): Promise<ReadySuite> {
  const records = recorded(name);
  const folder = await mkdtemp(join(tmpdir(), "suite-assets-"));
  const kubectl = await realAssets();
  const assets = await assetsOf(server, folder);
  const options = { assets, kubectl, output: outputOf(server) };
  return {
    parts: (await tests()).map((one) => ({ id: one.id, record: records[one.id], run: () => runPackage(one, options) })),
    // Most of them wait most of the time.
    limit: hasOwnNetworks() ? availableParallelism() + 2 : 1,
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  };
}

/** Kubernetes' own suite, on a cluster that runs. */
async function e2eSuite({ server, all = false, anew = false }: SuiteOptions): Promise<ReadySuite> {
  await e2ePrograms();
  const kubectl = await realAssets();
  const cluster = await startCluster(server);
  const { kubeconfig } = cluster;
  const run = (name: string, filter: Filter): Promise<readonly Spec[]> =>
    runE2e({ ...filter, kubeconfig, kubectl, output: outputOf(server), name: `e2e-${name}` });
  const { seconds = 0, specs: known = {} } = recorded(E2E)[E2E] ?? {};
  const names = all ? Object.keys(known) : fifth(Object.keys(known));
  const specs = Object.fromEntries(names.map((name) => [name, known[name]!]));
  const runGroups = async (): Promise<readonly Spec[]> => {
    const specs: Spec[] = [];
    for (const [name, filter] of Object.entries(groups)) specs.push(...(await run(name, filter)));
    return specs;
  };
  const runSpecs = (again: readonly string[] = names): Promise<readonly Spec[]> => run("specs", only(again));
  return {
    parts: [{ id: E2E, record: { seconds, specs }, run: anew ? runGroups : runSpecs }],
    limit: 1,
    [Symbol.asyncDispose]: () => cluster[Symbol.asyncDispose](),
  };
}

const E2E = "e2e";
