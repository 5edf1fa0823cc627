/** Creates the objects that every cluster has from its first moment. */
import { randomUUID } from "node:crypto";
import type { Fields, KubeObject } from "../hooks.ts";
import type { Storage } from "../storage/storage.ts";
import { deepEquals } from "#platform/equality";
import { aggregatedRules, aggregator } from "../registry/aggregation.ts";
import type { ServiceRanges } from "../validation/core/service-ranges.ts";
import objectsText from "./objects.txt" with { type: "text" };

export interface BootstrapOptions {
  readonly storage: Storage;
  /** RFC 3339 in whole seconds. */
  readonly now: string;
  /** The port of the service `kubernetes`. */
  readonly port: number;
  /** The addresses of services, of which the service `kubernetes` has the first one. */
  readonly ranges: ServiceRanges;
  /** Roles that aggregate the rules of others have these rules from the beginning. */
  readonly aggregates: boolean;
}

type Known = readonly (readonly [collection: string, object: KubeObject])[];

/** Milliseconds. */
const MINUTE = 60_000;

/**
 * Servers that start within a minute share their initial objects and the times in them: stored objects are never
 * changed.
 */
let last: { readonly at: number; readonly known: Known; aggregated?: Known } | undefined;

function knownAt(now: string, aggregates: boolean): Known {
  const at = Date.parse(now);
  if (last === undefined || at < last.at || at - last.at > MINUTE) {
    last = { at, known: JSON.parse(objectsText.replaceAll("NOW", now)) as Known };
  }
  return aggregates ? (last.aggregated ??= aggregated(last.known, now)) : last.known;
}

/**
 * Adds the rules that roles aggregate, also from roles that aggregate themselves: `admin` has the rules of `edit`,
 * which has those of `view`.
 */
function aggregated(known: Known, now: string): Known {
  const roles = known.flatMap(([, one]) => (one.kind === "ClusterRole" ? [one] : []));
  for (let isChanging = true; isChanging;) {
    isChanging = false;
    for (const [index, role] of roles.entries()) {
      const rules = aggregatedRules(role, roles);
      if (rules === undefined || deepEquals(rules, role["rules"] ?? [])) continue;
      roles[index] = { ...role, rules };
      isChanging = true;
    }
  }
  const filled = new Map(roles.map((role) => [role.metadata.name, role]));
  return known.map(([collection, object]) => {
    const role = object.kind === "ClusterRole" ? filled.get(object.metadata.name) : undefined;
    if (role === undefined || role === object) return [collection, object];
    const { apiVersion, metadata } = role;
    const fieldsV1 = { "f:rules": {} };
    const own = { manager: aggregator, operation: "Apply", apiVersion, time: now, fieldsType: "FieldsV1", fieldsV1 };
    return [
      collection,
      { ...role, metadata: { ...metadata, managedFields: [own, ...(metadata.managedFields ?? [])] } },
    ];
  });
}

/** Adds the initial objects that are missing. */
export function bootstrap({ storage, now, port, ranges, aggregates }: BootstrapOptions): void {
  const own = ranges.addressAt(1);
  const add = (collection: string, key: string, object: KubeObject): void => {
    const into = storage.collection(collection);
    if (into.get(key) !== undefined) return;
    const { kind, apiVersion, metadata, ...rest } = object;
    const stored = { ...metadata, uid: randomUUID(), resourceVersion: "", creationTimestamp: now };
    storage.put(into, key, { kind, apiVersion, metadata: stored, ...rest });
  };
  const written = (apiVersion: string, fieldsV1: Fields): Fields[] => [
    { manager: "kube-apiserver", operation: "Update", apiVersion, time: now, fieldsType: "FieldsV1", fieldsV1 },
  ];
  for (const [collection, object] of knownAt(now, aggregates)) {
    const { namespace, name = "" } = object.metadata;
    add(collection, namespace === undefined ? name : `${namespace}/${name}`, object);
  }
  add("networking.k8s.io/servicecidrs", "kubernetes", {
    kind: "ServiceCIDR",
    apiVersion: "networking.k8s.io/v1",
    metadata: {
      name: "kubernetes",
      managedFields: [
        {
          manager: "kubernetes-service-cidr-controller",
          operation: "Apply",
          apiVersion: "networking.k8s.io/v1",
          time: now,
          fieldsType: "FieldsV1",
          fieldsV1: {
            "f:status": {
              "f:conditions": {
                'k:{"type":"Ready"}': {
                  ".": {},
                  "f:lastTransitionTime": {},
                  "f:message": {},
                  "f:status": {},
                  "f:type": {},
                },
              },
            },
          },
          subresource: "status",
        },
        ...written("networking.k8s.io/v1", { "f:spec": { "f:cidrs": {} } }),
      ],
    },
    spec: { cidrs: [ranges.addresses] },
    status: {
      conditions: [
        {
          type: "Ready",
          status: "True",
          lastTransitionTime: now,
          reason: "",
          message: "Kubernetes default Service CIDR is ready",
        },
      ],
    },
  });
  add("networking.k8s.io/ipaddresses", own, {
    kind: "IPAddress",
    apiVersion: "networking.k8s.io/v1",
    metadata: {
      name: own,
      labels: {
        "ipaddress.kubernetes.io/ip-family": "IPv4",
        "ipaddress.kubernetes.io/managed-by": "ipallocator.k8s.io",
      },
      managedFields: written("networking.k8s.io/v1", {
        "f:metadata": {
          "f:labels": {
            ".": {},
            "f:ipaddress.kubernetes.io/ip-family": {},
            "f:ipaddress.kubernetes.io/managed-by": {},
          },
        },
        "f:spec": { "f:parentRef": { ".": {}, "f:name": {}, "f:namespace": {}, "f:resource": {} } },
      }),
    },
    spec: { parentRef: { resource: "services", namespace: "default", name: "kubernetes" } },
  });
  add("/services", "default/kubernetes", {
    kind: "Service",
    apiVersion: "v1",
    metadata: {
      name: "kubernetes",
      namespace: "default",
      labels: { component: "apiserver", provider: "kubernetes" },
      managedFields: written("v1", {
        "f:metadata": { "f:labels": { ".": {}, "f:component": {}, "f:provider": {} } },
        "f:spec": {
          "f:clusterIP": {},
          "f:internalTrafficPolicy": {},
          "f:ipFamilyPolicy": {},
          "f:ports": {
            ".": {},
            'k:{"port":443,"protocol":"TCP"}': {
              ".": {},
              "f:name": {},
              "f:port": {},
              "f:protocol": {},
              "f:targetPort": {},
            },
          },
          "f:sessionAffinity": {},
          "f:type": {},
        },
      }),
    },
    spec: {
      ports: [{ name: "https", protocol: "TCP", port: 443, targetPort: port }],
      clusterIP: own,
      clusterIPs: [own],
      type: "ClusterIP",
      sessionAffinity: "None",
      ipFamilies: ["IPv4"],
      ipFamilyPolicy: "SingleStack",
      internalTrafficPolicy: "Cluster",
    },
    status: { loadBalancer: {} },
  });
}
