/** `npm run test:node`: what is deployed on a node of its own, where the machine can run one. */

import { type Counts, one } from "../test-report.ts";
import { build, isBuilt } from "../build.ts";
import { helmProgram, nodeAssets, Unavailable } from "./assets.ts";
import { startNode } from "./node.ts";
import { whyNoNode } from "./requirements.ts";

/** Names the node that runs to the tests. */
export const RUNNING_NODE = "BINNACLE_TEST_NODE";

/** @param tests runs the tests with these arguments, in an environment as this process has it then. */
export async function nodeTests(tests: (args: readonly string[]) => Promise<Counts>): Promise<Counts> {
  const why = whyNoNode();
  if (why !== undefined) return skipped(why);
  try {
    await nodeAssets();
    await helmProgram();
    if (!isBuilt()) await build();
    const began = performance.now();
    await using node = await startNode();
    console.log(`${((performance.now() - began) / 1000).toFixed(1)} s: a Kubernetes node is ready`);
    process.env[RUNNING_NODE] = node.dir;
    return await tests(["--timeout=180000", "./scripts/node/shows"]);
  } catch (error) {
    if (error instanceof Unavailable) return skipped(error.message);
    console.log(error instanceof Error ? error.message : error);
    return one("failed");
  }
}

function skipped(why: string): Counts {
  console.log(`Skipped: ${why}`);
  return one("skipped");
}
