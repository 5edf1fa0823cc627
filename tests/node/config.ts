/** The files of a node: keys, certificates, and the configuration of each program. */

import { existsSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createAuthority, createKey, issue } from "binnacle-apiserver";
import { writeKubeconfig } from "../../src/testing/control-plane/kubeconfig.ts";

export const NODE = "kind-control-plane";
export const ADDRESS = "172.18.0.2";
const DNS = "10.96.0.10";
const SERVER = `https://${ADDRESS}:6443`;
const AUTHORITY = "kubernetes";

/** Users of the API server, by the name of their files. */
const USERS = {
  admin: { name: "kubernetes-admin", groups: ["system:masters"] },
  "apiserver-kubelet-client": { name: "kube-apiserver-kubelet-client", groups: ["system:masters"] },
  kubelet: { name: `system:node:${NODE}`, groups: ["system:nodes"] },
  "kube-controller-manager": { name: "system:kube-controller-manager" },
  "kube-scheduler": { name: "system:kube-scheduler" },
  "kube-proxy": { name: "system:kube-proxy" },
} as const;

/** Writes what is below `/etc` of the node, and keeps the keys of an earlier start. */
export async function writeConfig(etc: string): Promise<void> {
  const [pki, kubernetes] = [join(etc, "kubernetes", "pki"), join(etc, "kubernetes")];
  for (const folder of [pki, join(etc, "cni", "net.d"), join(etc, "containerd")])
    await mkdir(folder, { recursive: true });
  if (!existsSync(join(pki, "complete"))) await writeKeys(pki);
  const authority = await readFile(join(pki, "ca.crt"), "utf8");
  for (const name of Object.keys(USERS)) {
    const [cert, key] = await Promise.all(["crt", "key"].map((end) => readFile(join(pki, `${name}.${end}`), "utf8")));
    const client = { cert: cert ?? "", key: key ?? "" };
    await writeKubeconfig(join(kubernetes, `${name}.conf`), { server: SERVER, authority, client });
  }
  const json = {
    "kubernetes/kubelet.yaml": kubelet,
    "kubernetes/kube-proxy.yaml": proxy,
    "cni/net.d/10-node.conflist": cni,
  };
  for (const [file, value] of Object.entries(json)) await writeFile(join(etc, file), JSON.stringify(value));
  await writeFile(join(etc, "kubernetes", "Corefile"), corefile);
  await writeFile(join(etc, "containerd", "config.toml"), containerd);
  await writeFile(join(etc, "passwd"), "root:x:0:0:root:/root:/bin/sh\n");
  await writeFile(join(etc, "group"), "root:x:0:\n");
  await writeFile(join(etc, "hosts"), `127.0.0.1 localhost\n${ADDRESS} ${NODE}\n`);
  await writeFile(join(etc, "resolv.conf"), "");
  await writeFile(join(etc, "nsswitch.conf"), "hosts: files dns\n");
  await writeFile(join(etc, "machine-id"), crypto.randomUUID().replaceAll("-", ""));
}

/** The kubeconfig for those outside, who reach the API server at another address. */
export async function writeOuterKubeconfig(dir: string, server: string): Promise<void> {
  await writeFile(join(dir, "server"), server);
  const { ca, cert, key } = await readAdministrator(dir);
  await writeKubeconfig(join(dir, "kubeconfig"), { server, authority: ca, client: { cert, key } });
}

/** How a request from outside reaches the API server, and what it shows. */
export async function readAdministrator(dir: string): Promise<Record<"server" | "ca" | "cert" | "key", string>> {
  const pki = join(dir, "etc", "kubernetes", "pki");
  const files = [join(dir, "server"), join(pki, "ca.crt"), join(pki, "admin.crt"), join(pki, "admin.key")];
  const [server = "", ca = "", cert = "", key = ""] = await Promise.all(files.map((file) => readFile(file, "utf8")));
  return { server, ca, cert, key };
}

async function writeKeys(pki: string): Promise<void> {
  const write = (file: string, pem: string) => writeFile(join(pki, file), pem, { mode: 0o600 });
  const authority = createAuthority(AUTHORITY);
  await write("ca.crt", authority.cert);
  await write("ca.key", authority.key);
  const service = [
    "kubernetes",
    "kubernetes.default",
    "kubernetes.default.svc",
    "kubernetes.default.svc.cluster.local",
  ];
  const hosts = ["127.0.0.1", ADDRESS, "10.96.0.1", "localhost", ...service];
  const issued = {
    apiserver: issue(authority, { subject: { name: "kube-apiserver" }, hosts }),
    ...Object.fromEntries(Object.entries(USERS).map(([name, subject]) => [name, issue(authority, { subject })])),
  };
  for (const [name, { cert, key }] of Object.entries(issued)) {
    await write(`${name}.crt`, cert);
    await write(`${name}.key`, key);
  }
  await write("sa.key", createKey());
  await write("complete", "");
}

const kubelet = {
  apiVersion: "kubelet.config.k8s.io/v1beta1",
  kind: "KubeletConfiguration",
  authentication: {
    anonymous: { enabled: false },
    webhook: { enabled: true },
    x509: { clientCAFile: "/etc/kubernetes/pki/ca.crt" },
  },
  authorization: { mode: "Webhook" },
  cgroupDriver: "cgroupfs",
  failCgroupV1: false,
  failSwapOn: false,
  clusterDNS: [DNS],
  clusterDomain: "cluster.local",
  containerRuntimeEndpoint: "unix:///run/containerd/containerd.sock",
  // The disk is the machine's, and its fill is nothing that a node of a test could change.
  evictionHard: { "imagefs.available": "0%", "nodefs.available": "0%", "nodefs.inodesFree": "0%" },
  imageGCHighThresholdPercent: 100,
  nodeStatusReportFrequency: "1m",
};

const proxy = {
  apiVersion: "kubeproxy.config.k8s.io/v1alpha1",
  kind: "KubeProxyConfiguration",
  mode: "nftables",
  clientConnection: { kubeconfig: "/etc/kubernetes/kube-proxy.conf" },
  clusterCIDR: "10.244.0.0/16",
  hostnameOverride: NODE,
  // The kernel's table of connections is the machine's.
  conntrack: { maxPerCore: 0, min: 0, tcpEstablishedTimeout: "0s", tcpCloseWaitTimeout: "0s" },
};

const cni = {
  cniVersion: "1.0.0",
  name: "node",
  plugins: [
    {
      type: "ptp",
      ipam: {
        type: "host-local",
        dataDir: "/run/cni-ipam",
        ranges: [[{ subnet: "10.244.0.0/24" }]],
        routes: [{ dst: "0.0.0.0/0" }],
      },
    },
    { type: "portmap", backend: "nftables", capabilities: { portMappings: true } },
  ],
};

const containerd = `version = 3
root = '/var/lib/containerd'
state = '/run/containerd'
[plugins.'io.containerd.cri.v1.images'.pinned_images]
sandbox = 'localhost/pause:1'
[plugins.'io.containerd.cri.v1.runtime']
restrict_oom_score_adj = true
[plugins.'io.containerd.cri.v1.runtime'.cni]
bin_dirs = ['/opt/node/cni']
conf_dir = '/etc/cni/net.d'
[plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.runc]
runtime_type = 'io.containerd.runc.v2'
[plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.runc.options]
SystemdCgroup = false
`;

const corefile = `.:53 {
  bind ${ADDRESS}
  errors
  ready 127.0.0.1:8181
  kubernetes cluster.local in-addr.arpa {
    kubeconfig /etc/kubernetes/admin.conf
    pods insecure
  }
  cache 5
}
`;

const DNS_PORTS = [
  { name: "dns", port: 53, protocol: "UDP" },
  { name: "dns-tcp", port: 53, protocol: "TCP" },
];

/** CoreDNS is a process of the node and no pod, so that its Service has an address that is written by hand. */
export const dnsObjects: readonly object[] = [
  {
    apiVersion: "v1",
    kind: "Service",
    metadata: { name: "kube-dns", namespace: "kube-system", labels: { "k8s-app": "kube-dns" } },
    spec: { clusterIP: DNS, ports: DNS_PORTS },
  },
  {
    apiVersion: "discovery.k8s.io/v1",
    kind: "EndpointSlice",
    metadata: { name: "kube-dns-node", namespace: "kube-system", labels: { "kubernetes.io/service-name": "kube-dns" } },
    addressType: "IPv4",
    endpoints: [{ addresses: [ADDRESS], conditions: { ready: true } }],
    ports: DNS_PORTS,
  },
];
