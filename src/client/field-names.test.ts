import { expect, test } from "bun:test";
import * as fc from "fast-check";
import { fieldNames, fieldsNamed, namedFields, namesIn, namesMore, parseFieldNames } from "./field-names.ts";

const deployment = {
  metadata: { labels: { "a/b": "1", "two words": "2" } },
  spec: {
    replicas: 1,
    gone: undefined,
    none: {},
    containers: [{ image: "i", name: "web", ports: [{ containerPort: 80 }], args: ["x"] }],
    rules: [{ verb: "get" }],
  },
};

test("fieldNames names fields and items, whatever their order", () => {
  const names =
    '(metadata(labels("two words",a/b)),spec(containers[web(args,image,name,ports[containerPort=80(containerPort)])],none(),replicas,rules[(verb)]))';
  expect(fieldNames(deployment)).toBe(names);
  const { spec, metadata } = deployment;
  expect(fieldNames({ spec, metadata })).toBe(names);
});

test("parseFieldNames reads what fieldNames wrote, and nothing else", () => {
  expect(parseFieldNames(fieldNames(deployment))).toEqual(namesIn(deployment));
  for (const text of ["", "#abc", "(a", "a)", "(a))", '("a)', "(a,", "hello"])
    expect(parseFieldNames(text)).toBeUndefined();
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (value) => {
      const names = parseFieldNames(fieldNames(value));
      expect(names && namesMore(names, value)).toBe(false);
    }),
  );
});

test("namesMore sees what a value no longer has", () => {
  const names = namesIn(deployment);
  const { spec, metadata } = deployment;
  const without = (change: object) => namesMore(names, { metadata, spec: { ...spec, ...change } });
  expect(without({ replicas: undefined })).toBe(true);
  expect(without({ containers: [{ ...spec.containers[0], name: "other" }] })).toBe(true);
  expect(without({ containers: [{ ...spec.containers[0], ports: [{ containerPort: 81 }] }] })).toBe(true);
  expect(without({ rules: [] })).toBe(true);
  expect(without({ rules: [{ verb: "get" }, { verb: "list" }], more: 1 })).toBe(false);
});

test("fieldsNamed leaves out what the names do not name, such as defaults", () => {
  const fields = {
    "f:spec": {
      "f:replicas": {},
      "f:strategy": { "f:type": {} },
      "f:none": { ".": {}, "f:default": {} },
      "f:containers": { 'k:{"name":"web"}': { ".": {}, "f:image": {}, "f:policy": {} }, 'k:{"name":"other"}': {} },
    },
  };
  expect(fieldsNamed(fields, namesIn(deployment))).toEqual({
    "f:spec": {
      "f:replicas": {},
      "f:none": { ".": {} },
      "f:containers": { 'k:{"name":"web"}': { ".": {}, "f:image": {} } },
    },
  });
});

test("namedFields are those of a live value, with the keys of its items", () => {
  const live = {
    spec: {
      replicas: 3,
      containers: [
        { name: "theirs" },
        {
          name: "web",
          image: "j",
          ports: [
            { containerPort: 80, protocol: "UDP" },
            { containerPort: 80, protocol: "TCP" },
          ],
        },
      ],
      rules: [{ verb: "get" }],
    },
  };
  const whole = (fields: object) => ({ ".": {}, ...fields });
  expect(namedFields(namesIn(deployment), live)).toEqual(
    whole({
      "f:spec": whole({
        "f:replicas": {},
        "f:containers": {
          'k:{"name":"web"}': whole({
            "f:image": {},
            "f:name": {},
            "f:ports": { 'k:{"containerPort":80,"protocol":"TCP"}': whole({ "f:containerPort": {} }) },
          }),
        },
        "f:rules": {},
      }),
    }),
  );
});
