import { array, assert, constantFrom, dictionary, property, record } from "fast-check";
import { expect, test } from "bun:test";
import type { AnyObject } from "../resource/handle.ts";
import { parseLabelSelector } from "../resource/selector.ts";
import { LabelSieve } from "./label-sieve.ts";
import { WantedBodies } from "./wanted-bodies.ts";

interface Given {
  readonly ours: boolean;
  readonly labels: Record<string, string>;
}

const names = constantFrom("app", "tier", "owner", "shard");
const given = array(
  record({ ours: constantFrom(true, false), labels: dictionary(names, constantFrom("a", "b"), { maxKeys: 3 }) }),
  { minLength: 1, maxLength: 40 },
);

test("the selector shows every object of interest, and as many others as it says", () => {
  assert(
    property(given, (objects) => {
      const sieve = new LabelSieve();
      for (const { ours, labels } of objects) {
        if (ours) sieve.wanted(labels);
        else sieve.other({ labels });
      }
      if (!objects.some(({ ours }) => ours)) return;
      const { selector, others } = sieve.best();
      const matches = (one: Given): boolean => selector === "" || parseLabelSelector(selector).matches(one.labels);
      expect(objects.filter(({ ours }) => ours).every(matches)).toBe(true);
      expect(objects.filter((one) => !one.ours && matches(one))).toHaveLength(others);
    }),
  );
});

test("labels of others are looked at in a sample, however many there are", () => {
  let looks = 0;
  const sieve = new LabelSieve();
  sieve.wanted();
  for (let index = 0; index < 100_000; index++) {
    sieve.other({
      get labels() {
        looks++;
        return index % 4 === 0 ? undefined : { app: "bulk" };
      },
    });
  }
  const { selector, others } = sieve.best();
  expect(selector).toBe("!app");
  expect(others).toBeGreaterThan(15_000);
  expect(others).toBeLessThan(35_000);
  expect(looks).toBeLessThan(2_000);
});

function object(name: string, options: { ours?: boolean; namespace?: string; labels?: Given["labels"] }): AnyObject {
  const { ours = false, namespace, labels } = options;
  const metadata = { name, namespace, labels, uid: name, resourceVersion: "1", creationTimestamp: "" };
  const owner = { apiVersion: "v1", kind: "Widget", name: "w", uid: "w" };
  return { apiVersion: "v1", kind: "ConfigMap", metadata: ours ? { ...metadata, ownerReferences: [owner] } : metadata };
}

function seen(objects: Iterable<AnyObject>): WantedBodies {
  const bodies = new WantedBodies(({ metadata }) => metadata.ownerReferences !== undefined);
  for (const one of objects) bodies.see(one);
  return bodies;
}

const many = (count: number, make: (index: number) => AnyObject): AnyObject[] =>
  Array.from({ length: count }, (_, i) => make(i));

test("few objects are got by their names, and a namespace of nothing else as a whole", () => {
  const others = many(5_000, (index) => object(`o${index}`, { namespace: `n${index % 50}` }));
  const ours = [
    object("x", { ours: true, namespace: "n3" }),
    ...many(10, (index) => object(`y${index}`, { ours: true, namespace: "own" })),
  ];
  const bodies = seen([...others, ...ours]);
  expect([bodies.size, bodies.wanted, bodies.fetching()]).toEqual([5_011, 11, { kind: "places" }]);
  expect(bodies.places()).toEqual([
    { namespace: "n3", names: ["x"] },
    { namespace: "own", names: undefined },
  ]);
});

test("many objects are got by a selector that shows few others, and with all where there is none", () => {
  const others = (labels?: Given["labels"]) =>
    many(5_000, (index) => object(`o${index}`, { namespace: "n", ...(labels && { labels }) }));
  const ours = many(500, (index) =>
    object(`x${index}`, { ours: true, namespace: "n", labels: { by: `${index % 3}` } }),
  );
  expect(seen([...others(), ...ours]).fetching()).toEqual({ kind: "selector", selector: "by", objects: 500 });
  expect(seen([...others({ by: "them" }), ...ours]).fetching()).toEqual({ kind: "all" });
});

test("what came, has gone or is wanted no more is not waited for", () => {
  const ours = many(3, (index) => object(`x${index}`, { ours: true }));
  const bodies = seen(ours);
  expect([bodies.forget(ours[0]!), bodies.forget(ours[0]!), bodies.see(object("x1", {})), bodies.wanted]).toEqual([
    true,
    false,
    false,
    1,
  ]);
  expect(bodies.places()).toEqual([{ namespace: "", names: ["x2"] }]);
});
