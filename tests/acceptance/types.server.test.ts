/** Tests `binnacle types` on CustomResourceDefinitions as their projects publish them, and on a real cluster. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Bench } from "../support/binary.ts";
import { available, Cluster } from "../support/cluster.ts";
import { isOnDeno } from "../support/program.ts";

const root = join(import.meta.dirname, "../..");

/** Go modules in which projects publish their definitions, and the paths in them. */
const published = [
  { module: "github.com/cert-manager/cert-manager@v1.21.2", folder: "deploy/crds", kinds: 6 },
  { module: "sigs.k8s.io/gateway-api@v1.3.0", folder: "config/crd/experimental", kinds: 9 },
  { module: "github.com/argoproj/argo-cd/v3@v3.0.0", folder: "manifests/crds", kinds: 3 },
  { module: "github.com/crossplane/crossplane@v1.20.0", folder: "cluster/crds", kinds: 12 },
];

const USE = `import { defineController, of, type ObjectOf } from "binnacle";
import { Certificate } from "./types/cert-manager.io/certificate.ts";
import { HTTPRoute } from "./types/gateway.networking.k8s.io/httproute.ts";

export const certificate = of(Certificate, {
  metadata: { name: "web", namespace: "shop" },
  spec: { secretName: "web", issuerRef: { name: "ca" } },
});
export const route = of(HTTPRoute, {
  metadata: { name: "web" },
  spec: { parentRefs: [{ name: "gateway" }], rules: [{ backendRefs: [{ name: "web", port: 80 }] }] },
});
export function firstPath(found: ObjectOf<typeof HTTPRoute>): string {
  return found.spec.rules[0]?.matches[0]?.path.value ?? "/";
}
export const controller = defineController({
  name: "routes",
  for: HTTPRoute,
  reads: [Certificate],
  async reconcile({ metadata }, { client, log }) {
    const { spec } = await client.get(Certificate, { namespace: metadata.namespace ?? "default", name: "web" });
    log.info("found", { names: spec?.dnsNames });
  },
});
`;

let bench: Bench;
beforeEach(async () => {
  bench = await Bench.create();
});
afterEach(() => bench?.[Symbol.asyncDispose]());

const hasGo = Bun.which("go") !== null;

// On Deno there is no SDK beside the modules for the editor's compiler.
describe.skipIf(!hasGo || isOnDeno)("types of definitions that projects publish", () => {
  test("every kind and version compiles under the strictest settings, and is used", async () => {
    await bench.exec("init", ".");
    for (const { module, folder, kinds } of published) {
      const source = await download(module);
      const { code, stdout, stderr } = await bench.exec("types", join(source, folder), "--all-versions");
      expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
      expect(stdout.trim().split("\n").length).toBeGreaterThanOrEqual(kinds);
    }
    await bench.write("use.ts", USE);
    await bench.write("package.json", '{ "type": "module" }');
    const strict = {
      exactOptionalPropertyTypes: true,
      noImplicitOverride: true,
      noImplicitReturns: true,
      noPropertyAccessFromIndexSignature: true,
      noUnusedLocals: true,
      noUnusedParameters: true,
      isolatedModules: true,
    };
    const config = { extends: "./.binnacle/sdk/tsconfig.json", compilerOptions: strict, include: ["types", "use.ts"] };
    await bench.write("tsconfig.json", JSON.stringify(config));
    const began = performance.now();
    expect(await compile(bench.dir)).toBe("");
    console.log(`types: compiled in ${((performance.now() - began) / 1000).toFixed(1)} s`);
    await bench.write("use.ts", USE.replace(`{ name: "ca" }`, `{ nam: "ca" }`));
    expect(await compile(bench.dir)).toContain("TS2561");
  }, 300_000);
});

/** Returns the folder of a Go module in its cache; nothing is downloaded twice. */
async function download(module: string): Promise<string> {
  const child = Bun.spawn(["go", "mod", "download", "-json", module], {
    cwd: tmpdir(),
    stdout: "pipe",
    stderr: "pipe",
  });
  const answer = await new Response(child.stdout).text();
  const { Dir, Error: problem } = JSON.parse(answer) as { readonly Dir?: string; readonly Error?: string };
  if (Dir === undefined) throw new Error(`Cannot download ${module}: ${problem ?? answer}`);
  return Dir;
}

async function compile(folder: string): Promise<string> {
  const compiler = join(root, "node_modules", "typescript", "bin", "tsc");
  const child = Bun.spawn([process.execPath, compiler, "--noEmit"], { cwd: folder, stdout: "pipe", stderr: "pipe" });
  return `${await new Response(child.stdout).text()}${await new Response(child.stderr).text()}`.trim();
}

describe.skipIf(!available)("types of kinds on a real cluster", () => {
  let cluster: Cluster;
  beforeAll(async () => {
    cluster = await Cluster.start({ controllers: false });
  });
  afterAll(() => cluster?.[Symbol.asyncDispose]());

  test("a kind is found by each of its names, and what is there already is left alone", async () => {
    await bench.exec("init", "first");
    const { stdout: definition } = await bench.exec("manifests", "crds", "--controllers", "first/controllers");
    const path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    await cluster.send("POST", path, { body: Bun.YAML.parse(definition) });
    const { kubeconfig } = cluster;
    for (const name of ["Greeting", "greetings", "greetings.demo.example.com"]) {
      const { code, stdout, stderr } = await bench.exec("types", name, "--kubeconfig", kubeconfig, "--output", "out");
      expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: "out/demo.example.com/greeting.ts\n", stderr: "" });
    }
    const written = await readFile(join(bench.dir, "out/demo.example.com/greeting.ts"), "utf8");
    expect(written).toContain("export const Greeting = foreignResource<ForeignTypes<Greeting, GreetingInput>>({");
    expect(written).toContain("  readonly copies: number;");
    await bench.write("out/demo.example.com/greeting.ts", "mine");
    const refused = await bench.exec("types", "Greeting", "--kubeconfig", kubeconfig, "--output", "out");
    expect(refused).toMatchObject({ code: 1, stdout: "" });
    expect(refused.stderr).toContain("it exists, and binnacle did not write it");
    const none = await bench.exec("types", "Nothing", "--kubeconfig", kubeconfig);
    expect(none.stderr).toBe("binnacle: Cannot find the kind 'Nothing' on the cluster, nor a file of that name\n");
    const builtin = await bench.exec("types", "Deployment", "--kubeconfig", kubeconfig);
    expect(builtin.stderr).toContain(`it is built in, import { Deployment } from "binnacle/resources"`);
    expect(existsSync(join(bench.dir, "types"))).toBe(false);
  }, 180_000);
});

test("what is no definition is told by name", async () => {
  await bench.write("a.yaml", "kind: ConfigMap\n");
  await bench.write("b.yaml", "kind: CustomResourceDefinition\n\tx: 1\n");
  const said = async (...args: string[]) => (await bench.exec("types", ...args)).stderr;
  expect(await said("a.yaml")).toBe("binnacle: Cannot find a CustomResourceDefinition in 'a.yaml'\n");
  expect(await said("b.yaml")).toContain("binnacle: Cannot read 'b.yaml': ");
  expect(await said("c.yaml")).toBe("binnacle: Cannot find 'c.yaml'\n");
  expect(await said()).toContain("Cannot write types: name a file");
});
