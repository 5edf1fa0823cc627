/** Maintains Endpoints, which list the pods of each service in one object. */
import { allow, type Client, defineKeyController, type Definition, watch } from "../../index.ts";
import { Endpoints, Pod, Service } from "../../resource/builtin/index.ts";
import { sameJson } from "../../resource/json.ts";
import { isNamespaceTerminating } from "../workload/pod-control.ts";
import { isReady } from "../workload/pod-state.ts";
import {
  addressesOf,
  hasAddress,
  hasPods,
  HEADLESS,
  hostnameOf,
  isChanged,
  isHeadless,
  isIPv6,
  isReachable,
  selects,
  servicesOf,
  portsOf,
} from "./service-pods.ts";
import { type Place, subsetsOf, withinCapacity } from "./subsets.ts";
import { TRIGGER_TIME, TriggerTimes } from "./trigger-time.ts";

const MANAGED_BY = "endpoints.kubernetes.io/managed-by";
const OWN = new Set([HEADLESS, MANAGED_BY]);
const OVER_CAPACITY = "endpoints.kubernetes.io/over-capacity";

/** @see https://kubernetes.io/docs/concepts/services-networking/service/#endpoints */
export function endpointsController(): Definition {
  const triggers = new TriggerTimes();
  return defineKeyController({
    name: "endpoint-controller",
    watches: [
      watch(Service, { enqueue: (service) => [service] }),
      watch(Pod, { on: isChanged, enqueue: (pod, { client }) => servicesOf(pod, client) }),
      watch(Endpoints, { on: ({ type }) => type === "delete", enqueue: (endpoints) => [endpoints] }),
    ],
    uses: [allow(Endpoints, "create", "update", "delete")],
    async reconcile({ namespace = "", name }, { client }) {
      const key = { namespace, name };
      const [service, current] = await Promise.all([client.find(Service, key), client.find(Endpoints, key)]);
      if (service === undefined) {
        if (current !== undefined) await client.delete(Endpoints, key);
        return;
      }
      if (!hasPods(service)) return;
      const pods = (await client.list(Pod, { namespace })).filter((pod) => selects(service, pod));
      const trigger = triggers.since(service, pods);
      const { places, isCut } = withinCapacity(pods.flatMap((pod) => placesOf(pod, service)));
      const wanted = withAnnotations(current, {
        labels: {
          ...service.metadata.labels,
          ...(!hasAddress(service) && { [HEADLESS]: "" }),
          [MANAGED_BY]: "endpoint-controller",
        },
        subsets: subsetsOf(places),
        annotations: { [TRIGGER_TIME]: trigger, [OVER_CAPACITY]: isCut ? "truncated" : undefined },
      });
      if (current !== undefined && isCurrent(current, wanted)) return;
      await write(client, { ...wanted, metadata: { ...current?.metadata, ...key, ...wanted.metadata } }, current);
    },
  });
}

function placesOf(pod: Pod, service: Service): Place[] {
  const { publishNotReadyAddresses = false, ports = [], ipFamilies } = service.spec ?? {};
  if (!isReachable(pod, { includeTerminating: publishNotReadyAddresses })) return [];
  const wantsIPv6 = ipFamilies?.[0] === "IPv6";
  const ip = addressesOf(pod).find((one) => isIPv6(one) === wantsIPv6);
  if (ip === undefined) return [];
  const { namespace, name, uid } = pod.metadata;
  const { nodeName } = pod.spec;
  const hostname = hostnameOf(pod, service);
  const address = {
    ip,
    ...(hostname !== undefined && { hostname }),
    ...(nodeName !== undefined && { nodeName }),
    targetRef: { kind: "Pod", namespace, name, uid },
  };
  const is = { address, isReady: publishNotReadyAddresses || isReady(pod) };
  if (ports.length === 0) return isHeadless(service) ? [{ ...is, port: undefined }] : [];
  return portsOf(pod, service).map((port) => ({ ...is, port }));
}

interface Wanted {
  readonly labels: Readonly<Record<string, string>>;
  readonly subsets: ReturnType<typeof subsetsOf>;
  /** Sets the annotation; `undefined` removes it. */
  readonly annotations: Readonly<Record<string, string | undefined>>;
}

type Body = Pick<Endpoints, "subsets"> & { readonly metadata: Pick<Endpoints["metadata"], "labels" | "annotations"> };

function withAnnotations(current: Endpoints | undefined, { labels, subsets, annotations }: Wanted): Body {
  const all: Record<string, string> = { ...current?.metadata.annotations };
  for (const [name, value] of Object.entries(annotations)) {
    if (value === undefined) delete all[name];
    else all[name] = value;
  }
  return { metadata: { labels, annotations: all }, ...(subsets.length > 0 && { subsets }) };
}

/** Compares without the trigger time: a new trigger time alone is not a change. */
function isCurrent({ metadata, subsets = [] }: Endpoints, wanted: Body): boolean {
  const { labels, annotations } = wanted.metadata;
  const own = Object.entries(metadata.labels ?? {}).filter(([name]) => !OWN.has(name));
  const theirs = Object.entries(labels ?? {}).filter(([name]) => !OWN.has(name));
  return (
    sameJson(subsets, wanted.subsets ?? []) &&
    sameJson(Object.fromEntries(own), Object.fromEntries(theirs)) &&
    metadata.labels?.[MANAGED_BY] === labels?.[MANAGED_BY] &&
    metadata.annotations?.[OVER_CAPACITY] === annotations?.[OVER_CAPACITY]
  );
}

async function write(client: Client, endpoints: Endpoints | Body, current: Endpoints | undefined): Promise<void> {
  if (current !== undefined) {
    await client.update(Endpoints, endpoints as Endpoints);
    return;
  }
  try {
    await client.create(Endpoints, endpoints as Endpoints);
  } catch (error) {
    if (!isNamespaceTerminating(error)) throw error;
  }
}
