import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { until } from "../../../tests/support/until.ts";
import { asInteger, hasUnusualNumbers, isFloat, parseAsGo, parseJson, settled, writeJson } from "./numbers.ts";
import { type ApiServer, createApiServer } from "./server.ts";

describe("reading and writing numbers", () => {
  test.each([
    ["1", 1],
    ["-0", 0],
    ["9007199254740991", 9007199254740991],
    ["9007199254740993", 9007199254740993n],
    ["-9223372036854775808", -(2n ** 63n)],
    ["9223372036854775808", 2 ** 63],
    ["1.5", 1.5],
    ["1e300", 1e300],
  ])("parseAsGo reads %s as Go does", (text, expected) => {
    expect(parseAsGo(`{"a":[${text}]}`)).toEqual({ a: [expected] });
  });

  test.each(["1.0", "-0.0", "1e2", "100e-2", "9007199254740991.0"])("parseAsGo tells %s from an integer", (text) => {
    const [value] = parseAsGo(`[${text}]`) as unknown[];
    expect(isFloat(value)).toBe(true);
    expect(Object.is(Number(value), Number(text))).toBe(true);
  });

  test("hasUnusualNumbers finds what needs that, and no texts that look alike", () => {
    for (const text of ['{"a":1.0}', "[ 1e2 ]", '{"a": -9007199254740993\n}', '{"a":-0}', "1.5"])
      expect([text, hasUnusualNumbers(text)]).toEqual([text, true]);
    for (const text of ['{"a":"1.5"}', '{"image":"nginx:1.25"}', '{"at":"2026-01-01T10:11:12.5Z"}', '{"a":-10,"b":3}'])
      expect([text, hasUnusualNumbers(text)]).toEqual([text, false]);
  });

  test("writeJson and parseJson keep each digit of an integer of 64 bits", () => {
    const text = '{"a":9223372036854775807,"b":[-9007199254740993,2],"c":"9007199254740993"}';
    expect(writeJson(parseJson(text))).toBe(text);
    expect(writeJson({ a: 1n, b: [] }, 1)).toBe('{\n "a": 1,\n "b": []\n}');
  });

  test("settled makes integers of floats, as storage does", () => {
    expect(settled(parseAsGo('{"a":1.0,"b":9007199254740994.0,"c":1e300}'))).toEqual({
      a: 1,
      b: 9007199254740994n,
      c: 1e300,
    });
  });

  test("asInteger leaves what 64 bits do not hold to floats", () => {
    expect([asInteger(2n ** 53n), asInteger(2n ** 63n), asInteger(-3n)]).toEqual([2n ** 53n, 2 ** 63, -3]);
  });
});

const definition = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: "sums.example.test" },
  spec: {
    group: "example.test",
    scope: "Cluster",
    names: { plural: "sums", singular: "sum", kind: "Sum", listKind: "SumList" },
    versions: [
      {
        name: "v1",
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: {
            type: "object",
            properties: {
              spec: {
                type: "object",
                "x-kubernetes-preserve-unknown-fields": true,
                properties: {
                  ruled: { type: "integer", "x-kubernetes-validations": [{ rule: "self < 50" }] },
                  bounded: { type: "number", minimum: 0.5, maximum: 1e6 },
                  preset: { type: "integer", default: "LARGE" },
                  most: { type: "integer", maximum: "LARGE" },
                  choice: { "x-kubernetes-int-or-string": true, "x-kubernetes-validations": [{ rule: "self == 2" }] },
                  shown: {
                    type: "number",
                    "x-kubernetes-validations": [{ rule: "int(self) < 50 || string(self) == '2e+06'" }],
                  },
                  sums: {
                    type: "array",
                    maxItems: 3,
                    items: { type: "integer" },
                    "x-kubernetes-validations": [{ rule: "self.sum() < 9" }],
                  },
                  within: { type: "integer" },
                  listed: { type: "number", enum: [2, 2.5] },
                  set: { type: "array", "x-kubernetes-list-type": "set", items: { type: "integer" } },
                },
              },
            },
          },
        },
        additionalPrinterColumns: [{ name: "Large", type: "integer", jsonPath: ".spec.large" }],
      },
    ],
  },
};

describe("the server", () => {
  let data: string;
  let server: ApiServer;
  const sums = "/apis/example.test/v1/sums";

  beforeAll(async () => {
    data = await mkdtemp(join(tmpdir(), "numbers-"));
    server = await createApiServer({ data });
    const body = JSON.stringify(definition).replaceAll('"LARGE"', "9007199254740993");
    await send("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", body);
    await until(async () => (await send("GET", sums)).startsWith("200"), { what: "the kind is served" });
  });

  afterAll(async () => {
    await server.stop();
    await rm(data, { recursive: true });
  });

  async function send(method: string, path: string, body?: string, headers: Record<string, string> = {}) {
    const init = { method, headers: { "content-type": "application/json", ...headers }, ...(body && { body }) };
    const answer = await server.fetch(new Request(`http://server${path}`, init));
    return `${answer.status} ${await answer.text()}`;
  }

  const sum = (name: string, spec: string): string =>
    `{"apiVersion":"example.test/v1","kind":"Sum","metadata":{"name":"${name}"},"spec":${spec}}`;
  const patch = (name: string, body: string, type: string): Promise<string> =>
    send("PATCH", `${sums}/${name}?fieldManager=m`, body, { "content-type": type });

  test("keeps integers of 64 bits through creation, patches, reads in all forms, and a restart", async () => {
    expect(
      await send("POST", sums, sum("kept", '{"large":9007199254740993,"in":[1.0,-9223372036854775808]}')),
    ).toContain('"spec":{"large":9007199254740993,"in":[1,-9223372036854775808],"preset":9007199254740993}');
    expect(await patch("kept", '{"spec":{"more":9007199254740995}}', "application/merge-patch+json")).toContain(
      '"more":9007199254740995',
    );
    const copy = '[{"op":"copy","from":"/spec/large","path":"/spec/copied"}]';
    expect(await patch("kept", copy, "application/json-patch+json")).toContain('"copied":9007199254740993');
    const applied = sum("kept", '{"applied":9223372036854775807}');
    expect(await patch("kept", applied, "application/apply-patch+yaml")).toContain('"applied":9223372036854775807');
    expect(await send("GET", `${sums}/kept`, undefined, { accept: "application/yaml" })).toContain(
      "  large: 9007199254740993\n",
    );
    expect(await send("GET", `${sums}/kept?pretty=true`)).toContain('"large": 9007199254740993,');
    const accept = "application/json;as=Table;v=v1;g=meta.k8s.io";
    expect(await send("GET", sums, undefined, { accept })).toContain('"cells":["kept",9007199254740993]');
    await server.stop();
    server = await createApiServer({ data });
    expect(await send("GET", `${sums}/kept`)).toContain('"more":9007199254740995');
  });

  test("tells a float without a fraction from an integer until it is stored", async () => {
    expect(await send("POST", sums, sum("ruled", '{"ruled":1.0}'))).toContain(
      "invalid data, expected int, got float64 evaluating rule: self < 50",
    );
    expect(await send("POST", sums, sum("bounded", '{"bounded":0.0}'))).toContain("greater than or equal to 0.5");
    expect(await send("POST", sums, sum("bounded", '{"bounded":0}'))).toStartWith("201");
    expect(await send("POST", sums, sum("large", '{"bounded":2e6}'))).toContain(
      "Invalid value: 2e+06: spec.bounded in body should be less than or equal to 1e+06",
    );
    expect(await send("POST", sums, sum("float", '{"a":3.0}'))).toContain('"a":3,');
    const tested = (value: string): Promise<string> =>
      patch("float", `[{"op":"test","path":"/spec/a","value":${value}}]`, "application/json-patch+json");
    expect(await tested("3.0")).toStartWith("422");
    expect(await tested("3")).toStartWith("200");
  });

  test("compares with limits beyond 2^53, and says what rules cannot read", async () => {
    const refused: readonly (readonly [spec: string, why: string])[] = [
      ['{"most":9223372036854775807}', "should be less than or equal to 9007199254740992"],
      ['{"choice":2.0}', "expected XIntOrString value to be either a string or integer"],
      ['{"sums":[1,2.0]}', "'no such overload: sum(list)'"],
      ['{"sums":[9223372036854775807,1]}', "integer overflow"],
      ['{"set":[2,2]}', "Duplicate value: 2"],
      ['{"listed":3.1}', "Unsupported value: 3.1: supported values: "],
      ['{"shown":1e30}', "integer overflow evaluating rule"],
      ['{"shown":2000001}', "failed rule: int(self) < 50"],
      ['{"within":-1000000.3}', "must be of type integer"],
    ];
    for (const [spec, why] of refused) expect(await send("POST", sums, sum("refused", spec))).toContain(why);
    expect(
      await send("POST", `${sums}?dryRun=All`, sum("taken", '{"most":2,"set":[2,2.0],"shown":2e6,"listed":2.9}')),
    ).toStartWith("201");
    expect(await send("GET", "/openapi/v3/apis/example.test/v1")).toContain('"default":9007199254740993');
  });

  test("keeps integers of 64 bits in built-in kinds", async () => {
    const revisions = "/apis/apps/v1/namespaces/default/controllerrevisions";
    await send("POST", "/api/v1/namespaces", '{"metadata":{"name":"default"}}');
    expect(
      await send("POST", revisions, '{"metadata":{"name":"r"},"data":{"a":1},"revision":9223372036854775807}'),
    ).toContain('"revision":9223372036854775807');
    const merge = { "content-type": "application/strategic-merge-patch+json" };
    expect(await send("PATCH", `${revisions}/r`, '{"metadata":{"labels":{"a":"b"}}}', merge)).toContain(
      '"revision":9223372036854775807',
    );
  });

  test("rounds amounts of resources up to thousandths", async () => {
    const container = '{"name":"c","image":"i","resources":{"limits":{"cpu":"1u","memory":0.0000001}}}';
    expect(
      await send(
        "POST",
        "/api/v1/namespaces/default/pods?dryRun=All",
        `{"metadata":{"name":"p"},"spec":{"containers":[${container}]}}`,
      ),
    ).toContain('"limits":{"cpu":"1m","memory":"1m"}');
  });
});
