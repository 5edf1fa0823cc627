/** What every cluster has from its first moment. */
import { randomUUID } from "node:crypto";
import type { KubeObject } from "../hooks.ts";
import type { Storage } from "../storage/storage.ts";
import objectsText from "./objects.txt" with { type: "text" };

export interface BootstrapOptions {
  readonly storage: Storage;
  /** RFC 3339 in whole seconds. */
  readonly now: string;
  /** The port of the service `kubernetes`. */
  readonly port: number;
}

/** Adds what is missing. */
export function bootstrap({ storage, now, port }: BootstrapOptions): void {
  const add = (collection: string, key: string, object: KubeObject): void => {
    const into = storage.collection(collection);
    if (into.get(key) !== undefined) return;
    const { kind, apiVersion, metadata, ...rest } = object;
    const own = { ...metadata, uid: randomUUID(), resourceVersion: "", creationTimestamp: now };
    storage.put(into, key, { kind, apiVersion, metadata: own, ...rest });
  };
  const known = JSON.parse(objectsText.replaceAll("NOW", now)) as readonly [collection: string, object: KubeObject][];
  for (const [collection, object] of known) {
    const { namespace, name = "" } = object.metadata;
    add(collection, namespace === undefined ? name : `${namespace}/${name}`, object);
  }
  add("networking.k8s.io/servicecidrs", "kubernetes", {
    kind: "ServiceCIDR",
    apiVersion: "networking.k8s.io/v1",
    metadata: { name: "kubernetes", finalizers: ["networking.k8s.io/service-cidr-finalizer"] },
    spec: { cidrs: ["10.96.0.0/16"] },
    status: {
      conditions: [
        {
          type: "Ready",
          status: "True",
          lastTransitionTime: now,
          reason: "",
          message: "Kubernetes Service CIDR is ready",
        },
      ],
    },
  });
  add("networking.k8s.io/ipaddresses", "10.96.0.1", {
    kind: "IPAddress",
    apiVersion: "networking.k8s.io/v1",
    metadata: {
      name: "10.96.0.1",
      labels: {
        "ipaddress.kubernetes.io/ip-family": "IPv4",
        "ipaddress.kubernetes.io/managed-by": "ipallocator.k8s.io",
      },
    },
    spec: { parentRef: { resource: "services", namespace: "default", name: "kubernetes" } },
  });
  add("/services", "default/kubernetes", {
    kind: "Service",
    apiVersion: "v1",
    metadata: { name: "kubernetes", namespace: "default", labels: { component: "apiserver", provider: "kubernetes" } },
    spec: {
      ports: [{ name: "https", protocol: "TCP", port: 443, targetPort: port }],
      clusterIP: "10.96.0.1",
      clusterIPs: ["10.96.0.1"],
      type: "ClusterIP",
      sessionAffinity: "None",
      ipFamilies: ["IPv4"],
      ipFamilyPolicy: "SingleStack",
      internalTrafficPolicy: "Cluster",
    },
    status: { loadBalancer: {} },
  });
}
