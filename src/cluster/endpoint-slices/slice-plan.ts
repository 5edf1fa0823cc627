/** Distributes endpoints over slices of at most a hundred, with as few writes as possible. */
import type { Endpoint, EndpointPort, EndpointSlice } from "../../resource/builtin/index.ts";
import { sameJson } from "../../resource/json.ts";

export type Slice = EndpointSlice;

const CAPACITY = 100;

/** The endpoints that one set of ports should have. */
export interface PortGroup {
  readonly ports: readonly EndpointPort[];
  readonly endpoints: readonly Endpoint[];
}

export interface SlicePlan {
  readonly create: readonly PortGroup[];
  readonly update: readonly { readonly slice: Slice; readonly group: PortGroup }[];
  readonly remove: readonly Slice[];
}

/** The order of ports does not matter. */
export function portsId(ports: readonly EndpointPort[] | null | undefined): string {
  const each = (ports ?? []).map(({ name = "", port, protocol, appProtocol }) =>
    JSON.stringify([name, port, protocol, appProtocol]),
  );
  return each.toSorted().join();
}

/**
 * Keeps every endpoint in its slice, fills up slices that change anyway, and uses a new or an unchanged slice for the
 * rest only when necessary.
 *
 * @param isStale whether other fields of a slice must be written, such as its labels
 */
export function planSlices(
  existing: readonly Slice[],
  group: PortGroup,
  isStale: (slice: Slice) => boolean,
): SlicePlan {
  const left = new Map(group.endpoints.map((endpoint) => [endpointId(endpoint), endpoint]));
  const update = new Map<Slice, Endpoint[]>();
  const unchanged: Slice[] = [];
  const remove: Slice[] = [];
  for (const slice of existing) {
    const had = slice.endpoints ?? [];
    const remaining: Endpoint[] = [];
    let isChanged = false;
    for (const endpoint of had) {
      const id = endpointId(endpoint);
      const wanted = left.get(id);
      if (wanted === undefined) continue;
      left.delete(id);
      remaining.push(wanted);
      isChanged ||= !isSameEndpoint(wanted, endpoint);
    }
    if (remaining.length === 0 && had.length > 0) remove.push(slice);
    else if (isChanged || remaining.length !== had.length || isStale(slice)) update.set(slice, remaining);
    else unchanged.push(slice);
  }
  const rest = [...left.values()];
  const fullest = [...update.values()].toSorted((a, b) => b.length - a.length);
  for (const endpoints of fullest) endpoints.push(...rest.splice(0, CAPACITY - endpoints.length));
  const create: PortGroup[] = [];
  while (rest.length > 0) {
    const slice = rest.length < CAPACITY ? toFill(unchanged, rest.length) : undefined;
    if (slice === undefined) {
      create.push({ ports: group.ports, endpoints: rest.splice(0, CAPACITY) });
    } else {
      unchanged.splice(unchanged.indexOf(slice), 1);
      update.set(slice, [...(slice.endpoints ?? []), ...rest.splice(0)]);
    }
  }
  const updates = Array.from(update, ([slice, endpoints]) => ({ slice, group: { ports: group.ports, endpoints } }));
  return { create, update: updates, remove };
}

/** Returns the slice that is fullest once it has that many more endpoints. */
function toFill(slices: readonly Slice[], count: number): Slice | undefined {
  let best: Slice | undefined;
  let room = CAPACITY;
  for (const slice of slices) {
    const after = CAPACITY - (slice.endpoints?.length ?? 0) - count;
    if (after < 0 || after >= room) continue;
    best = slice;
    room = after;
  }
  return best;
}

/** Endpoints of the same pod at the same address are the same endpoint. */
function endpointId({ addresses, hostname = "", targetRef }: Endpoint): string {
  return JSON.stringify([addresses.toSorted(), hostname, targetRef?.namespace, targetRef?.name]);
}

function isSameEndpoint(a: Endpoint, b: Endpoint): boolean {
  const comparable = ({ nodeName, zone, conditions, targetRef }: Endpoint) => {
    const { ready, serving, terminating } = conditions ?? {};
    return [nodeName, zone, ready, serving, terminating, targetRef?.kind, targetRef?.uid];
  };
  return sameJson(comparable(a), comparable(b));
}
