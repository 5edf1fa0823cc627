import { expect, setDefaultTimeout, test } from "bun:test";
import { assets } from "../../scripts/controlplane/controlplane.ts";
import { playAll } from "./all-cases.ts";
import { describeCase } from "./report.ts";
import type { ServerName } from "./server.ts";

setDefaultTimeout(300_000);

const seed = Number(process.env["BINNACLE_SEED"] ?? 1);

async function fallen(server: ServerName, count: number): Promise<string[]> {
  const cases = await playAll({ server, seed, first: 0, count });
  expect(cases.filter(({ dropped }) => dropped !== undefined).length).toBeLessThan(count / 10);
  return cases.filter(({ findings }) => findings.length > 0).map((one) => describeCase(one, seed));
}

test("what is declared is there, whatever others do to children of any kind", async () => {
  expect(await fallen("embedded", 200)).toEqual([]);
});

test.skipIf((await assets()) === undefined)("the same holds on kube-apiserver", async () => {
  expect(await fallen("real", 30)).toEqual([]);
});
