/** The suites that judge the API server, each by the name that `npm run test:suites -- NAME` knows. */

import { availableParallelism } from "node:os";
import { e2ePrograms, fifth, type Filter, groups, runE2e } from "./e2e.ts";
import { focusOn } from "./focus.ts";
import { suitesCache } from "./go-module.ts";
import { controllerRuntime, operators } from "./modules.ts";
import { hasOwnNetworks } from "./own-network.ts";
import { type PackageTests, packageTests, runPackage } from "./package-tests.ts";
import { type Expectation, recorded } from "./record.ts";
import { scaffoldTests } from "./scaffold.ts";
import { assetsOf, kubectlPath, type Server, startCluster } from "./servers.ts";
import type { Spec } from "./spec.ts";

/** One part of a suite, which runs by itself. */
export interface Part {
  readonly id: string;
  /** What the real control plane gave for it. */
  readonly record?: Expectation | undefined;
  /** @param again the specs that failed just before, when they are tried once more */
  run(again?: readonly string[]): Promise<readonly Spec[]>;
}

export interface SuiteOptions {
  readonly server: Server;
  /** Whether all of a suite runs that is long. @default a fixed fifth */
  readonly all?: boolean | undefined;
  /** Whether what is recorded does not count, and specs are those that groups select. @default false */
  readonly anew?: boolean | undefined;
}

type Suite = (options: SuiteOptions) => Promise<readonly Part[]>;

export const suites: Readonly<Record<string, Suite>> = {
  "controller-runtime": (options) => envtestSuite("controller-runtime", () => packageTests(controllerRuntime), options),
  scaffold: (options) => envtestSuite("scaffold", scaffoldTests, options),
  operators: (options) => envtestSuite("operators", operatorTests, options),
  e2e: e2eSuite,
};

/** How many parts run at once: most of them wait most of the time. */
export function lanes(): number {
  return hasOwnNetworks() ? availableParallelism() + 2 : 1;
}

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
  { server, anew = false }: SuiteOptions,
): Promise<readonly Part[]> {
  const records = anew ? {} : recorded(name);
  const options = { assets: await assetsOf(server), path: await kubectlPath(), output: outputOf(server) };
  return (await tests()).map((one) => ({
    id: one.id,
    record: records[one.id],
    run: (specs) => runPackage(one, { ...options, specs }),
  }));
}

/** Kubernetes' own suite, which is one part, on a cluster that runs as long as it does. */
async function e2eSuite({ server, all = false, anew = false }: SuiteOptions): Promise<readonly Part[]> {
  const programs = await e2ePrograms();
  const kubectl = Bun.which("kubectl", { PATH: await kubectlPath() }) ?? "kubectl";
  const { seconds, specs: known = {} } = recorded(E2E)[E2E] ?? {};
  const names = all ? Object.keys(known) : fifth(Object.keys(known));
  const specs = Object.fromEntries(names.map((name) => [name, known[name]!]));
  const run = async (filters: readonly (readonly [string, Filter])[]): Promise<readonly Spec[]> => {
    await using cluster = await startCluster(server);
    const { kubeconfig } = cluster;
    const specs: Spec[] = [];
    for (const [name, filter] of filters) {
      const options = { ...filter, kubeconfig, kubectl, output: outputOf(server), name: `e2e-${name}` };
      specs.push(...(await runE2e(programs, options)));
    }
    return specs;
  };
  const only = (names: readonly string[]): Promise<readonly Spec[]> => run([["specs", { focus: focusOn(names) }]]);
  return [
    anew
      ? { id: E2E, run: (again) => (again === undefined ? run(Object.entries(groups)) : only(again)) }
      : { id: E2E, record: { ...(all && { seconds }), specs }, run: (again = names) => only(again) },
  ];
}

const E2E = "e2e";
