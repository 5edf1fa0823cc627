/** The flags of etcd, kube-apiserver and kube-controller-manager, for small and quick programs on the loopback. */

export interface Ports {
  readonly etcd: number;
  readonly peer: number;
  readonly api: number;
  readonly controllers: number;
}

export function etcdFlags(dir: string, ports: Ports): string[] {
  const client = `http://127.0.0.1:${ports.etcd}`;
  const peer = `http://127.0.0.1:${ports.peer}`;
  return [
    `--data-dir=${dir}/etcd`,
    "--unsafe-no-fsync",
    "--log-level=warn",
    `--listen-client-urls=${client}`,
    `--advertise-client-urls=${client}`,
    `--listen-peer-urls=${peer}`,
    `--initial-advertise-peer-urls=${peer}`,
    `--initial-cluster=default=${peer}`,
  ];
}

/** Returns the flags; a flag of the caller replaces the default with its name. */
export function apiserverFlags(dir: string, ports: Ports, own: readonly string[]): string[] {
  const defaults = [
    `--etcd-servers=http://127.0.0.1:${ports.etcd}`,
    "--bind-address=127.0.0.1",
    "--advertise-address=127.0.0.1",
    `--secure-port=${ports.api}`,
    "--service-cluster-ip-range=10.96.0.0/16",
    `--tls-cert-file=${dir}/pki/apiserver.crt`,
    `--tls-private-key-file=${dir}/pki/apiserver.key`,
    `--client-ca-file=${dir}/pki/ca.crt`,
    `--cert-dir=${dir}/run`,
    "--service-account-issuer=https://kubernetes.default.svc",
    `--service-account-key-file=${dir}/pki/sa.key`,
    `--service-account-signing-key-file=${dir}/pki/sa.key`,
    "--authorization-mode=RBAC",
    "--allow-privileged=true",
    "--disable-admission-plugins=ServiceAccount", // otherwise no pod could be created before its account exists
  ];
  return overridden(defaults, own);
}

function overridden(defaults: readonly string[], own: readonly string[]): string[] {
  const name = (flag: string) => flag.split("=", 1)[0];
  const replaced = new Set(own.map(name));
  return [...defaults.filter((flag) => !replaced.has(name(flag))), ...own];
}

export function controllerFlags(dir: string, ports: Ports, own: readonly string[] = []): string[] {
  const defaults = [
    `--kubeconfig=${dir}/kubeconfig`,
    `--authentication-kubeconfig=${dir}/kubeconfig`,
    `--authorization-kubeconfig=${dir}/kubeconfig`,
    "--bind-address=127.0.0.1",
    `--secure-port=${ports.controllers}`,
    `--service-account-private-key-file=${dir}/pki/sa.key`,
    `--root-ca-file=${dir}/pki/ca.crt`,
    "--use-service-account-credentials=false",
    "--leader-elect=false",
    `--cert-dir=${dir}/run`,
  ];
  return overridden(defaults, own);
}

/** Writes one line for each request after its response, without bodies. */
export const auditPolicy = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived, ResponseStarted]
rules:
- level: Metadata
`;

export function auditFlags(dir: string): string[] {
  return [`--audit-policy-file=${dir}/audit-policy.yaml`, `--audit-log-path=${dir}/audit.log`];
}
