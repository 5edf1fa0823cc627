/** Finds out which cluster to talk to, and as whom. */
import { stat } from "node:fs/promises";
import { homedir } from "node:os";
import { delimiter, join } from "node:path";
import { withoutLogin } from "../../observe/without-login.ts";
import { checkValidity, readPem, readPemNow, stampOf } from "./certificate.ts";
import type { ClusterConfig, HeaderValues, TlsSettings } from "./cluster-config.ts";
import { ConfigError } from "./config-error.ts";
import { Credentials } from "./credentials.ts";
import { inClusterKubeconfig } from "./in-cluster.ts";
import type { ClusterEntry, UserEntry } from "./kubeconfig-fields.ts";
import { readKubeconfig, type Kubeconfig } from "./kubeconfig-file.ts";
import { proxyFor } from "./proxy.ts";

export interface LoadOptions {
  /** The flag `--kubeconfig`. */
  readonly kubeconfig?: string | undefined;
  /** The flag `--context`. @default the kubeconfig's current-context */
  readonly context?: string | undefined;
  /** @default process.env */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
  /** The folder of the service account in a pod. @default "/var/run/secrets/kubernetes.io/serviceaccount" */
  readonly inClusterDirectory?: string | undefined;
  /** Milliseconds since the epoch. @default Date.now */
  readonly now?: (() => number) | undefined;
}

/**
 * Loads the settings of a cluster: `--kubeconfig`, then `$KUBECONFIG` (a list is merged), then the service account of
 * the pod we run in, then `~/.kube/config`.
 *
 * @throws ConfigError with one message that says what is wrong, where, and what to do.
 * @see https://kubernetes.io/docs/concepts/configuration/organize-cluster-access-kubeconfig/
 */
export async function loadKubeconfig(options: LoadOptions = {}): Promise<ClusterConfig> {
  const env = options.env ?? process.env;
  const now = options.now ?? Date.now;
  const kubeconfig = await find(options, env);
  const place = kubeconfig.files.join(", ");
  const contextName = options.context ?? kubeconfig.currentContext;
  if (contextName === undefined) {
    throw new ConfigError(
      `Cannot choose a cluster: ${place} has no current-context. Pass --context (${names(kubeconfig.contexts)})`,
    );
  }
  const context = kubeconfig.contexts.get(contextName);
  if (!context) {
    throw new ConfigError(
      `Cannot use context "${contextName}": ${place} has no such context. It has: ${names(kubeconfig.contexts)}`,
    );
  }
  const { cluster: clusterName, user: userName, namespace } = context.entry;
  const cluster = clusterName === undefined ? undefined : kubeconfig.clusters.get(clusterName);
  if (!cluster) {
    throw new ConfigError(
      `Cannot use context "${contextName}" of ${context.file}: it names the cluster "${clusterName ?? ""}", which is not ` +
        `there. There are: ${names(kubeconfig.clusters)}`,
    );
  }
  const user = userName ? kubeconfig.users.get(userName) : { entry: {}, file: context.file };
  if (!user) {
    throw new ConfigError(
      `Cannot use context "${contextName}" of ${context.file}: it names the user "${userName}", which is not there. ` +
        `There are: ${names(kubeconfig.users)}`,
    );
  }
  const { server, login } = serverOf(cluster.entry, clusterName ?? "", cluster.file);
  checkTrust(cluster.entry, clusterName ?? "", cluster.file);
  // A proxy of the environment leads out of the cluster; connections inside must not depend on it.
  const proxy = kubeconfig.isInCluster ? undefined : proxyFor(server, { proxyUrl: cluster.entry["proxy-url"], env });
  const caStamp = stampOf(caFileOf(cluster.entry));
  const ca = await readCa(cluster.entry, clusterName ?? "", now);
  const credentials = await Credentials.load({
    name: userName ?? "",
    entry: user.entry.username ? user.entry : { ...user.entry, ...login },
    now,
    env,
    cluster: {
      server,
      ca,
      serverName: cluster.entry["tls-server-name"],
      insecure: cluster.entry["insecure-skip-tls-verify"] ?? false,
      proxy,
    },
  });
  return new LoadedCluster({
    server,
    context: contextName,
    user: userName ?? "",
    namespace: namespace || "default",
    proxy,
    ca,
    caStamp,
    cluster: cluster.entry,
    clusterName: clusterName ?? "",
    credentials,
    now,
  });
}

async function find(options: LoadOptions, env: Readonly<Record<string, string | undefined>>): Promise<Kubeconfig> {
  if (options.kubeconfig) return readKubeconfig([options.kubeconfig]);
  const listed = env["KUBECONFIG"]?.split(delimiter).filter(Boolean) ?? [];
  if (listed.length > 0) {
    const merged = await readKubeconfig(listed, { skipMissing: true });
    if (merged.files.length === 0) {
      throw new ConfigError(
        `Cannot read the kubeconfig ${listed.join(", ")} that $KUBECONFIG names: there is no such file`,
      );
    }
    return merged;
  }
  const inCluster = await inClusterKubeconfig(env, options.inClusterDirectory);
  if (inCluster) return inCluster;
  const home = join(env["HOME"] || homedir(), ".kube", "config");
  const exists = await stat(home).then(
    () => true,
    () => false,
  );
  if (exists) return readKubeconfig([home]);
  throw new ConfigError(
    `Cannot find a cluster: neither --kubeconfig nor $KUBECONFIG is set, this is not a pod, and ${home} does not exist. ` +
      `Pass --kubeconfig FILE`,
  );
}

function names(entries: ReadonlyMap<string, unknown>): string {
  return entries.size === 0 ? "none" : [...entries.keys()].join(", ");
}

/** Separates the login from the address of a server, because messages and exec plugins show the address. */
function serverOf(
  entry: ClusterEntry,
  name: string,
  file: string,
): { readonly server: string; readonly login: Pick<UserEntry, "username" | "password"> } {
  const server = entry.server?.replace(/(?<!\/)\/+$/, "");
  const url = server && /^https?:/.test(server) ? URL.parse(server) : null;
  if (!server || url === null) {
    const what = server ? `"${withoutLogin(server)}" is not an http or https URL` : "is not set";
    throw new ConfigError(`Cannot use cluster "${name}" of ${file}: its server ${what}`);
  }
  if (url.username === "" && url.password === "") return { server, login: {} };
  const login = { username: decoded(url.username), password: decoded(url.password) };
  url.username = url.password = "";
  return { server: url.href.replace(/(?<!\/)\/+$/, ""), login };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text; // a percent sign that nobody escaped
  }
}

/**
 * Refuses an authority together with `insecure-skip-tls-verify`: somebody who configures an authority wants it to be
 * used.
 */
function checkTrust(entry: ClusterEntry, name: string, file: string): void {
  if (entry["insecure-skip-tls-verify"] !== true) return;
  if (!entry["certificate-authority"] && !entry["certificate-authority-data"]) return;
  throw new ConfigError(
    `Cannot use cluster "${name}" of ${file}: it has a certificate-authority, which insecure-skip-tls-verify would ` +
      `ignore. Remove one of them`,
  );
}

/** The file of the authority, unless it is in the kubeconfig itself. */
function caFileOf(entry: ClusterEntry): string | undefined {
  return entry["certificate-authority-data"] ? undefined : entry["certificate-authority"];
}

async function readCa(entry: ClusterEntry, name: string, now: () => number): Promise<string | undefined> {
  const what = `certificate-authority of cluster "${name}"`;
  const ca = await readPem({ data: entry["certificate-authority-data"], file: entry["certificate-authority"], what });
  if (ca !== undefined) checkValidity(ca, { what, now: now(), advice: "Get a new kubeconfig for this cluster" });
  return ca;
}

interface LoadedClusterInit {
  readonly server: string;
  readonly context: string;
  readonly user: string;
  readonly namespace: string;
  readonly proxy: string | undefined;
  readonly ca: string | undefined;
  readonly caStamp: string;
  readonly cluster: ClusterEntry;
  readonly clusterName: string;
  readonly credentials: Credentials;
  readonly now: () => number;
}

class LoadedCluster implements ClusterConfig {
  readonly server: string;
  readonly context: string;
  readonly user: string;
  readonly namespace: string;
  readonly proxy: string | undefined;
  readonly #init: LoadedClusterInit;
  #ca: string | undefined;
  /** The state of the file from which the authority was read. */
  #caStamp: string;
  /** Replaced only when its content changed: connections are shared by its identity. */
  #tls: TlsSettings;

  constructor(init: LoadedClusterInit) {
    this.server = init.server;
    this.context = init.context;
    this.user = init.user;
    this.namespace = init.namespace;
    this.proxy = init.proxy;
    this.#init = init;
    this.#ca = init.ca;
    this.#caStamp = init.caStamp;
    this.#tls = this.#makeTls();
  }

  get tls(): TlsSettings {
    const { credentials } = this.#init;
    const { ca, cert, key } = this.#tls;
    if (ca !== this.#ca || cert !== credentials.cert || key !== credentials.key) this.#tls = this.#makeTls();
    return this.#tls;
  }

  headers(): HeaderValues | Promise<HeaderValues> {
    return this.#init.credentials.headers();
  }

  renew(): void {
    const { cluster, clusterName, credentials, now } = this.#init;
    credentials.renew();
    const file = caFileOf(cluster);
    const stamp = stampOf(file);
    if (!file || stamp === this.#caStamp) return;
    try {
      const ca = readPemNow(file);
      checkValidity(ca, { what: `certificate-authority of cluster "${clusterName}"`, now: now(), advice: "" });
      this.#ca = ca;
      this.#caStamp = stamp;
    } catch {
      // The old certificate stays in use until the server no longer accepts it; then the reason is reported.
    }
  }

  async reload(): Promise<boolean> {
    const { cluster, clusterName, credentials, now } = this.#init;
    const stamp = stampOf(caFileOf(cluster));
    const ca = await readCa(cluster, clusterName, now);
    const changed = ca !== this.#ca;
    this.#ca = ca;
    this.#caStamp = stamp;
    return (await credentials.reload()) || changed;
  }

  #makeTls(): TlsSettings {
    const { cluster, credentials } = this.#init;
    const insecure = cluster["insecure-skip-tls-verify"] ?? false;
    return {
      ca: insecure ? undefined : this.#ca,
      cert: credentials.cert,
      key: credentials.key,
      serverName: cluster["tls-server-name"] || undefined,
      rejectUnauthorized: !insecure,
    };
  }
}
