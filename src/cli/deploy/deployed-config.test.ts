/** What `manifests deploy` makes of the configuration of modules. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { parse, parseAllDocuments } from "yaml";
import { cli } from "../cli.ts";

let folder: string;
const FILES: Readonly<Record<string, string>> = {
  "shop/shop.ts": `
    import { config, defineKeyController, z } from "binnacle";
    export const settings = config(z.object({
      replicas: z.coerce.number().int().default(2).describe("How many"),
      region: z.string().regex(/^(?!x)/),
      apiToken: z.string(),
      db: z.object({ host: z.string().optional(), url: z.string().default("none") }),
    }));
    export default defineKeyController({ name: "shop", async reconcile() {} });`,
  "open/open.ts": `
    import { config, defineKeyController, z } from "binnacle";
    export const settings = config(z.object({ mode: z.string().default("a"), password: z.string().optional() }));
    export default defineKeyController({ name: "open", async reconcile() {} });`,
  "bundled/shop.ts": `
    import { config, defineKeyController, z } from "binnacle";
    export const settings = config(z.object({ mode: z.string().default("a") }));
    export default defineKeyController({ name: "shop", async reconcile() {} });`,
  "bundled/with-package.ts": `
    import { defineKeyController } from "binnacle";
    import { settings } from "./shop.ts";
    import pad from "tiny-pad";
    export default defineKeyController({ name: pad(settings.mode), async reconcile() {} });`,
  "node_modules/tiny-pad/package.json": `{ "name": "tiny-pad", "version": "1.0.0", "main": "index.js" }`,
  "node_modules/tiny-pad/index.js": `module.exports = (text) => text + "-padded";`,
  "values.yaml": `shop: { region: eu, replicas: 3, apiToken: very-secret-token, db: { host: "a\\n" } }`,
  "norway.yaml": `shop: { region: "no" }`,
  "login.yaml": `shop: { region: eu, db: { url: "postgres://joe:hunter2@db" } }`,
  "wrong.yaml": `shop: { region: eu, replicas: many, rgion: x }`,
};

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "deployed-config-"));
  for (const [path, text] of Object.entries(FILES)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
});
afterAll(() => rmSync(folder, { recursive: true }));

/** A manifest, as far as it is looked at here. */
interface Manifest {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly data?: Readonly<Record<string, string>>;
  readonly spec?: any; // oxlint-disable-line typescript/no-explicit-any -- of any kind
}

async function deploy(from: string, line = "--image b") {
  let [out, err] = ["", ""];
  const index = await import("../../index.ts");
  const args = line.replaceAll("DIR", folder).split(" ");
  const status = await cli(
    ["manifests", "deploy", "--name", "binnacle", "--controllers", join(folder, from), ...args],
    {
      embedded: {
        version: "1.2.3",
        offered: () => Promise.resolve({ binnacle: index }),
        sdk: () => Promise.resolve(undefined),
        source: undefined,
      },
      // What whoever prints manifests has in the environment is nothing for the cluster.
      env: { SHOP_REGION: "of-the-environment" },
      out: (text) => void (out += text),
      err: (text) => void (err += text),
    },
  );
  const all = parseAllDocuments(out, { version: "1.1" }).map((one) => one.toJS() as Manifest);
  return { status, out, err: err.replaceAll(folder, "DIR"), all };
}

test("what was given is in a ConfigMap, what is secret comes from a Secret, and both are mounted", async () => {
  const { all, out, err, status } = await deploy("shop", "--image b --module-config DIR/values.yaml");
  expect(status).toBe(0);
  const config = all.find(({ metadata }) => metadata.name === "binnacle-config")!;
  expect(config.data).toEqual({ "shop.replicas": "3", "shop.region": "eu", "shop.db.host": "a\n\n" });
  const { spec } = all.find(({ kind }) => kind === "Deployment")!.spec.template;
  expect(spec.volumes).toEqual([
    {
      name: "module-config",
      projected: {
        sources: [{ configMap: { name: "binnacle-config" } }, { secret: { name: "binnacle-config" } }],
      },
    },
  ]);
  const [{ args, volumeMounts }] = spec.containers;
  expect(volumeMounts).toEqual([{ name: "module-config", mountPath: "/etc/binnacle/config", readOnly: true }]);
  expect(args).toContain("--module-config=/etc/binnacle/config");
  expect(out + err).not.toContain("very-secret-token");
  expect(all.map(({ kind }) => kind)).not.toContain("Secret");
  expect(err).toBe(
    "Secret values are not part of the manifests. The pods take them from the Secret binnacle-config, with the keys shop.apiToken:\n" +
      "  kubectl create secret generic binnacle-config --namespace binnacle-system --from-file=shop.apiToken=FILE\n",
  );
});

test("a Secret that no value needs may be missing", async () => {
  const { all } = await deploy("open");
  const [volume] = all.find(({ kind }) => kind === "Deployment")!.spec.template.spec.volumes;
  expect(volume.projected.sources[1]).toEqual({ secret: { name: "binnacle-config", optional: true } });
});

test("values that are missing, wrong, or hold a password are refused", async () => {
  for (const [line, status, said] of [
    [
      "--image b",
      1,
      "Cannot deploy modules without their configuration: give 'shop.region' in a file that --module-config names",
    ],
    [
      "--image b --module-config DIR/wrong.yaml",
      1,
      `shop.ts: replicas is "many" in DIR/wrong.yaml: expected number\nunknown 'shop.rgion' in DIR/wrong.yaml, did you mean 'region'?`,
    ],
    [
      "--image b --module-config DIR/login.yaml",
      1,
      "Cannot deploy the configuration of 'shop': the value of 'shop.db.url' holds a password, and a ConfigMap is no place for one; " +
        "mark the field as secret with .meta({ sensitive: true })",
    ],
    [
      "--image b --module-config DIR/gone.yaml",
      2,
      "Cannot read --module-config 'DIR/gone.yaml': there is no such file",
    ],
  ] as const) {
    const { out, err, status: got } = await deploy("shop", line);
    expect([got, out, err]).toEqual([status, "", `binnacle: ${said}\n`]);
  }
});

test("a base of kustomize has the ConfigMap, and says what an overlay has to add", async () => {
  const { status, err } = await deploy("shop", "--image b --kustomize DIR/base");
  expect(status).toBe(0);
  expect(err).toContain(
    "An overlay has to give 'shop.region' to the ConfigMap binnacle-config in binnacle-system: without, no pod starts\n",
  );
  expect(readFileSync(join(folder, "base/config.yaml"), "utf8")).toContain("name: binnacle-config");
  expect(parse(readFileSync(join(folder, "base/kustomization.yaml"), "utf8"))).toMatchObject({
    resources: expect.arrayContaining(["config.yaml"]),
  });
});

test("a chart has values with a schema, which asks for what is missing and takes no secret", async () => {
  const { status } = await deploy("shop", "--image b --helm DIR/chart");
  expect(status).toBe(0);
  const read = (name: string) => readFileSync(join(folder, "chart", name), "utf8");
  const text = read("values.yaml");
  expect(text).toContain("#   shop.replicas: whole number; default 2; How many\n");
  expect(text).toContain("#   shop.apiToken: string, secret; required\n");
  expect(parse(text)).toMatchObject({ config: { secretName: "", values: { shop: { db: {} } } } });
  const { config } = JSON.parse(read("values.schema.json")).properties;
  expect(config.properties.values.properties.shop).toEqual({
    type: "object",
    additionalProperties: false,
    required: ["region"],
    properties: {
      replicas: expect.objectContaining({ type: "integer", description: "How many" }),
      // Helm's patterns are not those of JavaScript.
      region: { type: "string" },
      db: {
        type: "object",
        additionalProperties: false,
        required: [],
        properties: { host: { type: "string" }, url: { type: "string", default: "none" } },
      },
    },
  });
  // As in the ConfigMap of manifests: readers take the last line break for the end of the file.
  expect(read("templates/config.yaml")).toContain(
    '{{- $text := kindIs "string" $value | ternary $value (toJson $value) }}\n' +
      '  "shop.region": {{ hasSuffix "\\n" $text | ternary (printf "%s\\n" $text) $text | quote }}\n',
  );
  expect(read("templates/deployment.yaml")).toContain(
    'name: {{ default (printf "%s-config" $.Release.Name) $.Values.config.secretName | quote }}',
  );
  expect(read("templates/NOTES.txt")).toContain("kubectl create secret generic {{ default");
});

test("what Helm's YAML would take for a boolean is quoted in the values of a chart", async () => {
  expect((await deploy("shop", "--image b --helm DIR/norway --module-config DIR/norway.yaml")).status).toBe(0);
  expect(readFileSync(join(folder, "norway/values.yaml"), "utf8")).toContain('region: "no"\n');
});

test("a module that brings another one's configuration into a bundle is refused", async () => {
  const { err } = await deploy("bundled", "--base-image b");
  expect(err).toStartWith(
    "binnacle: Cannot put 'DIR/bundled/with-package.ts' into a ConfigMap: it imports the configuration of 'shop', which would lose its name",
  );
});
