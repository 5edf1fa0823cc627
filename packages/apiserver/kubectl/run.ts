/**
 * Runs what a user types against kube-apiserver and against the embedded server, and prints where the outputs differ.
 *
 *     bun packages/apiserver/kubectl/run.ts [--only PATTERN]     both servers
 *     bun packages/apiserver/kubectl/run.ts --save               keeps what kube-apiserver answers for the test
 */
import { writeFile } from "node:fs/promises";
import yargs from "yargs";
import { hideBin } from "yargs/helpers";
import { differences, onEmbedded, onReal, recording, recordingFile } from "./compare.ts";

const { only, save } = await yargs(hideBin(process.argv))
  .option("only", { type: "string", default: "" })
  .option("save", { type: "boolean", default: false })
  .strict()
  .parse();

const real = onReal(new RegExp(only));
if (save) {
  const printed = await real;
  await writeFile(recordingFile, `${recording(printed)}\n`);
  console.log(`${printed.length} lines saved`);
} else {
  const [expected, actual] = await Promise.all([real, onEmbedded(new RegExp(only))]);
  const differing = differences(expected, actual);
  for (const each of differing) console.log(`\n── ${each.line}\n--- real\n${each.real}\n--- own\n${each.own}`);
  console.log(`${expected.length} lines, ${differing.length} differ`);
  process.exitCode = differing.length > 0 ? 1 : 0;
}
