/** Custom resources in several versions that a webhook converts. */
import type { Case } from "../case.ts";
import { definitionOf, definitions } from "../custom-kinds.ts";
import type { Loose, Session } from "../session.ts";
import { type WebhookServer, webhookServer } from "./webhook-server.ts";

const merge = { "content-type": "application/merge-patch+json" };

const schema = (field: string): object => ({
  openAPIV3Schema: {
    type: "object",
    properties: {
      spec: { type: "object", properties: { [field]: { type: "string" }, kept: { type: "string", default: "yes" } } },
      status: { type: "object", properties: { phase: { type: "string" } } },
    },
  },
});

/** v1 has `host`, v2 has `address`; v2 is stored. */
function definition(group: string, clientConfig: object): Loose {
  const version = (name: string, field: string): object => ({
    name,
    served: true,
    storage: name === "v2",
    schema: schema(field),
    subresources: { status: {} },
  });
  return definitionOf({
    group,
    plural: "hosts",
    kind: "Host",
    names: { singular: "host", listKind: "HostList" },
    versions: [version("v1", "host"), version("v2", "address")],
    spec: { conversion: { strategy: "Webhook", webhook: { clientConfig, conversionReviewVersions: ["v1"] } } },
  });
}

/** Renames the field of the spec according to the version. */
function conversionOf(review: Loose): Loose[] {
  const { desiredAPIVersion, objects } = review.request;
  const [from, to] = String(desiredAPIVersion).endsWith("/v2") ? ["host", "address"] : ["address", "host"];
  return objects.map((object: Loose) => {
    const { [from]: value, ...spec } = object.spec ?? {};
    return {
      ...object,
      apiVersion: desiredAPIVersion,
      spec: { ...spec, ...(value === undefined ? {} : { [to]: value }) },
    };
  });
}

function answer(review: Loose, response: object): object {
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "ConversionReview",
    response: { uid: review.request.uid, result: { status: "Success" }, ...response },
  };
}

async function establish(session: Session, group: string, clientConfig: object): Promise<void> {
  const response: Loose = await session.quietly("POST", definitions, definition(group, clientConfig));
  if (response?.kind === "Status") session.note("the definition", response.message);
  await session.waitFor(`/apis/${group}/v2`, (body) => body?.resources?.length > 0);
  await session.waitFor(`/apis/${group}/v1`, (body) => body?.resources?.length > 0);
  await session.noticed(300);
}

/** The kind of a case, whose definition asks a webhook. */
class Hosts implements AsyncDisposable {
  readonly server: WebhookServer = webhookServer();
  readonly clientConfig: object;
  readonly #session: Session;
  readonly #group: string;

  constructor(session: Session, group: string) {
    this.#session = session;
    this.#group = group;
    this.clientConfig = { url: `${this.server.url}/convert`, caBundle: this.server.caBundle };
    this.server.answer("/convert", (review) => answer(review, { convertedObjects: conversionOf(review) }));
  }

  async define(): Promise<void> {
    await this.#session.createNamespace();
    await establish(this.#session, this.#group, this.clientConfig);
  }

  path(version: string): string {
    return `/apis/${this.#group}/${version}/namespaces/${this.#session.slug}/hosts`;
  }

  host(version: string, name: string, spec: object): object {
    return { apiVersion: `${this.#group}/${version}`, kind: "Host", metadata: { name }, spec };
  }

  /** Applies an object named `applied`. */
  async apply(label: string, version: string, { query, spec }: { query: string; spec: object }): Promise<void> {
    const path = `${this.path(version)}/applied?fieldManager=${query}`;
    await this.#session.patch(label, path, this.host(version, "applied", spec), "apply");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#session.quietly("DELETE", `${definitions}/hosts.${this.#group}`);
    await this.server[Symbol.asyncDispose]();
  }
}

export const conversion: readonly Case[] = [
  {
    name: "conversion by a webhook",
    run: async (session) => {
      await using hosts = new Hosts(session, "conversion.example.test");
      await hosts.define();
      await session.post("create old", hosts.path("v1"), hosts.host("v1", "a", { host: "a.test" }));
      await session.post("create new", hosts.path("v2"), hosts.host("v2", "b", { address: "b.test" }));
      session.note("what was asked first", hosts.server.reviews.splice(0)[0]?.review);
      for (const version of ["v1", "v2"]) {
        for (const name of ["a", "b"]) await session.get(`get ${name} as ${version}`, `${hosts.path(version)}/${name}`);
        await session.get(`list as ${version}`, hosts.path(version));
      }
      hosts.server.reviews.splice(0);
      await session.patch("patch old", `${hosts.path("v1")}/b`, { spec: { kept: "no" } });
      await session.patch("status of old", `${hosts.path("v1")}/b/status`, { status: { phase: "Ready" } });
      await session.get("get new", `${hosts.path("v2")}/b`);
      await hosts.apply("apply old", "v1", { query: "x", spec: { host: "x.test" } });
      await session.watch(`${hosts.path("v1")}?watch=1&resourceVersion=0`, {
        label: "watch old",
        until: (_, index) => index === 3,
        meanwhile: async () => {
          await Bun.sleep(300);
          await session.quietly("POST", hosts.path("v2"), hosts.host("v2", "late", { address: "l.test" }));
        },
      });
      await session.delete("delete old", `${hosts.path("v1")}/a`);
      await session.delete("delete all", hosts.path("v1"));
    },
  },
  {
    name: "conversion of managed fields",
    run: async (session) => {
      await using hosts = new Hosts(session, "managed.example.test");
      await hosts.define();
      await session.post("create new", hosts.path("v2"), hosts.host("v2", "b", { address: "b.test" }));
      await session.patch("patch old", `${hosts.path("v1")}/b`, { spec: { host: "c.test" } });
      await session.patch("status of old", `${hosts.path("v1")}/b/status`, { status: { phase: "Ready" } });
      await session.get("get new", `${hosts.path("v2")}/b`);
      await hosts.apply("apply old", "v1", { query: "x", spec: { host: "x.test" } });
      await hosts.apply("apply old again", "v1", { query: "x", spec: { host: "x.test" } });
      const spec = { address: "y.test" };
      await hosts.apply("apply new", "v2", { query: "y", spec });
      await hosts.apply("apply new by force", "v2", { query: "y&force=true", spec });
      await hosts.apply("apply new by the first", "v2", { query: "x&force=true", spec: { kept: "no" } });
      const before: Loose = await session.get("get applied as old", `${hosts.path("v1")}/applied`);
      await session.put("update old", `${hosts.path("v1")}/applied`, {
        ...before,
        spec: { ...before?.spec, host: "z.test" },
      });
    },
  },
  {
    name: "writes that change nothing but the version that is stored",
    run: async (session) => {
      await using hosts = new Hosts(session, "rewritten.example.test");
      await hosts.define();
      const nothing = async (when: string): Promise<void> => {
        for (const version of ["v2", "v1", "v2"]) {
          const object: Loose = await session.patch(
            `patch nothing of ${version} ${when}`,
            `${hosts.path(version)}/a`,
            {},
          );
          await session.put(`put nothing of ${version} ${when}`, `${hosts.path(version)}/a`, object);
        }
      };
      const body = hosts.host("v2", "a", { address: "a.test" });
      await session.post("create", hosts.path("v2"), body);
      await nothing("as it is stored");
      const { spec }: Loose = definition("rewritten.example.test", hosts.clientConfig);
      const store = async (storage: string, more: (version: Loose) => object = () => ({})): Promise<void> => {
        const versions = spec.versions.map((version: Loose) => ({
          ...version,
          ...more(version),
          storage: version.name === storage,
        }));
        await session.quietly("PATCH", `${definitions}/hosts.rewritten.example.test`, { spec: { versions } }, merge);
        await session.noticed(1_000);
      };
      await store("v1");
      await nothing("stored in the old version from now on");
      await store("v2");
      await session.patch("a dry run", `${hosts.path("v2")}/a?dryRun=All`, {});
      await session.get("as it was before", `${hosts.path("v2")}/a`);
      await nothing("stored in the new version again");
      const more = { type: "string", default: "added" };
      await store("v2", ({ name }) => {
        const extended: Loose = schema(name === "v2" ? "address" : "host");
        extended.openAPIV3Schema.properties.spec.properties.more = more;
        return { schema: extended };
      });
      await nothing("with a default that is new");
    },
  },
  {
    name: "conversion that fails",
    run: async (session) => {
      await using hosts = new Hosts(session, "failing.example.test");
      await hosts.define();
      const body = hosts.host("v2", "a", { address: "a.test" });
      await session.post("create", hosts.path("v2"), body);
      const replies: Readonly<Record<string, (review: Loose) => unknown>> = {
        "with failure": (review) => answer(review, { result: { status: "Failure", message: "no thanks" } }),
        "with failure without a word": (review) => answer(review, { result: { status: "Failure" } }),
        "without objects": (review) => answer(review, { convertedObjects: [] }),
        "with another uid": (review) => ({ ...answer(review, {}), response: { uid: "x" } }),
        "without a response": () => ({ apiVersion: "apiextensions.k8s.io/v1", kind: "ConversionReview" }),
        "with another version": (review) => answer(review, { convertedObjects: review.request.objects }),
        "with another name": (review) =>
          answer(review, {
            convertedObjects: conversionOf(review).map((one) => ({ ...one, metadata: { ...one.metadata, name: "x" } })),
          }),
        "with an error": () => new Response("broken", { status: 500 }),
        "with other labels": (review) =>
          answer(review, {
            convertedObjects: conversionOf(review).map((one) => ({
              ...one,
              metadata: { ...one.metadata, labels: { a: "b" } },
            })),
          }),
      };
      for (const [label, reply] of Object.entries(replies)) {
        hosts.server.answer("/convert", reply);
        await session.get(`get, answered ${label}`, `${hosts.path("v1")}/a`);
        if (label === "with failure") await session.get("list", hosts.path("v1"));
        if (label === "with failure") {
          const old = hosts.host("v1", "b", { host: "b.test" });
          await session.post("create old", hosts.path("v1"), old);
        }
      }
    },
  },
  {
    name: "conversion by a service",
    run: async (session) => {
      const group = "service.example.test";
      await session.createNamespace();
      const service = { namespace: session.slug, name: "converter", path: "/convert" };
      await establish(session, group, { service });
      const body = { apiVersion: `${group}/v1`, kind: "Host", metadata: { name: "a" }, spec: { host: "a.test" } };
      await session.post("create", `/apis/${group}/v1/namespaces/${session.slug}/hosts`, body);
      await session.quietly("DELETE", `${definitions}/hosts.${group}`);
    },
  },
];
