/** Tests what the commands say about kinds with several versions. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseAllDocuments } from "yaml";
import { cli } from "./cli.ts";

let folder: string;

const module = (fromHub: string): string => `
  import { defineResource, z } from "binnacle";
  export const Widget = defineResource({
    group: "demo.example.com",
    kind: "Widget",
    versions: {
      v1: { spec: z.object({ size: z.int().min(0).max(9), note: z.string().optional() }) },
      v1beta1: {
        served: false,
        spec: z.object({ large: z.int().min(0).max(9), note: z.string().optional() }),
        toHub: ({ spec }) => ({ spec: { size: spec.large, note: spec.note } }),
        fromHub: ({ spec }) => (${fromHub}),
      },
    },
    hub: "v1",
    storage: "v1",
  });`;

beforeAll(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "binnacle-versions-")));
  for (const name of ["good", "lossy", "failing"]) mkdirSync(join(folder, name));
  writeFileSync(join(folder, "good/widget.ts"), module("{ spec: { large: spec.size, note: spec.note } }"));
  writeFileSync(join(folder, "lossy/widget.ts"), module("{ spec: { large: spec.size } }"));
  writeFileSync(join(folder, "failing/widget.ts"), module("{ spec: spec.nothing.at.all }"));
});
afterAll(() => rmSync(folder, { recursive: true }));

async function run(line: string) {
  const out: string[] = [];
  const err: string[] = [];
  const offered = async () => ({ binnacle: await import("../index.ts") });
  const embedded = {
    version: "1.2.3",
    offered,

    sdk: () => Promise.resolve(undefined),
    source: undefined,
  };
  const args = line.replaceAll("DIR", folder).split(" ");
  const status = await cli(args, { embedded, env: {}, out: (text) => out.push(text), err: (text) => err.push(text) });
  return { status, out: out.join("").replaceAll(folder, "DIR"), err: err.join("").replaceAll(folder, "DIR") };
}

const needed =
  "Widget of demo.example.com has the versions v1, v1beta1, and without the conversion webhook the API server drops the fields " +
  "that another version does not have. Say how it reaches the webhook: --webhook-service NAMESPACE/NAME in the cluster, or " +
  "--webhook-host HOST outside it";

test("check shows the versions of a kind, and passes conversions that lose nothing", async () => {
  const { status, out, err } = await run("check --no-types --controllers DIR/good --webhook-service shop/hook");
  expect(out).toContain(
    "  resource Widget (demo.example.com/v1)\n    versions    v1 (hub, stored), v1beta1 (not served)\n",
  );
  expect([status, err]).toEqual([0, ""]);
});

test("check names each field that a conversion loses, and the way out", async () => {
  const { status, err } = await run("check --no-types --controllers DIR/lossy --webhook-service shop/hook");
  expect(status).toBe(1);
  expect(err).toContain('error: DIR/lossy/widget.ts: Widget v1 → v1beta1 → v1 loses spec.note: ""\n');
  expect(err).toContain('error: DIR/lossy/widget.ts: Widget v1beta1 → v1 → v1beta1 loses spec.note: ""\n');
  expect(err).toContain("in an annotation, or give it up with `loses:");
});

test("check says what to do about a conversion that fails", async () => {
  const { status, err } = await run("check --no-types --controllers DIR/failing --webhook-service shop/hook");
  expect(status).toBe(1);
  expect(err).toContain("error: DIR/failing/widget.ts: Widget v1 → v1beta1 → v1 fails: TypeError");
  expect(err).toContain("A conversion of Widget has to convert whatever the schema allows: narrow the schema");
  expect(err).not.toContain("give it up with `loses:");
});

test("check passes a kind whose webhook has no address, with a note, and manifests refuse it", async () => {
  const { status, out, err } = await run("check --no-types --controllers DIR/good");
  expect([status, err]).toEqual([0, ""]);
  expect(out).toContain(
    "note: DIR/good/widget.ts: Widget has several versions, so `run --install-crds` and `manifests",
  );
  const message = `binnacle: Cannot print the CustomResourceDefinition of Widget: ${needed}\n`;
  expect(await run("manifests crds --controllers DIR/good")).toEqual({ status: 1, out: "", err: message });
});

test("manifests deploy brings the Service at which the webhook is asked", async () => {
  const { out } = await run(
    "manifests deploy --name binnacle --base-image registry.example.com/binnacle:1 --controllers DIR/good",
  );
  const crd = out.split("---\n").find((text) => text.includes("kind: CustomResourceDefinition"));
  expect(crd).toMatch(/service:\n +namespace: binnacle-system\n +name: binnacle\n/);
});

test("manifests crds names the webhook", async () => {
  const conversionOf = async (flag: string): Promise<unknown> => {
    const { out } = await run(`manifests crds --controllers DIR/good ${flag}`);
    return (parseAllDocuments(out)[0]!.toJS() as { spec: { conversion: unknown } }).spec.conversion;
  };
  const webhook = { conversionReviewVersions: ["v1", "v1beta1"] };
  expect(await conversionOf("--webhook-service shop/hook")).toEqual({
    strategy: "Webhook",
    webhook: {
      ...webhook,
      // null takes out what a process outside the cluster has left there.
      clientConfig: { service: { namespace: "shop", name: "hook", port: 443, path: "/convert" }, url: null },
    },
  });
  expect(await conversionOf("--webhook-host 10.0.0.7:9443")).toEqual({
    strategy: "Webhook",
    webhook: { ...webhook, clientConfig: { url: "https://10.0.0.7:9443/convert", service: null } },
  });
});

test("migrate needs a kind", async () => {
  const { status, err } = await run("migrate");
  expect([status, err]).toEqual([2, "binnacle: Say which kind to migrate, such as `binnacle migrate Guestbook`\n"]);
});
