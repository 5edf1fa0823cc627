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

function good(server: WebhookServer): void {
  server.answer("/convert", (review) => answer(review, { convertedObjects: conversionOf(review) }));
}

export const conversion: readonly Case[] = [
  {
    name: "conversion by a webhook",
    run: async (session) => {
      const group = "conversion.example.test";
      await session.createNamespace();
      await using server = webhookServer();
      good(server);
      await establish(session, group, { url: `${server.url}/convert`, caBundle: server.caBundle });
      const path = (version: string): string => `/apis/${group}/${version}/namespaces/${session.slug}/hosts`;
      const host = (version: string, name: string, spec: object): object => ({
        apiVersion: `${group}/${version}`,
        kind: "Host",
        metadata: { name },
        spec,
      });
      await session.post("create old", path("v1"), host("v1", "a", { host: "a.test" }));
      await session.post("create new", path("v2"), host("v2", "b", { address: "b.test" }));
      session.note("what was asked first", server.reviews.splice(0)[0]?.review);
      for (const version of ["v1", "v2"]) {
        for (const name of ["a", "b"]) await session.get(`get ${name} as ${version}`, `${path(version)}/${name}`);
        await session.get(`list as ${version}`, path(version));
      }
      server.reviews.splice(0);
      await session.patch("patch old", `${path("v1")}/b`, { spec: { kept: "no" } });
      await session.patch("status of old", `${path("v1")}/b/status`, { status: { phase: "Ready" } });
      await session.get("get new", `${path("v2")}/b`);
      await session.patch(
        "apply old",
        `${path("v1")}/applied?fieldManager=x`,
        host("v1", "applied", { host: "x.test" }),
        "apply",
      );
      await session.watch(`${path("v1")}?watch=1&resourceVersion=0`, {
        label: "watch old",
        until: (_, index) => index === 3,
        meanwhile: async () => {
          await Bun.sleep(300);
          await session.quietly("POST", path("v2"), host("v2", "late", { address: "l.test" }));
        },
      });
      await session.delete("delete old", `${path("v1")}/a`);
      await session.delete("delete all", path("v1"));
      await session.quietly("DELETE", `${definitions}/hosts.${group}`);
    },
  },
  {
    name: "conversion of managed fields",
    run: async (session) => {
      const group = "managed.example.test";
      await session.createNamespace();
      await using server = webhookServer();
      good(server);
      await establish(session, group, { url: `${server.url}/convert`, caBundle: server.caBundle });
      const path = (version: string): string => `/apis/${group}/${version}/namespaces/${session.slug}/hosts`;
      const host = (version: string, name: string, spec: object): object => ({
        apiVersion: `${group}/${version}`,
        kind: "Host",
        metadata: { name },
        spec,
      });
      await session.post("create new", path("v2"), host("v2", "b", { address: "b.test" }));
      await session.patch("patch old", `${path("v1")}/b`, { spec: { host: "c.test" } });
      await session.patch("status of old", `${path("v1")}/b/status`, { status: { phase: "Ready" } });
      await session.get("get new", `${path("v2")}/b`);
      await session.patch(
        "apply old",
        `${path("v1")}/applied?fieldManager=x`,
        host("v1", "applied", { host: "x.test" }),
        "apply",
      );
      await session.patch(
        "apply old again",
        `${path("v1")}/applied?fieldManager=x`,
        host("v1", "applied", { host: "x.test" }),
        "apply",
      );
      const body = host("v2", "applied", { address: "y.test" });
      await session.patch("apply new", `${path("v2")}/applied?fieldManager=y`, body, "apply");
      await session.patch("apply new by force", `${path("v2")}/applied?fieldManager=y&force=true`, body, "apply");
      await session.patch(
        "apply new by the first",
        `${path("v2")}/applied?fieldManager=x&force=true`,
        host("v2", "applied", { kept: "no" }),
        "apply",
      );
      const before: Loose = await session.get("get applied as old", `${path("v1")}/applied`);
      await session.put("update old", `${path("v1")}/applied`, {
        ...before,
        spec: { ...before?.spec, host: "z.test" },
      });
      await session.quietly("DELETE", `${definitions}/hosts.${group}`);
    },
  },
  {
    name: "writes that change nothing but the version that is stored",
    run: async (session) => {
      const group = "rewritten.example.test";
      await session.createNamespace();
      await using server = webhookServer();
      good(server);
      const clientConfig = { url: `${server.url}/convert`, caBundle: server.caBundle };
      await establish(session, group, clientConfig);
      const path = (version: string): string => `/apis/${group}/${version}/namespaces/${session.slug}/hosts`;
      const nothing = async (when: string): Promise<void> => {
        for (const version of ["v2", "v1", "v2"]) {
          const patched: Loose = await session.patch(`patch nothing of ${version} ${when}`, `${path(version)}/a`, {});
          await session.put(`put nothing of ${version} ${when}`, `${path(version)}/a`, patched);
        }
      };
      const body = { apiVersion: `${group}/v2`, kind: "Host", metadata: { name: "a" }, spec: { address: "a.test" } };
      await session.post("create", path("v2"), body);
      await nothing("as it is stored");
      const { spec }: Loose = definition(group, clientConfig);
      const store = async (storage: string, more: (version: Loose) => object = () => ({})): Promise<void> => {
        const versions = spec.versions.map((version: Loose) => ({
          ...version,
          ...more(version),
          storage: version.name === storage,
        }));
        await session.quietly("PATCH", `${definitions}/hosts.${group}`, { spec: { versions } }, merge);
        await session.noticed(1_000);
      };
      await store("v1");
      await nothing("stored in the old version from now on");
      await store("v2");
      await session.patch("a dry run", `${path("v2")}/a?dryRun=All`, {});
      await session.get("as it was before", `${path("v2")}/a`);
      await nothing("stored in the new version again");
      const added = { type: "string", default: "added" };
      await store("v2", ({ name }) => {
        const extended: Loose = schema(name === "v2" ? "address" : "host");
        extended.openAPIV3Schema.properties.spec.properties.more = added;
        return { schema: extended };
      });
      await nothing("with a default that is new");
      await session.quietly("DELETE", `${definitions}/hosts.${group}`);
    },
  },
  {
    name: "conversion that fails",
    run: async (session) => {
      const group = "failing.example.test";
      await session.createNamespace();
      await using server = webhookServer();
      good(server);
      await establish(session, group, { url: `${server.url}/convert`, caBundle: server.caBundle });
      const path = (version: string): string => `/apis/${group}/${version}/namespaces/${session.slug}/hosts`;
      const body = { apiVersion: `${group}/v2`, kind: "Host", metadata: { name: "a" }, spec: { address: "a.test" } };
      await session.post("create", path("v2"), body);
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
        server.answer("/convert", reply);
        await session.get(`get, answered ${label}`, `${path("v1")}/a`);
        if (label === "with failure") await session.get("list", path("v1"));
        if (label === "with failure") {
          const old = { apiVersion: `${group}/v1`, kind: "Host", metadata: { name: "b" }, spec: { host: "b.test" } };
          await session.post("create old", path("v1"), old);
        }
      }
      await session.quietly("DELETE", `${definitions}/hosts.${group}`);
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
