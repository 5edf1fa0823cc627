/** `npm run test:node`: what is deployed on a node of its own, where the machine can run one. */

import { type Counts, one } from "../test-report.ts";
import { build, isBuilt } from "../build.ts";
import { nodeAssets, Unavailable } from "./assets.ts";
import { startNode } from "./node.ts";
import { whyNoNode } from "./requirements.ts";

/** Names the node that runs to the tests. */
export const RUNNING_NODE = "BINNACLE_TEST_NODE";

/** @param tests runs the tests with these arguments, in an environment as this process has it then. */
export async function nodeTests(tests: (args: readonly string[]) => Promise<Counts>): Promise<Counts> {
  const why = whyNoNode() ?? (await whyNoAssets());
  if (why !== undefined) {
    console.log(`Skipped: ${why}`);
    return one("skipped");
  }
  if (!isBuilt()) await build();
  const began = performance.now();
  await using node = await startNode();
  console.log(`${((performance.now() - began) / 1000).toFixed(1)} s: a Kubernetes node is ready`);
  process.env[RUNNING_NODE] = node.dir;
  return await tests(["--timeout=180000", "./scripts/node/shows"]);
}

async function whyNoAssets(): Promise<string | undefined> {
  try {
    await nodeAssets();
    return undefined;
  } catch (error) {
    if (error instanceof Unavailable) return error.message;
    throw error;
  }
}
