/** `npm run test:node`: what is deployed on a node of its own, where the machine can run one. */

import { type Counts, one } from "../test-report.ts";
import { constants } from "node:os";
import { join } from "node:path";
import { build, isBuilt } from "../build.ts";
import { helmProgram, nodeAssets, Unavailable } from "./assets.ts";
import { audited } from "./chaos-audit.ts";
import { type KubernetesNode, startNode } from "./node.ts";
import { whyNoNode, whyNoTables } from "./requirements.ts";

/** Names the node that runs to the tests. */
export const RUNNING_NODE = "BINNACLE_TEST_NODE";

/** @param tests runs the tests, in an environment as this process has it then. */
export async function nodeTests(tests: () => Promise<Counts>): Promise<Counts> {
  const why = whyNoNode();
  if (why !== undefined) return skipped(why);
  try {
    const lacking = whyNoTables(join(await nodeAssets(), "bin", "nft"));
    if (lacking !== undefined) return skipped(lacking);
    await helmProgram();
    if (!isBuilt()) await build();
    const began = performance.now();
    await using node = await startNode(audited);
    using _stopping = stoppedBySignals(node);
    console.log(`${((performance.now() - began) / 1000).toFixed(1)} s: a Kubernetes node is ready`);
    process.env[RUNNING_NODE] = node.dir;
    return await tests();
  } catch (error) {
    if (error instanceof Unavailable) return skipped(error.message);
    console.log(error instanceof Error ? error.message : error);
    return one("failed");
  }
}

/** A node outlives a process that is told to end. Until this is disposed of, it is stopped first. */
function stoppedBySignals(node: KubernetesNode): Disposable {
  const stop = (signal: NodeJS.Signals): void => {
    void node
      .stop()
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
