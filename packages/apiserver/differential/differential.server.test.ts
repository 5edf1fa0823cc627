import { expect, setDefaultTimeout, test } from "bun:test";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { assets } from "../../../scripts/controlplane/controlplane.ts";
import { brief, usual } from "./all-cases.ts";
import { parseAllowed, withoutAllowed } from "./allowed.ts";
import { playTwice } from "./play.ts";
import { report } from "./report.ts";

setDefaultTimeout(1_200_000);

/** Another program than the one of these sources has the same code: a part of the cases shows that its runtime does the same. */
const isOtherProgram = Boolean(process.env["BINNACLE_PROGRAM"]);
const chosen = isOtherProgram ? brief : usual;

test.skipIf((await assets()) === undefined)("createApiServer answers as kube-apiserver does", async () => {
  // So few exchanges do not pay for the start of several servers.
  const { count, differing } = await playTwice(chosen, isOtherProgram ? 1 : undefined);
  const allowed = parseAllowed(await readFile(join(import.meta.dirname, "allowed.txt"), "utf8"));
  const left = withoutAllowed(differing, allowed);
  console.log(`${count} exchanges, ${left.length} differ, ${differing.length - left.length} only where it is allowed`);
  if (left.length > 0) console.log(report(left, { first: 20 }));
  expect(count).toBeGreaterThan(isOtherProgram ? 500 : 4000);
  expect(left.length).toBe(0);
});
