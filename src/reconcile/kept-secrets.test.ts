import { defineResource, z } from "binnacle";
import { ConfigMap, Secret } from "binnacle/resources";
import { describe, expect, test } from "bun:test";
import { INSTEAD_OF_TEXT } from "../observe/secret-search.ts";
import { crdOf } from "../resource/define.ts";
import { sensitiveTexts } from "../resource/sensitive.ts";
import { KeptSecrets } from "./kept-secrets.ts";

const PASSWORD = 'hunt"er2 hunter2/+?';
const base64 = (text: string): string => Buffer.from(text).toString("base64");
const encoded = base64(PASSWORD);

function keeping(...objects: readonly unknown[]): KeptSecrets {
  const kept = new KeptSecrets();
  for (const object of objects) kept.add(object, sensitiveTexts(Secret)!);
  return kept;
}

const Vault = defineResource({
  group: "demo.example.com",
  version: "v1",
  kind: "Vault",
  spec: z.object({
    host: z.string(),
    token: z.string().meta({ sensitive: true }).optional(),
    keys: z.array(z.object({ name: z.string(), key: z.string().meta({ sensitive: true }) })).optional(),
    byName: z.record(z.string(), z.string().meta({ sensitive: true })).optional(),
  }),
});

describe("KeptSecrets", () => {
  const secret = { kind: "Secret", data: { password: encoded, port: Buffer.from("5432").toString("base64") } };

  test.each([
    ["as it is", PASSWORD],
    ["in base64", encoded],
    ["in base64 without its end", encoded.replace(/=+$/, "")],
    ["in base64url", Buffer.from(PASSWORD).toString("base64url")],
    ["in JSON", JSON.stringify({ a: PASSWORD })],
    ["in a URL", `https://u:${encodeURIComponent(PASSWORD)}@db`],
  ])("clean leaves out a value %s", (_, text) => {
    const clean = keeping(secret).clean(`no access with ${text} at port 5432`);
    expect(clean).toContain("[redacted]");
    expect(clean).not.toContain("hunter2");
    expect(clean).not.toContain(encoded.slice(0, 12));
    expect(clean).toEndWith("at port 5432"); // shorter than 8 characters
  });

  test("clean leaves out values of stringData, of patches, with a line break at the end, and the longer one first", () => {
    const clean = (object: unknown, text: string) => keeping(object).clean(text);
    expect(clean({ stringData: { a: "longenough" } }, "x longenough y")).toBe("x [redacted] y");
    expect(clean({ data: { a: Buffer.from("longenough\n").toString("base64") } }, "x longenough y")).toBe(
      "x [redacted] y",
    );
    const patch = [{ op: "replace", path: "/data/a", value: "bG9uZ2Vub3VnaA==" }];
    expect(clean(patch, "x bG9uZ2Vub3VnaA== y")).toBe("x [redacted] y");
    expect(clean([{ op: "add", path: "/data", value: { a: base64("longenough") } }], "x longenough y")).toBe(
      "x [redacted] y",
    );
    expect(clean({ stringData: { a: "longenough", b: "longenough-too" } }, "longenough-too")).toBe("[redacted]");
    expect(clean({ metadata: { name: "abcdefghij" } }, "abcdefghij")).toBe("abcdefghij");
  });

  test("clean repeats what a patch sets elsewhere", () => {
    const patch = [
      { op: "replace", path: "/metadata/labels/data", value: "abcdefghij" },
      { op: "test", path: "/type", value: "kubernetes.io/tls" },
      { op: "remove", path: "/data/a" },
    ];
    expect(keeping(patch).clean("abcdefghij kubernetes.io/tls")).toBe("abcdefghij kubernetes.io/tls");
  });

  test("clean leaves out the whole text when the values are too many, and soon", () => {
    const lines = (name: number) =>
      Array.from({ length: 40_000 }, (_, line) => `key=${name}-${line}-abcdefgh\n`).join("");
    const secrets = Array.from({ length: 30 }, (_, name) => ({ data: { a: base64(lines(name)) } }));
    const kept = keeping(...secrets);
    const began = performance.now();
    expect(kept.clean("nothing of all this")).toBe(INSTEAD_OF_TEXT);
    expect(kept.clean("nor of this")).toBe(INSTEAD_OF_TEXT);
    expect(performance.now() - began).toBeLessThan(2_000);
    expect(keeping(...secrets.slice(0, 1)).clean("nothing")).toBe("nothing");
  });

  test("clean forgets the oldest objects, and finds those that came since it was called", () => {
    const kept = new KeptSecrets({ most: 2 });
    const add = (a: string) => kept.add({ stringData: { a } }, sensitiveTexts(Secret)!);
    add("value-of-one");
    expect(kept.clean("value-of-one value-of-two")).toBe("[redacted] value-of-two");
    add("value-of-two");
    expect(kept.clean("value-of-one value-of-two")).toBe("[redacted] [redacted]");
    add("value-of-three");
    expect(kept.clean("value-of-one value-of-two value-of-three")).toBe("value-of-one [redacted] [redacted]");
  });
});

describe("sensitive fields", () => {
  test("a kind with none costs nothing more than the question", () => {
    expect(sensitiveTexts(ConfigMap)).toBeUndefined();
  });

  test("those of a kind of one's own are marked with .meta({ sensitive: true }), at any depth", () => {
    const spec = {
      host: "db.example.com",
      token: "t-12345678",
      keys: [{ name: "abcdefgh", key: "k-12345678" }],
      byName: { a: "v-12345678" },
    };
    expect([...sensitiveTexts(Vault)!({ spec })]).toEqual(["t-12345678", "k-12345678", "v-12345678"]);
  });

  test("those of a JSON patch are at the paths of such fields", () => {
    const texts = (path: string, value: unknown) => [...sensitiveTexts(Vault)!([{ op: "add", path, value }])];
    expect(texts("/spec/token", "t-12345678")).toEqual(["t-12345678"]);
    expect(texts("/spec/keys/0", { name: "abcdefgh", key: "k-12345678" })).toEqual(["k-12345678"]);
    expect(texts("/spec/keys/-/key", "k-12345678")).toEqual(["k-12345678"]);
    expect(texts("/spec/byName/a~1b", "v-12345678")).toEqual(["v-12345678"]);
    expect(texts("", { spec: { host: "db.example.com", token: "t-12345678" } })).toEqual(["t-12345678"]);
    expect(texts("/spec/host", "db.example.com")).toEqual([]);
    expect(texts("/status", { phase: "Provisioning" })).toEqual([]);
    expect([...sensitiveTexts(Vault)!([null, 1, { path: 2, value: "abcdefgh" }])]).toEqual([]);
  });

  test("they have the format 'password' in the CustomResourceDefinition", () => {
    const version = crdOf(Vault).spec.versions[0] as unknown as {
      schema: { openAPIV3Schema: { properties: { spec: { properties: object } } } };
    };
    expect(version.schema.openAPIV3Schema.properties.spec.properties).toMatchObject({
      host: { type: "string" },
      token: { type: "string", format: "password" },
    });
  });

  test("the mark is for texts", () => {
    const define = (spec: z.ZodObject) => () => defineResource({ group: "a.b", version: "v1", kind: "C", spec });
    expect(define(z.object({ n: z.int().meta({ sensitive: true }) }))).toThrow("'sensitive' is for texts");
    expect(define(z.object({ n: z.email().meta({ sensitive: true }) }))).toThrow("'sensitive' is for texts");
  });
});
