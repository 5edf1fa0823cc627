/** Mirrors Endpoints that somebody wrote by hand, for a service without a selector, into EndpointSlices. */
import { allow, defineKeyController, type Definition, watch } from "../../index.ts";
import {
  type Endpoint,
  type EndpointAddress,
  Endpoints,
  EndpointSlice,
  Service,
} from "../../resource/builtin/index.ts";
import { sameJson } from "../../resource/json.ts";
import { isIPv6 } from "../endpoints/service-pods.ts";
import { TRIGGER_TIME } from "../endpoints/trigger-time.ts";
import { type PortGroup, planSlices, portsId, type Slice } from "./slice-plan.ts";
import {
  MANAGED_BY,
  removeSlice,
  reuseSlices,
  SERVICE,
  type SliceFrame,
  type SliceWrites,
  writeSlices,
} from "./slice-writes.ts";

const NAME = "endpointslicemirroring-controller.k8s.io";
const SKIP = "endpointslice.kubernetes.io/skip-mirror";
const LEADER = "control-plane.alpha.kubernetes.io/leader";
const LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration";
/** The most addresses of one subset that are mirrored. */
const MAX_MIRRORED = 1_000;

/** @see https://kubernetes.io/docs/concepts/services-networking/service/#endpointslice-mirroring */
export function endpointSliceMirroring(): Definition {
  return defineKeyController({
    name: "endpointslicemirroring-controller",
    watches: [
      watch(Service, { enqueue: (service) => [service] }),
      watch(Endpoints, { enqueue: (endpoints) => [endpoints] }),
      watch(EndpointSlice, {
        labels: `${MANAGED_BY}=${NAME}`,
        enqueue: ({ metadata: { namespace, labels } }) => [{ namespace, name: labels?.[SERVICE] ?? "" }],
      }),
    ],
    uses: [allow(EndpointSlice, "create", "update", "delete")],
    async reconcile({ namespace = "", name }, { client }) {
      const key = { namespace, name };
      const [endpoints, service] = await Promise.all([client.find(Endpoints, key), client.find(Service, key)]);
      const existing = await client.list(EndpointSlice, { namespace, labels: { [SERVICE]: name, [MANAGED_BY]: NAME } });
      const isMirrored = endpoints !== undefined && service !== undefined && service.spec?.selector === undefined;
      if (!isMirrored || !isToMirror(endpoints)) {
        for (const { metadata } of existing) await removeSlice(client, metadata);
        return;
      }
      await writeSlices(client, reuseSlices(plan(endpoints, existing)));
    },
  });
}

function isToMirror({ metadata: { labels, annotations } }: Endpoints): boolean {
  return labels?.[SKIP] !== "true" && annotations?.[LEADER] === undefined;
}

function plan(endpoints: Endpoints, existing: readonly Slice[]): SliceWrites {
  const writes = (["IPv4", "IPv6"] as const).map((addressType): SliceWrites => {
    const { labels } = endpoints.metadata;
    const annotations = without(endpoints.metadata.annotations ?? {}, [TRIGGER_TIME, LAST_APPLIED]);
    const frame: SliceFrame = {
      owner: endpoints,
      addressType,
      labels: { ...labels, [SERVICE]: endpoints.metadata.name, [MANAGED_BY]: NAME },
      annotate: () => annotations,
    };
    const own = existing.filter((slice) => slice.addressType === addressType);
    const isStale = ({ metadata }: Slice) =>
      !sameJson(metadata.labels ?? {}, frame.labels) ||
      !sameJson(metadata.annotations ?? {}, annotations) ||
      metadata.ownerReferences?.some(({ uid }) => uid === endpoints.metadata.uid) !== true;
    const groups = groupsOf(endpoints, addressType);
    const plans = Array.from(groups, ([id, group]) =>
      planSlices(
        own.filter(({ ports }) => portsId(ports) === id),
        group,
        isStale,
      ),
    );
    return {
      create: plans.flatMap(({ create }) => create).map((group) => ({ group, frame })),
      update: plans.flatMap(({ update }) => update).map((one) => ({ ...one, frame })),
      remove: [...plans.flatMap(({ remove }) => remove), ...own.filter(({ ports }) => !groups.has(portsId(ports)))],
    };
  });
  return {
    create: writes.flatMap(({ create }) => create),
    update: writes.flatMap(({ update }) => update),
    remove: writes.flatMap(({ remove }) => remove),
  };
}

function groupsOf({ subsets = [] }: Endpoints, addressType: "IPv4" | "IPv6"): ReadonlyMap<string, PortGroup> {
  const groups = new Map<string, { readonly ports: PortGroup["ports"]; readonly endpoints: Endpoint[] }>();
  for (const { addresses = [], notReadyAddresses = [], ports: subsetPorts = [] } of subsets) {
    const ports = subsetPorts.map(({ name = "", port, protocol, appProtocol }) => ({
      name,
      port,
      protocol,
      appProtocol,
    }));
    const all = [
      ...addresses.map((address) => endpointOf(address, true)),
      ...notReadyAddresses.map((address) => endpointOf(address, false)),
    ];
    const own = all
      .slice(0, MAX_MIRRORED)
      .filter(({ addresses: [ip = ""] }) => isIPv6(ip) === (addressType === "IPv6"));
    if (own.length === 0) continue;
    const id = portsId(ports);
    const group = groups.get(id) ?? { ports, endpoints: [] };
    group.endpoints.push(...own);
    groups.set(id, group);
  }
  return groups;
}

function endpointOf({ ip, targetRef, nodeName, hostname }: EndpointAddress, ready: boolean): Endpoint {
  return {
    addresses: [ip],
    conditions: { ready },
    ...(targetRef !== undefined && { targetRef }),
    ...(nodeName !== undefined && { nodeName }),
    ...(hostname !== undefined && { hostname }),
  };
}

function without(
  annotations: Readonly<Record<string, string>>,
  names: readonly string[],
): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(annotations).filter(([name]) => !names.includes(name)));
}
