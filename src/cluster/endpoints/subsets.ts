/** Groups addresses by their ports, in a canonical form that can be compared. */
import type { CoreEndpointPort, EndpointAddress, EndpointSubset } from "../../resource/builtin/index.ts";

/** One address on one port; `undefined` for a headless service without ports. */
export interface Place {
  readonly address: EndpointAddress;
  readonly port: CoreEndpointPort | undefined;
  readonly isReady: boolean;
}

/** The most addresses in Endpoints; ready ones take precedence. */
const CAPACITY = 1_000;

/** Groups addresses with the same ports into one subset, in a fixed order. */
export function subsetsOf(places: readonly Place[]): EndpointSubset[] {
  const byPort = new Map<string, { readonly port: CoreEndpointPort | undefined; readonly hosts: Map<string, Place> }>();
  for (const place of places) {
    const id = JSON.stringify(place.port ?? null);
    let entry = byPort.get(id);
    if (entry === undefined) byPort.set(id, (entry = { port: place.port, hosts: new Map() }));
    const host = hostOf(place);
    // An address that is both ready and not ready counts as not ready.
    if (entry.hosts.get(host)?.isReady !== false) entry.hosts.set(host, place);
  }
  const subsets = new Map<string, { readonly ports: CoreEndpointPort[]; readonly places: readonly Place[] }>();
  for (const { port, hosts } of byPort.values()) {
    const sorted = [...hosts].toSorted(([a], [b]) => (a < b ? -1 : 1));
    const id = JSON.stringify(sorted.map(([host]) => host));
    const places = sorted.map(([, place]) => place);
    const subset = subsets.get(id) ?? { ports: [], places };
    if (port !== undefined) subset.ports.push(port);
    subsets.set(id, subset);
  }
  return [...subsets.values()].map(toSubset).toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
}

function toSubset({
  ports,
  places,
}: {
  readonly ports: CoreEndpointPort[];
  readonly places: readonly Place[];
}): EndpointSubset {
  const of = (isReady: boolean) => places.filter((place) => place.isReady === isReady).map(({ address }) => address);
  const [addresses, notReadyAddresses] = [of(true), of(false)];
  return {
    ...(addresses.length > 0 && { addresses }),
    ...(notReadyAddresses.length > 0 && { notReadyAddresses }),
    ...(ports.length > 0 && { ports: ports.toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1)) }),
  };
}

/** Returns at most {@link CAPACITY} places, the ready ones first. */
export function withinCapacity(places: readonly Place[]): {
  readonly places: readonly Place[];
  readonly isCut: boolean;
} {
  if (places.length <= CAPACITY) return { places, isCut: false };
  const ready = places.filter(({ isReady }) => isReady);
  const others = places.filter(({ isReady }) => !isReady);
  return { places: [...ready, ...others].slice(0, CAPACITY), isCut: true };
}

function hostOf({ address }: Place): string {
  return `${address.ip} ${address.targetRef?.uid ?? ""}`;
}
