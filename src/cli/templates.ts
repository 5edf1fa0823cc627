/** The files that `binnacle init` and `binnacle new` write: each is complete, and its test passes unchanged. */

export const kinds = ["controller", "key-controller", "resource", "webhook", "plugin"] as const;
export type TemplateKind = (typeof kinds)[number];

export interface TemplateOptions {
  /** The name as the user typed it, such as `Backup`, `image-policy` or `shopMetrics`. */
  readonly name: string;
  /** The API group of a new kind. */
  readonly group: string;
  /** A built-in kind that a controller or webhook is for. @default a new kind; for a webhook ConfigMap */
  readonly builtin: string | undefined;
}

/** The texts of files by name. */
export type Files = Readonly<Record<string, string>>;

/** Returns the files for the controllers folder, the module first. */
export function filesFor(kind: TemplateKind, options: TemplateOptions): Files {
  return templates[kind]({ ...options, ...spellings(options.name) });
}

interface Spelled extends TemplateOptions {
  /** The form `ImagePolicy`. */
  readonly pascal: string;
  /** The form `imagePolicy`. */
  readonly camel: string;
  /** The form `image-policy`. */
  readonly kebab: string;
}

/** Returns a name in the spellings of kinds, variables and files. */
export function spellings(name: string): Pick<Spelled, "pascal" | "camel" | "kebab"> {
  const words = name
    .replaceAll(/([a-z0-9])([A-Z])/g, "$1 $2")
    .replaceAll(/([A-Z])(?=[A-Z][a-z])/g, "$1 ")
    .split(/[^A-Za-z0-9]+/)
    .filter((word) => word !== "")
    .map((word) => word.toLowerCase());
  const pascal = words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join("");
  return { pascal, camel: pascal.charAt(0).toLowerCase() + pascal.slice(1), kebab: words.join("-") };
}

const templates: Readonly<Record<TemplateKind, (spelled: Spelled) => Files>> = {
  controller: (spelled) => (spelled.builtin === undefined ? ownKind(spelled) : builtinKind(spelled)),
  "key-controller": keyController,
  resource,
  webhook,
  plugin,
};

function ownKind({ pascal, camel, kebab, group }: Spelled): Files {
  return {
    [`${kebab}.ts`]: `import { conditions, defineController, defineResource, of, z } from "binnacle";
import { ConfigMap } from "binnacle/resources";

/** The kind: its CustomResourceDefinition and all types follow from these schemas. */
export const ${pascal} = defineResource({
  group: "${group}",
  version: "v1",
  kind: "${pascal}",
  spec: z.object({ message: z.string().min(1), copies: z.int().min(1).max(5).default(1) }),
  status: z.object({ conditions: conditions("Ready") }),
});

/** Called after each change of a ${pascal} or of its children. It brings the cluster to what the spec asks for. */
export const ${camel} = defineController({
  for: ${pascal},
  owns: [ConfigMap],
  async reconcile({ metadata: { name }, spec }, { children, status }) {
    const text = \`\${spec.message}\\n\`.repeat(spec.copies);
    await children.sync({ text: of(ConfigMap, { metadata: { name }, data: { text } }) });
    status.condition({ type: "Ready", status: true, reason: "Written" });
  },
});
`,
    [`${kebab}.test.ts`]: `import { expect, test } from "bun:test";
import { ConfigMap } from "binnacle/resources";
import { eventually, matchers, runModule, startCluster } from "binnacle/testing";
import { ${pascal}, ${camel} } from "./${kebab}.ts";

expect.extend(matchers);
const key = { namespace: "default", name: "first" };

test("a ${pascal} gets its ConfigMap, and gets it again when somebody deletes it", async () => {
  await using cluster = await startCluster();
  await using _ = await runModule(${camel}, cluster);
  const { client } = cluster;
  await client.create(${pascal}, { metadata: key, spec: { message: "hello", copies: 2 } });
  await eventually(async () => expect(await client.get(${pascal}, key)).toHaveCondition("Ready"));
  expect((await client.get(ConfigMap, key)).data).toEqual({ text: "hello\\nhello\\n" });
  await client.delete(ConfigMap, key);
  await eventually(() => client.get(ConfigMap, key));
});
`,
    [`${kebab}.yaml`]: sample(pascal, group, "message: hello"),
  };
}

function sample(kind: string, group: string, spec: string): string {
  return `apiVersion: ${group}/v1
kind: ${kind}
metadata:
  name: first
spec:
  ${spec}
`;
}

function builtinKind({ camel, kebab, builtin = "" }: Spelled): Files {
  return {
    [`${kebab}.ts`]: `import { defineController, watch } from "binnacle";
import { ${builtin} } from "binnacle/resources";

/** Called after each change of a ${builtin} that has the annotation. */
export const ${camel} = defineController({
  name: "${kebab}",
  for: watch(${builtin}, { match: ({ metadata }) => metadata.annotations?.["${kebab}"] !== undefined }),
  async reconcile({ metadata }, { log }) {
    log.info("Looked at it", { wants: metadata.annotations?.["${kebab}"] });
  },
});
`,
  };
}

function keyController({ camel, kebab }: Spelled): Files {
  return {
    [`${kebab}.ts`]: `import { allow, defineKeyController, watch } from "binnacle";
import { ConfigMap, Pod } from "binnacle/resources";

/** Works on keys without an object of their own: here one for each namespace, whose pods it counts. */
export const ${camel} = defineKeyController({
  name: "${kebab}",
  watches: [watch(Pod, { enqueue: ({ metadata: { namespace } }) => [{ namespace, name: "pods" }] })],
  uses: [allow(ConfigMap, "create", "patch")],
  async reconcile({ namespace = "default" }, { client }) {
    const pods = await client.list(Pod, { namespace });
    await client.apply(ConfigMap, {
      metadata: { namespace, name: "${kebab}" },
      data: { pods: String(pods.length) },
    });
  },
});
`,
    [`${kebab}.test.ts`]: `import { expect, test } from "bun:test";
import { ConfigMap, Pod } from "binnacle/resources";
import { eventually, runModule, startCluster } from "binnacle/testing";
import { ${camel} } from "./${kebab}.ts";

test("the pods of a namespace are counted", async () => {
  await using cluster = await startCluster();
  await using _ = await runModule(${camel}, cluster);
  const { client } = cluster;
  await client.create(Pod, {
    metadata: { namespace: "default", name: "web" },
    spec: { containers: [{ name: "web", image: "nginx:1.29" }] },
  });
  await eventually(async () => {
    const { data } = await client.get(ConfigMap, { namespace: "default", name: "${kebab}" });
    expect(data).toEqual({ pods: "1" });
  });
});
`,
  };
}

function resource({ pascal, kebab, group }: Spelled): Files {
  return {
    [`${kebab}.ts`]: `import { conditions, defineResource, z } from "binnacle";

/** The kind: \`binnacle manifests crds\` prints its CustomResourceDefinition, and its types follow from these schemas. */
export const ${pascal} = defineResource({
  group: "${group}",
  version: "v1",
  kind: "${pascal}",
  spec: z.object({ size: z.int().min(1).max(10).default(3) }),
  status: z.object({ conditions: conditions("Ready") }),
  columns: [{ name: "Size", type: "integer", path: ".spec.size" }],
});
`,
    [`${kebab}.test.ts`]: `import { expect, test } from "bun:test";
import { runModule, startCluster } from "binnacle/testing";
import { ${pascal} } from "./${kebab}.ts";

test("the API server fills in defaults and refuses what the schema does not allow", async () => {
  await using cluster = await startCluster();
  await using _ = await runModule(${pascal}, cluster);
  const metadata = { namespace: "default", name: "first" };
  expect((await cluster.client.create(${pascal}, { metadata, spec: {} })).spec.size).toBe(3);
  const tooLarge = cluster.client.create(${pascal}, { metadata: { ...metadata, name: "second" }, spec: { size: 11 } });
  expect(tooLarge).rejects.toThrow("spec.size");
});
`,
    [`${kebab}.yaml`]: sample(pascal, group, "size: 3"),
  };
}

function webhook({ camel, kebab, builtin }: Spelled): Files {
  const kind = builtin ?? "ConfigMap";
  const module = `import { defineWebhook, Denied } from "binnacle";
import { ${kind} } from "binnacle/resources";

/** Called by the API server before a ${kind} is stored. */
export const ${camel} = defineWebhook({
  name: "${kebab}",
  for: ${kind},
  default(draft) {
    draft.metadata.labels = { team: "unknown", ...draft.metadata.labels };
  },
  validate({ metadata }) {
    if (metadata.labels?.["team"] === "") {
      throw new Denied("every ${kind} belongs to a team", { fields: { "metadata.labels.team": "must not be empty" } });
    }
  },
});
`;
  if (builtin !== undefined) return { [`${kebab}.ts`]: module };
  return {
    [`${kebab}.ts`]: module,
    [`${kebab}.test.ts`]: `import { expect, test } from "bun:test";
import { admit } from "binnacle/testing";
import { ${camel} } from "./${kebab}.ts";

const metadata = { namespace: "default", name: "settings" };

test("a ConfigMap without a team gets one", async () => {
  const answer = await admit(${camel}, { metadata });
  expect(answer.allowed && answer.object.metadata.labels).toEqual({ team: "unknown" });
});

test("an empty team is refused", async () => {
  const answer = await admit(${camel}, { metadata: { ...metadata, labels: { team: "" } } });
  expect(answer).toMatchObject({ allowed: false, code: 403 });
});
`,
  };
}

function plugin({ camel, kebab }: Spelled): Files {
  const prefix = kebab.replaceAll("-", "_");
  return {
    [`${kebab}.ts`]: `import { allow, definePlugin } from "binnacle";
import { Namespace } from "binnacle/resources";

/**
 * Code that is not a reconciler: here metrics, a look at the cluster now and then, and a hook. All of it leaves with
 * the module.
 */
export const ${camel} = definePlugin({
  name: "${kebab}",
  uses: [allow(Namespace, "list")],
  setup({ client, gauge, histogram, run, around }) {
    const namespaces = gauge({ name: "${prefix}_namespaces", help: "Namespaces of the cluster." });
    const seconds = histogram({ name: "${prefix}_run_seconds", help: "How long runs take.", labels: ["controller"] });

    // Runs on the leader, and again when it throws.
    run(async ({ signal, sleep }) => {
      while (!signal.aborted) {
        namespaces.set((await client.list(Namespace)).length);
        await sleep("30s");
      }
    });

    // Around each run of every controller of the process.
    around(async ({ controller }, next) => {
      const began = performance.now();
      await next();
      seconds.observe({ controller }, (performance.now() - began) / 1_000);
    });
  },
});
`,
    [`${kebab}.test.ts`]: `import { expect, test } from "bun:test";
import { FakeClock, runModule, startCluster } from "binnacle/testing";
import { ${camel} } from "./${kebab}.ts";

test("the plugin is set up, looks at the cluster, and may do what it does", async () => {
  const clock = new FakeClock();
  await using cluster = await startCluster();
  await using module = await runModule(${camel}, cluster, { clock });
  await clock.advanceInTurns(60_000);
  expect(module.log.filter(({ level }) => level === "error")).toEqual([]);
});
`,
  };
}
