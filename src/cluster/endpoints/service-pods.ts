/** Finds the pods behind a service and their addresses. */
import type { Client } from "../../index.ts";
import { type Pod, Service, type ServicePort } from "../../resource/builtin/index.ts";
import { sameJson } from "../../resource/json.ts";
import { isFinished, isReady } from "../workload/pod-state.ts";

/** An empty selector selects nothing here. */
export function selects({ metadata, spec }: Service, pod: Pod): boolean {
  const selector = spec?.selector;
  if (selector === undefined || metadata.namespace !== pod.metadata.namespace) return false;
  return Object.entries(selector).every(([name, value]) => pod.metadata.labels?.[name] === value);
}

/** Returns the keys of the services that a change of a pod affects. */
export async function servicesOf(pod: Pod, client: Pick<Client, "list">): Promise<readonly Service[]> {
  const services = await client.list(Service, { namespace: pod.metadata.namespace });
  return services.filter((service) => selects(service, pod));
}

/** Whether a pod has changed in a way that affects services, which most changes do not. */
export function isChanged({ object, old }: { readonly object: Pod; readonly old?: Pod | undefined }): boolean {
  return old === undefined || !sameJson(relevant(object), relevant(old));
}

/** Returns the fields of a pod that matter to services. */
function relevant(pod: Pod): unknown {
  const { metadata, spec, status } = pod;
  const { labels, deletionTimestamp } = metadata;
  const { nodeName, hostname, subdomain } = spec;
  return [
    labels,
    deletionTimestamp === undefined,
    nodeName,
    hostname,
    subdomain,
    status?.podIPs,
    isReady(pod),
    isFinished(pod),
  ];
}

interface Membership {
  readonly includeTerminating: boolean;
}

export function isReachable(pod: Pod, { includeTerminating }: Membership): boolean {
  if (isFinished(pod) || addressesOf(pod).length === 0) return false;
  return includeTerminating || pod.metadata.deletionTimestamp === undefined;
}

export function addressesOf({ status }: Pod): readonly string[] {
  return status?.podIPs?.map(({ ip }) => ip).filter((ip) => ip !== "") ?? [];
}

export function isIPv6(ip: string): boolean {
  return ip.includes(":");
}

/** The DNS name of the pod within the service. */
export function hostnameOf({ metadata, spec }: Pod, service: Service): string | undefined {
  const { hostname, subdomain } = spec;
  const isNamed = subdomain === service.metadata.name && metadata.namespace === service.metadata.namespace;
  return isNamed && hostname ? hostname : undefined;
}

/** Returns the ports of a service with the pod's own numbers, without those for which the pod has none. */
export function portsOf(pod: Pod, { spec }: Service): readonly EndpointPort[] {
  return (spec?.ports ?? []).flatMap((servicePort) => {
    const port = targetPort(pod, servicePort);
    const { name, protocol, appProtocol } = servicePort;
    return port === undefined ? [] : [{ name, port, protocol, appProtocol }];
  });
}

/** A port at which endpoints are reached. */
interface EndpointPort extends Pick<ServicePort, "name" | "protocol" | "appProtocol"> {
  readonly port: number;
}

/** Returns the pod's own number for a service's port; `undefined` when it has no port of that name. */
function targetPort({ spec }: Pod, { targetPort: target, port, protocol = "TCP" }: ServicePort): number | undefined {
  if (typeof target !== "string") return target ?? port;
  const sidecars = spec.initContainers?.filter(({ restartPolicy }) => restartPolicy === "Always") ?? [];
  const ports = [...spec.containers, ...sidecars].flatMap(({ ports = [] }) => ports);
  return ports.find((one) => one.name === target && (one.protocol ?? "TCP") === protocol)?.containerPort;
}

export function isHeadless({ spec }: Service): boolean {
  return spec?.clusterIP === "None";
}

/** Whether the service has endpoints at all: services with an external name and those without a selector have none. */
export function hasPods({ spec }: Service): boolean {
  return spec?.type !== "ExternalName" && spec?.selector !== undefined;
}

/** Whether the service has a cluster IP of its own. */
export function hasAddress({ spec }: Service): boolean {
  return spec?.clusterIP !== undefined && spec.clusterIP !== "" && spec.clusterIP !== "None";
}

export const HEADLESS = "service.kubernetes.io/headless";
