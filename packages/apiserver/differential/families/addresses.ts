/** The addresses and ports of services. */
import { type Family, pairs, type Probe } from "./family.ts";

const merge = { "content-type": "application/merge-patch+json" };
const dry = "?dryRun=All";

async function addresses(probe: Probe): Promise<void> {
  await probe.createNamespace();
  const services = `/api/v1/namespaces/${probe.namespace}/services`;
  const ports = [{ port: 80 }];
  const specs: Readonly<Record<string, object>> = {
    plain: { ports },
    headless: { ports, clusterIP: "None" },
    "headless without ports": { clusterIP: "None" },
    "no ports": {},
    "an address": { ports, clusterIP: "10.96.77.77" },
    "an address outside": { ports, clusterIP: "192.168.0.1" },
    "an odd address": { ports, clusterIP: "x" },
    "a padded address": { ports, clusterIP: "10.096.0.5" },
    "of six": { ports, clusterIP: "fd00::1" },
    "two addresses": { ports, clusterIPs: ["10.96.77.78", "10.96.77.79"] },
    "addresses that differ": { ports, clusterIP: "10.96.77.78", clusterIPs: ["10.96.77.79"] },
    "dual stack": { ports, ipFamilyPolicy: "RequireDualStack" },
    "dual stack if possible": { ports, ipFamilyPolicy: "PreferDualStack" },
    six: { ports, ipFamilies: ["IPv6"] },
    "an odd family": { ports, ipFamilies: ["IPv5"] },
    "both families": { ports, ipFamilies: ["IPv4", "IPv6"] },
    "a node port": { ports: [{ port: 80, nodePort: 30123 }], type: "NodePort" },
    "a node port of a plain one": { ports: [{ port: 80, nodePort: 30123 }] },
    "a node port outside": { ports: [{ port: 80, nodePort: 80 }], type: "NodePort" },
    "the same node port twice": {
      ports: [
        { name: "a", port: 80, nodePort: 30124 },
        { name: "b", port: 81, nodePort: 30124 },
      ],
      type: "NodePort",
    },
    "the same node port of two protocols": {
      ports: [
        { name: "a", port: 80, nodePort: 30125 },
        { name: "b", port: 80, nodePort: 30125, protocol: "UDP" },
      ],
      type: "NodePort",
    },
    "a balancer": { ports, type: "LoadBalancer" },
    "a balancer with a class": { ports, type: "LoadBalancer", loadBalancerClass: "a.b/c" },
    "a class of another": { ports, loadBalancerClass: "a.b/c" },
    "a balancer without node ports": { ports, type: "LoadBalancer", allocateLoadBalancerNodePorts: false },
    "a balancer of sources": { ports, type: "LoadBalancer", loadBalancerSourceRanges: ["10.0.0.0/8", "x"] },
    local: { ports, type: "LoadBalancer", externalTrafficPolicy: "Local", healthCheckNodePort: 31234 },
    "local of another": { ports, externalTrafficPolicy: "Local" },
    "health of another": { ports, type: "NodePort", healthCheckNodePort: 31235 },
    "an odd policy": { ports, type: "NodePort", externalTrafficPolicy: "Nope", internalTrafficPolicy: "Nope" },
    external: { type: "ExternalName", externalName: "a.b" },
    "external without name": { type: "ExternalName" },
    "external with address": { type: "ExternalName", externalName: "a.b", clusterIP: "10.96.0.9", ports },
    "external of an odd name": { type: "ExternalName", externalName: "A_b" },
    "external addresses": { ports, externalIPs: ["1.2.3.4", "127.0.0.1", "x", "::1"] },
    affinity: { ports, sessionAffinity: "ClientIP", sessionAffinityConfig: { clientIP: { timeoutSeconds: 0 } } },
    "affinity without config": { ports, sessionAffinity: "ClientIP" },
    "config without affinity": { ports, sessionAffinityConfig: { clientIP: { timeoutSeconds: 10 } } },
    "an odd type": { ports, type: "Nope" },
    distribution: { ports, trafficDistribution: "PreferClose" },
    "an odd distribution": { ports, trafficDistribution: "Nope" },
    "the same port twice": { ports: [{ port: 80 }, { port: 80 }] },
    "odd ports": { ports: [{ name: "A", port: 0, targetPort: "x_", protocol: "X", appProtocol: "a b" }] },
    "published early": { ports, publishNotReadyAddresses: true, selector: { a: "b c" } },
  };
  for (const [index, [label, spec]] of Object.entries(specs).entries()) {
    await probe.send(`service ${label}`, "POST", `${services}${dry}`, { body: { metadata: { name: "s" }, spec } });
    await probe.send(`real service ${label}`, "POST", services, { body: { metadata: { name: `s${index}` }, spec } });
    await probe.send(`service again ${label}`, "POST", services, { body: { metadata: { name: `t${index}` }, spec } });
  }
  const changes = [
    "plain",
    "headless",
    "an address",
    "a node port",
    "a balancer",
    "external",
    "local",
    "affinity",
    "no ports",
    "dual stack if possible",
  ];
  for (const [from, to] of pairs(changes, changes)) {
    const name = `c-${changes.indexOf(from)}-${changes.indexOf(to)}`;
    if (!probe.isChosen(`merge ${from} to ${to}`) && !probe.isChosen(`put ${from} to ${to}`)) continue;
    await probe.quietly("POST", services, {
      metadata: { name },
      spec: {
        ...specs[from],
        ...(from === "an address" && { clusterIP: undefined }),
        ...(from === "a node port" && { ports }),
      },
    });
    await probe.send(`merge ${from} to ${to}`, "PATCH", `${services}/${name}${dry}`, {
      body: { spec: specs[to] },
      headers: merge,
    });
    await probe.send(`put ${from} to ${to}`, "PUT", `${services}/${name}${dry}`, {
      body: { metadata: { name }, spec: specs[to] },
    });
  }
}

export const addressesOfServices: Family = { name: "addresses of services", run: addresses };
