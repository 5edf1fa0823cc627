/** The flags of kube-apiserver 1.36, all of which are accepted. */
import type { FlagType } from "./go-flags.ts";

export type HonouredFlag =
  | "allow-privileged"
  | "anonymous-auth"
  | "api-audiences"
  | "authorization-mode"
  | "bind-address"
  | "cert-dir"
  | "client-ca-file"
  | "disable-admission-plugins"
  | "enable-admission-plugins"
  | "etcd-prefix"
  | "etcd-servers"
  | "event-ttl"
  | "secure-port"
  | "service-account-extend-token-expiration"
  | "service-account-issuer"
  | "service-account-jwks-uri"
  | "service-account-key-file"
  | "service-account-max-token-expiration"
  | "service-account-signing-key-file"
  | "service-cluster-ip-range"
  | "service-node-port-range"
  | "tls-cert-file"
  | "tls-private-key-file"
  | "token-auth-file";

/** The flags that have an effect, and their descriptions for `--help`. */
export const honoured: Readonly<Record<HonouredFlag, string>> = {
  "allow-privileged": "Whether containers may be privileged [default: false]",
  "anonymous-auth": "Whether requests without credentials are those of system:anonymous; AlwaysAllow turns it off",
  "api-audiences": "Audiences of the server itself in service account tokens; by default the issuers",
  "authorization-mode": "RBAC, Node (which grants nothing here), AlwaysAllow or AlwaysDeny, separated by commas",
  "bind-address": "Address to serve on",
  "cert-dir": "Folder of apiserver.crt and apiserver.key, which are created when they do not exist",
  "client-ca-file": "PEM file of the authorities whose client certificates identify users",
  "disable-admission-plugins": "Admission plugins that are not used although they are enabled by default",
  "enable-admission-plugins": "Admission plugins that are used beside those that are enabled by default",
  "etcd-prefix": "Name of the data within etcd: API servers with different ones share nothing",
  "etcd-servers": "Addresses of etcd. The etcd beside this program names the folder of the data",
  "event-ttl": "How long events stay [default: 1h]",
  "secure-port": "Port to serve on",
  "service-account-extend-token-expiration": "Whether tokens in pods outlive the hour that older clients request",
  "service-account-issuer": "Issuer of service account tokens; those of further ones are accepted",
  "service-account-jwks-uri": "Address of the public keys in the discovery document",
  "service-account-key-file": "PEM file of keys whose service account tokens are accepted",
  "service-account-max-token-expiration": "Longest life of a service account token",
  "service-account-signing-key-file": "PEM file of the private key that signs service account tokens",
  "service-cluster-ip-range": "Addresses of services; the first range of IPv4 counts [default: 10.0.0.0/24]",
  "service-node-port-range": "Node ports of services [default: 30000-32767]",
  "tls-cert-file": "PEM file of the server's certificate, in place of the one in --cert-dir",
  "tls-private-key-file": "PEM file of the key of --tls-cert-file",
  "token-auth-file": "CSV file of bearer tokens: token, user, uid, and groups in quotes",
};

const names: Readonly<Record<FlagType, string>> = {
  boolean: `aggregator-reject-forwarding-redirect allow-privileged anonymous-auth audit-log-batch-throttle-enable
    audit-log-compress audit-log-truncate-enabled audit-webhook-batch-throttle-enable audit-webhook-truncate-enabled
    contention-profiling disable-http2-serving emulation-forward-compatible enable-aggregator-routing
    enable-bootstrap-token-auth enable-garbage-collector enable-logs-handler enable-priority-and-fairness
    encryption-provider-config-automatic-reload help log-json-split-stream log-text-split-stream permit-address-sharing
    permit-port-sharing profiling runtime-config-emulation-forward-compatible service-account-extend-token-expiration
    service-account-lookup shutdown-send-retry-after watch-cache`,
  integer: `apiserver-count audit-log-batch-buffer-size audit-log-batch-max-size audit-log-batch-throttle-burst
    audit-log-maxage audit-log-maxbackup audit-log-maxsize audit-log-truncate-max-batch-size
    audit-log-truncate-max-event-size audit-webhook-batch-buffer-size audit-webhook-batch-max-size
    audit-webhook-batch-throttle-burst audit-webhook-truncate-max-batch-size audit-webhook-truncate-max-event-size
    default-not-ready-toleration-seconds default-unreachable-toleration-seconds default-watch-cache-size
    delete-collection-workers http2-max-streams-per-connection kubelet-port kubernetes-service-node-port
    lease-reuse-duration-seconds max-connection-bytes-per-sec max-mutating-requests-inflight max-requests-inflight
    min-request-timeout secure-port v`,
  number: "audit-log-batch-throttle-qps audit-webhook-batch-throttle-qps goaway-chance",
  duration: `audit-log-batch-max-wait audit-webhook-batch-max-wait audit-webhook-initial-backoff
    authentication-token-webhook-cache-ttl authorization-webhook-cache-authorized-ttl
    authorization-webhook-cache-unauthorized-ttl coordinated-leadership-lease-duration
    coordinated-leadership-renew-deadline coordinated-leadership-retry-period etcd-compaction-interval
    etcd-count-metric-poll-period etcd-db-metric-poll-interval etcd-healthcheck-timeout etcd-readycheck-timeout
    event-ttl kubelet-timeout livez-grace-period log-flush-frequency request-timeout
    service-account-max-token-expiration shutdown-delay-duration shutdown-watch-termination-grace-period
    storage-initialization-timeout`,
  address: "advertise-address bind-address",
  text: `admission-control-config-file allow-metric-labels-manifest audit-log-format audit-log-mode audit-log-path
    audit-log-version audit-policy-file audit-webhook-config-file audit-webhook-mode audit-webhook-version
    authentication-config authentication-token-webhook-config-file authentication-token-webhook-version
    authorization-config authorization-policy-file authorization-webhook-config-file authorization-webhook-version
    cert-dir client-ca-file debug-socket-path egress-selector-config-file encryption-provider-config
    endpoint-reconciler-type etcd-cafile etcd-certfile etcd-keyfile etcd-prefix external-hostname
    kubelet-certificate-authority kubelet-client-certificate kubelet-client-key log-json-info-buffer-size
    log-text-info-buffer-size logging-format oidc-ca-file oidc-client-id oidc-groups-claim oidc-groups-prefix
    oidc-issuer-url oidc-username-claim oidc-username-prefix peer-advertise-ip peer-advertise-port peer-ca-file
    proxy-client-cert-file proxy-client-key-file requestheader-client-ca-file service-account-jwks-uri
    service-account-signing-endpoint service-account-signing-key-file service-cluster-ip-range service-node-port-range
    show-hidden-metrics-for-version storage-backend storage-media-type tls-cert-file tls-min-version
    tls-private-key-file token-auth-file tracing-config-file`,
  texts: "service-account-issuer service-account-key-file tls-sni-cert-key",
  list: `admission-control allow-metric-labels api-audiences authorization-mode cors-allowed-origins
    disable-admission-plugins disabled-metrics emulated-version enable-admission-plugins etcd-servers
    etcd-servers-overrides feature-gates kubelet-preferred-address-types min-compatibility-version oidc-required-claim
    oidc-signing-algs requestheader-allowed-names requestheader-extra-headers-prefix requestheader-group-headers
    requestheader-uid-headers requestheader-username-headers runtime-config strict-transport-security-directives
    tls-cipher-suites tls-curve-preferences vmodule watch-cache-sizes`,
};

/** The type of each flag. `--version` is another one, which may have no value. */
export const flagTypes: ReadonlyMap<string, FlagType> = new Map(
  Object.entries(names).flatMap(([type, all]) => all.split(/\s+/).map((name) => [name, type as FlagType] as const)),
);

/** The text of `--help`. Its lines begin with the flags, because envtest looks there for those that it may pass. */
export function helpText(): string {
  const others = [...flagTypes.keys(), "version"].filter((name) => !Object.hasOwn(honoured, name)).toSorted();
  const width = Math.max(...Object.keys(honoured).map((name) => name.length));
  const lines = Object.entries(honoured).map(([name, text]) => `      --${name.padEnd(width)}  ${text}`);
  return `binnacle's stand-in for kube-apiserver: see \`binnacle envtest --help\`.

Flags:
${lines.join("\n")}

Flags of kube-apiserver that are accepted and have no effect:
${others.map((name) => `      --${name}`).join("\n")}
`;
}
