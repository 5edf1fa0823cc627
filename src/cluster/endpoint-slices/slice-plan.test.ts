import { describe, expect, test } from "bun:test";
import type { Endpoint } from "../../resource/builtin/index.ts";
import { planSlices, portsId, type Slice } from "./slice-plan.ts";

const ports = [{ name: "", port: 80, protocol: "TCP" }];

function endpoint(index: number, ready = true): Endpoint {
  const name = `pod-${index}`;
  return {
    addresses: [`10.0.${index >> 8}.${index & 255}`],
    conditions: { ready, serving: ready, terminating: false },
    targetRef: { kind: "Pod", namespace: "shop", name, uid: name },
  };
}

function range(from: number, to: number): Endpoint[] {
  return Array.from({ length: to - from }, (_, index) => endpoint(from + index));
}

function slice(name: string, endpoints: readonly Endpoint[]): Slice {
  const metadata = { name, namespace: "shop", uid: name, resourceVersion: "1", creationTimestamp: "" };
  return { apiVersion: "discovery.k8s.io/v1", kind: "EndpointSlice", metadata, addressType: "IPv4", ports, endpoints };
}

const fresh = (): boolean => false;

describe("planSlices", () => {
  test("fills slices of a hundred", () => {
    const { create, update, remove } = planSlices([], { ports, endpoints: range(0, 250) }, fresh);
    expect(create.map(({ endpoints }) => endpoints.length)).toEqual([100, 100, 50]);
    expect([update, remove]).toEqual([[], []]);
  });

  test("writes nothing when nothing differs", () => {
    const existing = [slice("a", range(0, 100)), slice("b", range(100, 120))];
    const plan = planSlices(existing, { ports, endpoints: range(0, 120).reverse() }, fresh);
    expect(plan).toEqual({ create: [], update: [], remove: [] });
  });

  test("keeps endpoints where they are: one that changed is one write", () => {
    const existing = [slice("a", range(0, 100)), slice("b", range(100, 120))];
    const endpoints = [...range(0, 119), endpoint(119, false)];
    const { create, update, remove } = planSlices(existing, { ports, endpoints }, fresh);
    expect([create, remove]).toEqual([[], []]);
    expect(update.map(({ slice: { metadata } }) => metadata.name)).toEqual(["b"]);
    expect(update[0]?.group.endpoints).toHaveLength(20);
  });

  test("puts new endpoints into a slice that changes anyway, else into the fullest with room", () => {
    const changing = planSlices(
      [slice("a", range(0, 90)), slice("b", range(100, 120))],
      { ports, endpoints: [...range(0, 90), ...range(101, 120), endpoint(500)] },
      fresh,
    );
    expect(changing.update.map(({ slice: { metadata } }) => metadata.name)).toEqual(["b"]);
    const growing = planSlices(
      [slice("a", range(0, 90)), slice("b", range(100, 120))],
      { ports, endpoints: [...range(0, 90), ...range(100, 120), endpoint(500)] },
      fresh,
    );
    expect(growing.update.map(({ slice: { metadata } }) => metadata.name)).toEqual(["a"]);
    expect(growing.create).toEqual([]);
  });

  test("removes a slice that has nothing left", () => {
    const existing = [slice("a", range(0, 10)), slice("b", range(100, 110))];
    const { create, update, remove } = planSlices(existing, { ports, endpoints: range(0, 10) }, fresh);
    expect([create, update]).toEqual([[], []]);
    expect(remove.map(({ metadata }) => metadata.name)).toEqual(["b"]);
  });

  test("writes a slice whose labels are stale as it is", () => {
    const { update } = planSlices([slice("a", range(0, 3))], { ports, endpoints: range(0, 3) }, () => true);
    expect(update[0]?.group.endpoints).toEqual(range(0, 3));
  });

  test("ports in another order are the same ports", () => {
    const [one, other] = [
      { name: "a", port: 1 },
      { name: "b", port: 2 },
    ];
    expect(portsId([one, other])).toBe(portsId([other, one]));
    expect(portsId([one])).not.toBe(portsId([other]));
    expect(portsId(null)).toBe(portsId([]));
  });
});
