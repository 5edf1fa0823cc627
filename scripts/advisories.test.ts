import { afterAll, beforeAll, expect, test } from "bun:test";
import { copyFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { reportAdvisories } from "./advisories.ts";

const root = join(import.meta.dirname, "..");
let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "binnacle-advisories-"));
  for (const file of ["package.json", "bun.lock"]) copyFileSync(join(root, file), join(folder, file));
});
afterAll(() => rmSync(folder, { recursive: true }));

const URL_OF_ONE = "https://github.com/advisories/GHSA-aaaa-bbbb-cccc";

function advisory(severity: string, url = URL_OF_ONE) {
  return {
    zod: [
      {
        id: 1,
        url,
        title: "It reads too much",
        severity,
        vulnerable_versions: "*",
        cwe: [],
        cvss: { score: 7, vectorString: null },
      },
    ],
  };
}

/** Asks a registry on the loopback. */
async function report(answer: () => Response | Promise<Response>, accepted: Readonly<Record<string, string>> = {}) {
  const asked: string[] = [];
  await using server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: async (request) => {
      asked.push(Buffer.from(Bun.gunzipSync(new Uint8Array(await request.arrayBuffer()))).toString());
      return answer();
    },
  });
  const env = { PATH: process.env["PATH"], HOME: folder, BUN_CONFIG_REGISTRY: server.url.href };
  return { ...(await reportAdvisories({ folder, env, within: 1000, accepted })), asked };
}

test("no advisory passes, and what is asked about is what the executable consists of", async () => {
  const { outcome, lines, asked } = await report(() => Response.json({}));
  expect({ outcome, lines }).toEqual({
    outcome: "passed",
    lines: ["No advisory names a package that is installed for production"],
  });
  expect(asked).toHaveLength(1);
  expect(Object.keys(JSON.parse(asked[0]!))).toContain("zod");
  expect(Object.keys(JSON.parse(asked[0]!))).not.toContain("typescript");
});

test.each([
  ["critical", "failed"],
  ["high", "failed"],
  ["moderate", "passed"],
  ["low", "passed"],
])("an advisory that is %s makes it %s", async (severity, outcome) => {
  const told = await report(() => Response.json(advisory(severity)));
  expect(told.outcome).toBe(outcome as "passed" | "failed");
  expect(told.lines[0]).toBe(`zod: ${severity}: It reads too much (${URL_OF_ONE})`);
});

test("an advisory that is accepted passes with its reason, and one that is gone is told", async () => {
  const accepted = { "GHSA-aaaa-bbbb-cccc": "nothing of it is called", "GHSA-dddd-eeee-ffff": "it was there once" };
  const { outcome, lines } = await report(() => Response.json(advisory("high")), accepted);
  expect(outcome).toBe("passed");
  expect(lines).toEqual([
    `zod: high: It reads too much (${URL_OF_ONE}); accepted, because nothing of it is called`,
    "The advisory GHSA-dddd-eeee-ffff is accepted and no longer named: remove it from scripts/advisories.ts",
  ]);
});

test.each([
  ["a registry without advisories", () => new Response("", { status: 405 }), "405"],
  ["an answer that is not JSON", () => new Response("<html>"), ""],
  ["a registry that does not answer", () => new Promise<Response>(() => {}), "has not answered within 1 s"],
])("%s is told, and fails nothing", async (_, answer, why) => {
  const { outcome, lines } = await report(answer);
  expect(outcome).toBe("skipped");
  expect(lines).toEqual([expect.stringMatching(/^Advisories could not be asked for: ./)]);
  expect(lines[0]).toContain(why);
});

test("a machine without a network is told, and fails nothing", async () => {
  const env = { PATH: process.env["PATH"], HOME: folder, BUN_CONFIG_REGISTRY: "http://127.0.0.1:1/" };
  const { outcome, lines } = await reportAdvisories({ folder, env });
  expect({ outcome, lines }).toEqual({ outcome: "skipped", lines: [expect.stringContaining("ConnectionRefused")] });
});
