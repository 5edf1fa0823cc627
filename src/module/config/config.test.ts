import { describe, expect, expectTypeOf, test } from "bun:test";
import { config, z } from "binnacle";
import { unknownKeys, unusedKeys, variableClashes } from "./all.ts";
import { fieldsOf, shownType } from "./fields.ts";
import { declaredConfig, hasPassword, resolveConfig } from "./resolve.ts";
import type { ConfigPlace, ConfigSources } from "./sources.ts";

const schema = z.object({
  replicas: z.coerce.number().int().min(1).default(2),
  apiToken: z.string(),
  verbose: z.coerce.boolean().default(false),
  regions: z.array(z.string()).default(["eu"]),
  limits: z.record(z.string(), z.number()).default({}),
  level: z.enum(["low", "high"]).default("low"),
  db: z.object({ host: z.string(), port: z.int().default(5432), secretName: z.string().optional() }),
  proxy: z.object({ url: z.string(), password: z.string() }).optional(),
});

const enough = { SHOP_API_TOKEN: "t0ken-of-shop", SHOP_DB_HOST: "db" };

function resolved(env: ConfigSources["env"], ...places: ConfigPlace[]) {
  return resolveConfig(declaredConfig(schema, "shop"), { env, places });
}

const file = (sections: object): ConfigPlace => ({
  kind: "file",
  path: "values.yaml",
  sections: sections as Record<string, Record<string, unknown>>,
});

const mounted = (texts: Readonly<Record<string, string>>): ConfigPlace => ({
  kind: "folder",
  path: "/mnt",
  texts: new Map(Object.entries(texts).map(([key, text]) => [key, { text, file: `/mnt/${key}` }])),
});

describe("fields", () => {
  test("each value has a name, a variable, and whether it is needed and secret", () => {
    const shown = fieldsOf(schema, "secret-mirror").map(({ key, variable, isRequired, isSecret }) =>
      [key, variable, isRequired ? "required" : "", isSecret ? "secret" : ""].join(" ").trim(),
    );
    expect(shown).toEqual([
      "replicas SECRET_MIRROR_REPLICAS",
      "apiToken SECRET_MIRROR_API_TOKEN required secret",
      "verbose SECRET_MIRROR_VERBOSE",
      "regions SECRET_MIRROR_REGIONS",
      "limits SECRET_MIRROR_LIMITS",
      "level SECRET_MIRROR_LEVEL",
      "db.host SECRET_MIRROR_DB_HOST required",
      "db.port SECRET_MIRROR_DB_PORT",
      "db.secretName SECRET_MIRROR_DB_SECRET_NAME",
      "proxy.url SECRET_MIRROR_PROXY_URL",
      "proxy.password SECRET_MIRROR_PROXY_PASSWORD  secret",
    ]);
  });

  test("what sounds secret can be said not to be, and the other way round", () => {
    const marked = z.object({
      token: z.string().meta({ sensitive: false }),
      login: z.object({ user: z.string(), key: z.string() }).meta({ sensitive: true }),
      tokens: z.array(z.string()),
      maxToken: z.int(),
      tokenFile: z.string(),
    });
    const secret = fieldsOf(marked, "m").filter(({ isSecret }) => isSecret);
    expect(secret.map(({ key }) => key)).toEqual(["login.user", "login.key", "tokens"]);
  });

  test("types are named as people do", () => {
    const shown = fieldsOf(schema, "m").map(({ json }) => shownType(json));
    expect(shown.slice(0, 6)).toEqual([
      "whole number",
      "string",
      "boolean",
      "list of string",
      "object",
      'one of "low", "high"',
    ]);
  });
});

describe("values", () => {
  test("have the types of the schema, and are frozen", () => {
    const { values, faults } = resolved({
      ...enough,
      SHOP_REPLICAS: "3",
      SHOP_VERBOSE: "false",
      SHOP_REGIONS: "eu, us",
      SHOP_LIMITS: '{"a": 1}',
      SHOP_DB_PORT: "1",
    });
    expect(faults).toEqual([]);
    expect(values).toEqual({
      replicas: 3,
      apiToken: "t0ken-of-shop",
      verbose: false,
      regions: ["eu", "us"],
      limits: { a: 1 },
      level: "low",
      db: { host: "db", port: 1 },
    });
    expect(Object.isFrozen(values!["regions"])).toBe(true);
  });

  test("the environment wins over what is named later, and that over what is named first", () => {
    const given = resolved(
      { ...enough, SHOP_LEVEL: "", SHOP_DB_HOST: "of-env" },
      file({ shop: { replicas: 3, level: "high", db: { host: "of-file", port: 7 } } }),
      mounted({ "shop.replicas": "4", "shop.db.port": "8" }),
    );
    expect(given.values).toMatchObject({ replicas: 4, level: "high", db: { host: "of-env", port: 8 } });
    expect([...given.provisions].map(([key, { from }]) => `${key} ${from}`)).toEqual([
      "replicas /mnt/shop.replicas",
      "apiToken SHOP_API_TOKEN",
      "level values.yaml",
      "db.host SHOP_DB_HOST",
      "db.port /mnt/shop.db.port",
    ]);
  });

  test("an optional group is there when one of its values is", () => {
    expect(resolved(enough).values).not.toHaveProperty("proxy");
    const { faults } = resolved({ ...enough, SHOP_PROXY_URL: "http://proxy" });
    expect(faults.map(({ message }) => message)).toEqual([
      "proxy.password is missing: set SHOP_PROXY_PASSWORD, or give 'shop.proxy.password' in a file that --module-config names",
    ]);
  });

  test("a property may be called __proto__ without changing anything else", () => {
    const { values } = resolveConfig(declaredConfig(z.object({ ["__proto__"]: z.string(), a: z.string() }), "m"), {
      env: { M__PROTO_: "x", M_A: "a" },
      places: [file({ m: { a: "b" } })],
    });
    expect(Object.getPrototypeOf(values ?? {})).toBe(Object.prototype);
  });
});

describe("faults", () => {
  const messages = (...given: Parameters<typeof resolved>) => resolved(...given).faults.map(({ message }) => message);

  test("each says which field it is, where the value came from and what was expected", () => {
    expect(
      messages(
        { SHOP_REPLICAS: "three", SHOP_VERBOSE: "yes", SHOP_LIMITS: "{", SHOP_API_TOKE: "x" },
        file({ shop: { level: "middle", db: { port: "many" } } }),
      ),
    ).toEqual([
      `replicas is "three" in SHOP_REPLICAS: expected whole number`,
      "apiToken is missing: set SHOP_API_TOKEN (there is SHOP_API_TOKE), or write 'shop.apiToken' into values.yaml",
      `verbose is "yes" in SHOP_VERBOSE: expected true or false`,
      `limits is "{" in SHOP_LIMITS: expected object, and this is not JSON`,
      `level is "middle" in values.yaml: expected one of "low"|"high"`,
      "db.host is missing: set SHOP_DB_HOST, or write 'shop.db.host' into values.yaml",
      `db.port is "many" in values.yaml: expected number, received string`,
    ]);
    expect(messages({ ...enough, SHOP_REPLICAS: "0" })).toEqual([
      'replicas is "0" in SHOP_REPLICAS: Too small: expected number to be >=1',
    ]);
    expect(messages(undefined, mounted({}))[0]).toBe("apiToken is missing: write it into /mnt/shop.apiToken");
  });

  test("the fault of another field repeats no secret, nor the password in its own address", () => {
    const both = z
      .object({ user: z.string(), password: z.string(), pin: z.string().meta({ sensitive: true }), url: z.string() })
      .superRefine(({ user, password, url }, context) => {
        context.addIssue({ code: "custom", path: ["user"], message: `${user} cannot log in with ${password}` });
        context.addIssue({ code: "custom", path: ["url"], message: `${url} does not answer` });
      });
    const env = { M_USER: "joe", M_PASSWORD: "pass-of-joe", M_PIN: "e", M_URL: "redis://:pass-of-db@db" };
    const { faults } = resolveConfig(declaredConfig(both, "m"), { env, places: [] });
    expect(faults.map(({ message }) => message)).toEqual([
      'user is "joe" in M_USER: it is refused',
      "url is not valid in M_URL: it is refused",
    ]);
    const plain = z.object({ pin: z.string().meta({ sensitive: true }), count: z.int() });
    const { faults: kept } = resolveConfig(declaredConfig(plain, "m"), {
      env: { M_PIN: "e", M_COUNT: "1.5" },
      places: [],
    });
    expect(kept.map(({ message }) => message)).toEqual(['count is "1.5" in M_COUNT: expected int, received number']);
  });

  test("a secret is never repeated, nor the password in an address", () => {
    const strict = z.object({
      token: z.string().refine(() => false, { error: ({ input }) => `'${String(input)}' is unknown` }),
      server: z.string().max(3),
      pin: z.object({ secret: z.string().length(2) }),
    });
    const env = { M_TOKEN: "hunter2!", M_SERVER: "http://joe:pass-of-joe@host", M_PIN_SECRET: "abc" };
    const { faults, secrets } = resolveConfig(declaredConfig(strict, "m"), { env, places: [] });
    expect(faults.map(({ message }) => message)).toEqual([
      "token is not valid in M_TOKEN: it is refused",
      "server is not valid in M_SERVER: Too big: expected string to have <=3 characters",
      "pin.secret is not valid in M_PIN_SECRET: Too big: expected string to have exactly 2 characters",
    ]);
    expect(secrets).toContain("pass-of-joe");
  });

  test("a number in a secret field is never repeated, and harmless ones are", () => {
    const pins = z.object({
      password: z.int().max(99_999).meta({ sensitive: true }),
      pin: z.int().min(100).meta({ sensitive: true }),
      token: z
        .number()
        .refine(() => false, { error: ({ input }) => `${String(input)} is unknown` })
        .meta({ sensitive: true }),
      secret: z.array(z.number()),
      wanted: z.boolean().meta({ sensitive: true }),
      port: z.int(),
    });
    const env = {
      M_PASSWORD: "12345678",
      M_PIN: "10",
      M_TOKEN: "87654321",
      M_SECRET: "[123456789.5]",
      M_WANTED: "true",
      M_PORT: "1.5",
    };
    const { faults, secrets } = resolveConfig(declaredConfig(pins, "m"), { env, places: [] });
    const messages = faults.map(({ message }) => message).join("\n");
    expect(messages).not.toMatch(/12345678|87654321/);
    expect(messages).toContain("pin is not valid in M_PIN: Too small: expected number to be >=100");
    expect(secrets).toContain("12345678");
    const list = declaredConfig(z.object({ secret: z.array(z.number()) }), "m");
    expect(resolveConfig(list, { env, places: [] }).secrets).toContain("123456789.5");
  });

  test("a token in place of a user is a secret of its address, and a name of a user is none", () => {
    const token = "ghp_0123456789abcdefghij";
    expect(hasPassword(`https://${token}@github.com/a/b`)).toBe(true);
    expect(hasPassword([`https://${token}:@github.com`])).toBe(true);
    expect(hasPassword("https://jane@github.com/a/b")).toBe(false);
    expect(hasPassword("https://github.com/a-long-name-of-some-kind@v1")).toBe(false);
    const { faults, secrets } = resolveConfig(declaredConfig(z.object({ server: z.string().max(3) }), "m"), {
      env: { M_SERVER: `https://${token}:x-oauth-basic@host` },
      places: [],
    });
    expect(faults[0]!.message).not.toContain(token);
    expect(secrets).toEqual(expect.arrayContaining([token, "x-oauth-basic"]));
  });

  test("of the whole, and of a refinement that is not synchronous", () => {
    const pair = z.object({ a: z.int().default(1), b: z.int().default(0) });
    const ordered = pair.refine(({ a, b }) => a < b, "a has to be less than b");
    expect(resolveConfig(declaredConfig(ordered, "m"), { env: {}, places: [] }).faults[0]!.message).toBe(
      "a has to be less than b",
    );
    const late = pair.refine(async () => true);
    expect(resolveConfig(declaredConfig(late, "m"), { env: {}, places: [] }).faults).toHaveLength(1);
  });

  test("what no module takes is named, with what was probably meant", () => {
    const declared = declaredConfig(schema, "shop");
    const one = { ...declared, ...resolveConfig(declared, { env: {}, places: [] }), isNamed: false };
    const places = [
      file({ shop: { replcas: 1, db: { hots: 1 }, limits: { any: 1 }, proxy: 1 }, shpo: {}, broken: { any: 1 } }),
      mounted({ "shop.levle": "high", "other.yaml": "", "shop.level": "low" }),
    ];
    expect(unknownKeys({ places }, { configs: [one], unknown: ["broken"] })).toEqual([
      "unknown 'shop.replcas' in values.yaml, did you mean 'replicas'?",
      "unknown 'shop.db.hots' in values.yaml, did you mean 'host'?",
      "'shop.proxy' in values.yaml: expected values by name",
      "unknown 'shpo' in values.yaml, did you mean 'shop'?",
    ]);
    expect(unusedKeys({ places }, { configs: [one] })).toEqual([
      "/mnt/shop.levle, did you mean 'shop.level'?",
      "/mnt/other.yaml, if it has the values of modules, name the file itself with --module-config",
    ]);
  });

  test("two fields cannot have one variable", () => {
    const declare = (name: string, of: z.ZodObject) => {
      const declared = declaredConfig(of, name);
      return { ...declared, ...resolveConfig(declared, { env: {}, places: [] }), isNamed: false };
    };
    const configs = [declare("a-b", z.object({ c: z.string() })), declare("a", z.object({ bC: z.string() }))];
    expect(variableClashes([...configs, configs[0]!])).toEqual([
      "'a-b.c' and 'a.bC' would both be A_B_C in the environment: rename one of them",
    ]);
  });
});

describe("config", () => {
  test("is typed and deeply read-only", () => {
    const settings = config(schema);
    expectTypeOf(settings.replicas).toEqualTypeOf<number>();
    expectTypeOf(settings.regions).toEqualTypeOf<readonly string[]>();
    expectTypeOf<(typeof settings)["db"]["port"]>().toEqualTypeOf<number>();
    // @ts-expect-error it is read-only
    const change = () => (settings.replicas = 3);
    expect(change).toThrow();
    // @ts-expect-error there is no such field
    void settings.replcas;
    // @ts-expect-error a schema of an object is needed
    expect(() => config(z.string())).toThrow("Cannot call config: expected z.object({ … })");
  });

  test("without a module, a field has its default, and one without says how a test gives it a value", () => {
    const settings = config(schema);
    expect(settings.replicas).toBe(2);
    expect(() => settings.apiToken).toThrow("in a test, call configure(settings, { apiToken: … })");
  });

  test("refuses names that could not be those of variables", () => {
    expect(() => config(schema, { name: "a b" })).toThrow("the name 'a b' is not made of letters, digits and '-'");
    expect(() => config(schema, { name: "binnacle" })).toThrow("as those of flags are");
  });
});
