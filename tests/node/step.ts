/** `npm run test:node`: what is deployed on a node of its own, where the machine can run one. */

import { type Counts, one } from "../../scripts/test-report.ts";
import { constants } from "node:os";
import { join } from "node:path";
import { build, isBuilt } from "../../scripts/build.ts";
import { helmProgram, nodeAssets, Unavailable } from "./assets.ts";
import { audited } from "./chaos-audit.ts";
import { type KubernetesNode, startNode } from "./node.ts";
import { whyNoNode, whyNoTables } from "./requirements.ts";

/** Names the node that runs to the tests. */
export const RUNNING_NODE = "BINNACLE_TEST_NODE";

/** @param tests runs the tests, in an environment as this process has it then; what it is given starts another node in the place of this one. */
export async function nodeTests(tests: (anew: () => Promise<void>) => Promise<Counts>): Promise<Counts> {
  const why = whyNoNode();
  if (why !== undefined) return skipped(why);
  let node: KubernetesNode | undefined;
  using _stopping = stoppedBySignals(() => node);
  const anew = async (): Promise<void> => {
    await node?.stop();
    node = undefined;
    node = await readyNode();
    process.env[RUNNING_NODE] = node.dir;
  };
  try {
    const lacking = whyNoTables(join(await nodeAssets(), "bin", "nft"));
    if (lacking !== undefined) return skipped(lacking);
    await helmProgram();
    if (!isBuilt()) await build();
    await anew();
    return await tests(anew);
  } catch (error) {
    if (error instanceof Unavailable) return skipped(error.message);
    console.log(error instanceof Error ? error.message : error);
    return one("failed");
  } finally {
    delete process.env[RUNNING_NODE];
    await node?.stop();
  }
}

/** A machine can be too busy for the start of a node, too: it may fail once. */
async function readyNode(): Promise<KubernetesNode> {
  const began = performance.now();
  const start = (): Promise<KubernetesNode> => startNode(audited);
  const node = await start().catch((error: unknown) => {
    if (error instanceof Unavailable) throw error;
    console.log(error instanceof Error ? error.message : error);
    console.log("── again: the start of a Kubernetes node");
    return start();
  });
  console.log(`${((performance.now() - began) / 1000).toFixed(1)} s: a Kubernetes node is ready`);
  return node;
}

/** A node outlives a process that is told to end. Until this is disposed of, the one that runs is stopped first. */
function stoppedBySignals(running: () => KubernetesNode | undefined): Disposable {
  const stop = (signal: NodeJS.Signals): void => {
    void Promise.resolve(running()?.stop())
      .catch((error: unknown) => console.error(error))
      .finally(() => process.exit(128 + constants.signals[signal]));
  };
  const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
  for (const signal of signals) process.once(signal, stop);
  return {
    [Symbol.dispose]: () => {
      for (const signal of signals) process.removeListener(signal, stop);
    },
  };
}

function skipped(why: string): Counts {
  console.log(`Skipped: ${why}`);
  return one("skipped");
}
