import { describe, expect, test } from "bun:test";
import { defineResource, z } from "binnacle";
import { ConfigMap, Secret } from "binnacle/resources";
import { crdOf } from "../resource/define.ts";
import { sensitiveTexts } from "../resource/sensitive.ts";
import { KeptSecrets } from "./kept-secrets.ts";

const PASSWORD = 'hunt"er2 hunter2/+?';
const encoded = Buffer.from(PASSWORD).toString("base64");

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
    expect(clean({ stringData: { a: "longenough", b: "longenough-too" } }, "longenough-too")).toBe("[redacted]");
    expect(clean({ metadata: { name: "abcdefghij" } }, "abcdefghij")).toBe("abcdefghij");
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
