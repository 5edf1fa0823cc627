/** Reads kube-apiserver's flags into the options of the embedded API server, and the files that they name. */
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import {
  type AuthorizationMode,
  createAuthority,
  issue,
  type PluginName,
  pluginNames,
  type ServeOptions,
  serviceRanges,
  type UserInfo,
} from "binnacle-apiserver";
import { messageOf } from "../../platform/error-message.ts";
import { writePrivate } from "../../platform/private-file.ts";
import { FlagError, type FlagValues, goBoolean, goDuration } from "./go-flags.ts";
import type { HonouredFlag } from "./kube-apiserver-flags.ts";

export interface KubeApiserverOptions extends Pick<ServeOptions, "host" | "port" | "tls" | "clientAuthority"> {
  readonly etcdServers: readonly string[];
  /** The name of the data within etcd. */
  readonly etcdPrefix: string;
  readonly server: ReturnType<ServeOptions["serverOptions"]>;
}

type Texts = (name: HonouredFlag) => readonly string[];

/** @throws FlagError for values that kube-apiserver does not accept, and files that cannot be read. */
export function kubeApiserverOptions(flags: FlagValues): KubeApiserverOptions {
  const texts: Texts = (name) => flags.get(name) ?? [];
  const text = (name: HonouredFlag): string | undefined => texts(name).at(-1) || undefined;
  const isOn = (name: HonouredFlag): boolean => goBoolean(text(name) ?? "true") ?? true;
  checkRequired(texts);
  const port = Number(text("secure-port") ?? 6443);
  if (port < 1 || port > 65_535) throw new FlagError(`--secure-port ${port} must be between 1 and 65535, inclusive`);
  const modes = authorizationModes(texts("authorization-mode"));
  const authority = text("client-ca-file");
  const life = goDuration(text("service-account-max-token-expiration") ?? "0") ?? 0;
  return {
    host: text("bind-address") ?? "0.0.0.0",
    port,
    tls: servingCertificate(text),
    clientAuthority: authority === undefined ? undefined : contents("client-ca-file", authority),
    etcdServers: texts("etcd-servers"),
    etcdPrefix: text("etcd-prefix") ?? "/registry",
    server: {
      admitsAnonymous: isOn("anonymous-auth") && !modes.includes("AlwaysAllow"),
      authorization: modes,
      users: staticUsers(text("token-auth-file")),
      ...admissionPlugins(texts),
      allowsPrivileged: goBoolean(text("allow-privileged") ?? "false") ?? false,
      services: { addresses: serviceAddresses(text), ports: nodePorts(text("service-node-port-range")) },
      eventLifetime: goDuration(text("event-ttl") ?? "1h"),
      accounts: {
        issuers: texts("service-account-issuer"),
        audiences: texts("api-audiences").length > 0 ? texts("api-audiences") : undefined,
        signingKey: contents("service-account-signing-key-file", text("service-account-signing-key-file") ?? ""),
        keys: texts("service-account-key-file").map((file) => contents("service-account-key-file", file)),
        keysUrl: text("service-account-jwks-uri"),
        longestLife: life > 0 ? life / 1000 : undefined,
        extendsLife: isOn("service-account-extend-token-expiration"),
      },
    },
  };
}

/** The plugins of kube-apiserver that are not part of this server. */
const absentPlugins: ReadonlySet<string> = new Set(
  `AlwaysAdmit AlwaysDeny ClusterTrustBundleAttest EventRateLimit ExtendedResourceToleration ImagePolicyWebhook JobValidation
  LimitPodHardAntiAffinityTopology NamespaceAutoProvision NamespaceExists NodeDeclaredFeatureValidator NodeRestriction
  PodGroupProtection PodGroupWorkloadExists PodNodeSelector PodTolerationRestriction PodTopologyLabels`.split(/\s+/),
);

/** Returns the enabled plugins that this server does not have, so that enabling them has no effect. */
export function pluginsWithoutEffect(flags: FlagValues): string[] {
  return (flags.get("enable-admission-plugins") ?? []).filter((name) => absentPlugins.has(name));
}

function admissionPlugins(texts: Texts): { enabled: PluginName[]; disabled: PluginName[] } {
  const own = (flag: HonouredFlag): PluginName[] =>
    texts(flag).flatMap((name) => {
      const known = pluginNames.find((one) => one === name);
      if (known === undefined && !absentPlugins.has(name))
        throw new FlagError(`--${flag} plugin ${JSON.stringify(name)} is unknown`);
      return known ?? [];
    });
  const [enabled, disabled] = [own("enable-admission-plugins"), own("disable-admission-plugins")];
  const both = enabled.find((name) => disabled.includes(name));
  if (both !== undefined)
    throw new FlagError(`${both} is in both --enable-admission-plugins and --disable-admission-plugins`);
  // kube-apiserver enables it by itself; pods then need an account, which a test has to create.
  return { enabled: [...enabled, "ServiceAccount"], disabled };
}

function serviceAddresses(text: (name: HonouredFlag) => string | undefined): string {
  const ranges = (text("service-cluster-ip-range") ?? "10.0.0.0/24").split(",");
  const addresses = ranges.find((range) => !range.includes(":")) ?? "";
  try {
    serviceRanges({ addresses });
  } catch (error) {
    throw new FlagError(`--service-cluster-ip-range ${ranges.join(",")}: ${messageOf(error)}`);
  }
  return addresses;
}

/** Reads `30000-32767`, `30000+2767`, or a single port. */
function nodePorts(text: string | undefined): [number, number] | undefined {
  if (text === undefined) return undefined;
  const [, first = "", joint, second] = /^(\d+)(?:([-+])(\d+))?$/.exec(text) ?? [];
  const ports: [number, number] = [
    Number(first || -1),
    joint === "+" ? Number(first) + Number(second) : Number(second ?? first),
  ];
  try {
    serviceRanges({ ports });
  } catch (error) {
    throw new FlagError(`--service-node-port-range ${text}: ${messageOf(error)}`);
  }
  return ports;
}

const required: readonly HonouredFlag[] = [
  "etcd-servers",
  "service-account-issuer",
  "service-account-key-file",
  "service-account-signing-key-file",
];

function checkRequired(texts: Texts): void {
  const missing = required.filter((name) => texts(name).every((one) => one === ""));
  if (missing.length > 0) throw new FlagError(missing.map((name) => `--${name} must be specified`).join(", "));
}

const known: readonly string[] = ["RBAC", "AlwaysAllow", "AlwaysDeny"] satisfies AuthorizationMode[];
/** Modes of kube-apiserver that need a policy file or a webhook, which this server does not ask. */
const absent: readonly string[] = ["ABAC", "Webhook"];

function authorizationModes(given: readonly string[]): AuthorizationMode[] {
  const modes = given.length > 0 ? given : ["AlwaysAllow"];
  for (const mode of modes) {
    if (absent.includes(mode)) throw new FlagError(`--authorization-mode ${mode} is not available in this API server`);
    if (mode !== "Node" && !known.includes(mode))
      throw new FlagError(`--authorization-mode ${mode} is not a valid mode`);
  }
  return modes.filter((mode): mode is AuthorizationMode => known.includes(mode));
}

function servingCertificate(text: (name: HonouredFlag) => string | undefined): { cert: string; key: string } {
  const [cert, key] = [text("tls-cert-file"), text("tls-private-key-file")];
  if ((cert === undefined) !== (key === undefined))
    throw new FlagError("--tls-cert-file and --tls-private-key-file must be specified together");
  if (cert !== undefined && key !== undefined)
    return { cert: contents("tls-cert-file", cert), key: contents("tls-private-key-file", key) };
  const folder = text("cert-dir") ?? "/var/run/kubernetes";
  const files = { cert: join(folder, "apiserver.crt"), key: join(folder, "apiserver.key") };
  if (!existsSync(files.cert) || !existsSync(files.key)) {
    try {
      createCertificate(folder, files, text("bind-address"));
    } catch (error) {
      throw new FlagError(`cannot write a certificate to --cert-dir ${folder}: ${messageOf(error)}`);
    }
  }
  return { cert: contents("cert-dir", files.cert), key: contents("cert-dir", files.key) };
}

/** Writes a certificate that an authority made for it alone has signed, followed by that authority's own. */
function createCertificate(folder: string, files: { cert: string; key: string }, host: string | undefined): void {
  const authority = createAuthority("kube-apiserver-ca");
  const hosts = [...new Set(["localhost", "127.0.0.1", "kubernetes.default.svc", host ?? "127.0.0.1"])];
  const own = issue(authority, { subject: { name: "kube-apiserver" }, hosts });
  mkdirSync(folder, { recursive: true });
  writePrivate(files.key, own.key);
  writePrivate(files.cert, own.cert + authority.cert);
}

/** @see https://kubernetes.io/docs/reference/access-authn-authz/authentication/#static-token-file */
function staticUsers(file: string | undefined): ReadonlyMap<string, UserInfo> | undefined {
  if (file === undefined) return undefined;
  const lines = contents("token-auth-file", file).split("\n");
  return new Map(
    lines.flatMap((line, index) => {
      if (line.trim() === "" || line.startsWith("#")) return [];
      const cells = [...line.trim().matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^,]*))/g)].map(([, quoted, plain = ""]) =>
        (quoted?.replaceAll('""', '"') ?? plain).trim(),
      );
      const [token, username, uid, groups = ""] = cells;
      if (!token || !username || uid === undefined)
        throw new FlagError(`--token-auth-file ${file}: line ${index + 1} needs at least a token, a user and a uid`);
      const more = groups.split(",").filter((group) => group !== "");
      return [[token, { username, uid, groups: [...more, "system:authenticated"] }] as const];
    }),
  );
}

function contents(flag: HonouredFlag, file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    throw new FlagError(`cannot read --${flag} ${file}: ${messageOf(error)}`);
  }
}
