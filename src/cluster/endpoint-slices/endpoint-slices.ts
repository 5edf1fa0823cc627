/** Maintains EndpointSlices, which list the pods of each service, at most a hundred in each slice. */
import { allow, defineKeyController, type Definition, watch } from "../../index.ts";
import { type Endpoint, type EndpointPort, EndpointSlice, Node, Pod, Service } from "../../resource/builtin/index.ts";
import { sameJson } from "../../resource/json.ts";
import {
  addressesOf,
  hasAddress,
  hasPods,
  HEADLESS,
  hostnameOf,
  isChanged,
  isIPv6,
  isReachable,
  selects,
  servicesOf,
  portsOf,
} from "../endpoints/service-pods.ts";
import { TRIGGER_TIME, TriggerTimes } from "../endpoints/trigger-time.ts";
import { isReady } from "../workload/pod-state.ts";
import { type PortGroup, planSlices, portsId, type Slice } from "./slice-plan.ts";
import {
  isOwnedBy,
  MANAGED_BY,
  removeSlice,
  reuseSlices,
  SERVICE,
  type SliceFrame,
  type SliceWrites,
  writeSlices,
} from "./slice-writes.ts";

const RESERVED = new Set([HEADLESS, SERVICE, MANAGED_BY]);
const NAME = "endpointslice-controller.k8s.io";
const ZONE = "topology.kubernetes.io/zone";

/** @see https://kubernetes.io/docs/concepts/services-networking/endpoint-slices/ */
export function endpointSliceController(): Definition {
  const triggers = new TriggerTimes();
  return defineKeyController({
    name: "endpointslice-controller",
    watches: [
      watch(Service, { enqueue: (service) => [service] }),
      watch(Pod, { on: isChanged, enqueue: (pod, { client }) => servicesOf(pod, client) }),
      watch(EndpointSlice, { labels: `${MANAGED_BY}=${NAME}`, enqueue: serviceOf }),
    ],
    reads: [Node],
    uses: [allow(EndpointSlice, "create", "update", "delete")],
    async reconcile({ namespace = "", name }, { client }) {
      const service = await client.find(Service, { namespace, name });
      const labels = { [SERVICE]: name, [MANAGED_BY]: NAME };
      if (service === undefined || !hasPods(service)) return; // the garbage collector or their creator removes them
      const existing = (await client.list(EndpointSlice, { namespace, labels })).filter(
        ({ metadata }) => metadata.deletionTimestamp === undefined,
      );
      const pods = (await client.list(Pod, { namespace })).filter((pod) => selects(service, pod));
      const zones = new Map<string, string | undefined>();
      for (const { metadata } of await client.list(Node)) zones.set(metadata.name, metadata.labels?.[ZONE]);
      const trigger = triggers.since(service, pods);
      const writes = familiesOf(service).map((addressType) => {
        const frame: SliceFrame = {
          owner: service,
          addressType,
          labels: labelsOf(service),
          annotate: ({ [TRIGGER_TIME]: _before, ...others }) =>
            trigger === undefined ? others : { ...others, [TRIGGER_TIME]: trigger },
        };
        return plan(service, {
          pods,
          zones,
          frame,
          existing: existing.filter((slice) => slice.addressType === addressType),
        });
      });
      const families = familiesOf(service);
      const others = existing.filter(({ addressType }) => !families.includes(addressType as "IPv4" | "IPv6"));
      for (const write of writes) {
        const { create, ...rest } = reuseSlices(write);
        const isLeaving = service.metadata.deletionTimestamp !== undefined;
        await writeSlices(client, { ...rest, create: isLeaving ? [] : create });
      }
      for (const { metadata } of others) await removeSlice(client, metadata);
    },
  });
}

function serviceOf({
  metadata: { namespace, labels },
}: Slice): { readonly namespace?: string | undefined; readonly name: string }[] {
  const name = labels?.[SERVICE];
  return name === undefined ? [] : [{ namespace, name }];
}

interface Planning {
  readonly pods: readonly Pod[];
  /** The zones of existing nodes, by node name. */
  readonly zones: ReadonlyMap<string, string | undefined>;
  readonly frame: SliceFrame;
  readonly existing: readonly Slice[];
}

function plan(service: Service, { pods, zones, frame, existing }: Planning): SliceWrites {
  const groups = new Map<string, { readonly ports: readonly EndpointPort[]; readonly endpoints: Endpoint[] }>();
  for (const pod of pods) {
    if (!isReachable(pod, { includeTerminating: true })) continue;
    const ports = portsOf(pod, service).map(({ name = "", ...port }) => ({ name, ...port }));
    const id = portsId(ports);
    const group = groups.get(id) ?? { ports, endpoints: [] };
    groups.set(id, group);
    const { nodeName = "" } = pod.spec;
    if (!zones.has(nodeName) && service.spec?.publishNotReadyAddresses !== true) continue; // its node is gone, so the pod will go too
    const addresses = addressesOf(pod).filter((ip) => isIPv6(ip) === (frame.addressType === "IPv6"));
    if (addresses.length > 0) group.endpoints.push(endpointOf(pod, service, { addresses, zone: zones.get(nodeName) }));
  }
  const own = existing.filter((slice) => isOwnedBy(slice, frame.owner));
  const isStale = ({ metadata }: Slice) => !sameJson(withoutReserved(metadata.labels), withoutReserved(frame.labels));
  const remove: Slice[] = existing.filter((slice) => !own.includes(slice));
  const create: PortGroup[] = [];
  const update: { readonly slice: Slice; readonly group: PortGroup }[] = [];
  for (const [id, group] of groups) {
    const planned = planSlices(
      own.filter(({ ports }) => portsId(ports) === id),
      group,
      isStale,
    );
    create.push(...planned.create);
    update.push(...planned.update);
    remove.push(...planned.remove);
  }
  remove.push(...own.filter(({ ports }) => !groups.has(portsId(ports))));
  // A service without endpoints has one empty slice.
  if (existing.length === remove.length && create.length === 0) {
    const placeholder = remove.length === 1 ? remove[0] : undefined;
    const stays =
      placeholder !== undefined && isOwnedBy(placeholder, frame.owner) && isEmpty(placeholder) && !isStale(placeholder);
    if (stays) remove.length = 0;
    else create.push({ ports: [], endpoints: [] });
  }
  return {
    create: create.map((group) => ({ group, frame })),
    update: update.map((one) => ({ ...one, frame })),
    remove,
  };
}

function isEmpty({ endpoints, ports }: Slice): boolean {
  return (endpoints ?? []).length === 0 && (ports ?? []).length === 0;
}

function endpointOf(
  pod: Pod,
  service: Service,
  { addresses, zone }: { readonly addresses: readonly string[]; readonly zone: string | undefined },
): Endpoint {
  const { namespace, name, uid, deletionTimestamp } = pod.metadata;
  const { nodeName } = pod.spec;
  const serving = isReady(pod);
  const terminating = deletionTimestamp !== undefined;
  const ready = service.spec?.publishNotReadyAddresses === true || (serving && !terminating);
  const hostname = hostnameOf(pod, service);
  return {
    addresses,
    conditions: { ready, serving, terminating },
    targetRef: { kind: "Pod", namespace, name, uid },
    ...(nodeName !== undefined && { nodeName }),
    ...(zone !== undefined && { zone }),
    ...(hostname !== undefined && { hostname }),
  };
}

function labelsOf(service: Service): Readonly<Record<string, string>> {
  return {
    ...withoutReserved(service.metadata.labels),
    ...(!hasAddress(service) && { [HEADLESS]: "" }),
    [SERVICE]: service.metadata.name,
    [MANAGED_BY]: NAME,
  };
}

function withoutReserved(labels: Readonly<Record<string, string>> = {}): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(labels).filter(([name]) => !RESERVED.has(name)));
}

function familiesOf({ spec }: Service): readonly ("IPv4" | "IPv6")[] {
  const families = spec?.ipFamilies?.filter(
    (family): family is "IPv4" | "IPv6" => family === "IPv4" || family === "IPv6",
  );
  return families === undefined || families.length === 0 ? ["IPv4"] : families;
}
