import { describe, expect, test } from "bun:test";
import { type Place, subsetsOf, withinCapacity } from "./subsets.ts";

function place(ip: string, port: number | undefined, isReady = true): Place {
  return {
    address: { ip, targetRef: { kind: "Pod", name: ip, uid: ip } },
    port: port === undefined ? undefined : { port },
    isReady,
  };
}

describe("subsetsOf", () => {
  test("joins the ports of the same addresses, and the addresses of the same ports", () => {
    const subsets = subsetsOf([
      place("10.0.0.1", 80),
      place("10.0.0.2", 80),
      place("10.0.0.1", 90),
      place("10.0.0.2", 90),
    ]);
    expect(subsets).toHaveLength(1);
    expect(subsets[0]?.ports).toEqual([{ port: 80 }, { port: 90 }]);
    expect(subsets[0]?.addresses?.map(({ ip }) => ip)).toEqual(["10.0.0.1", "10.0.0.2"]);
  });

  test("keeps addresses with other ports apart", () => {
    const subsets = subsetsOf([place("10.0.0.1", 80), place("10.0.0.2", 90)]);
    expect(subsets.map(({ ports, addresses }) => [ports?.[0]?.port, addresses?.[0]?.ip])).toEqual([
      [80, "10.0.0.1"],
      [90, "10.0.0.2"],
    ]);
  });

  test("an address that is ready and not ready at one port is not ready", () => {
    const [subset] = subsetsOf([place("10.0.0.1", 80), place("10.0.0.1", 80, false), place("10.0.0.1", 80)]);
    expect(subset?.addresses).toBeUndefined();
    expect(subset?.notReadyAddresses).toHaveLength(1);
  });

  test("a headless service without ports has addresses alone", () => {
    expect(subsetsOf([place("10.0.0.1", undefined)])[0]).not.toHaveProperty("ports");
  });
});

describe("withinCapacity", () => {
  test("keeps ready addresses before others, a thousand in all", () => {
    const waiting = Array.from({ length: 10 }, (_, index) => place(`10.1.0.${index}`, 80, false));
    const ready = Array.from({ length: 995 }, (_, index) => place(`10.2.${index >> 8}.${index & 255}`, 80));
    const { places, isCut } = withinCapacity([...waiting, ...ready]);
    expect([places.length, isCut]).toEqual([1_000, true]);
    expect(places.filter(({ isReady }) => isReady)).toHaveLength(995);
    expect(withinCapacity(ready).isCut).toBe(false);
  });
});
