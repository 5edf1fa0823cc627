/** Credentials that something else supplies: exec plugins and auth providers, run by client-node, loaded only when needed. */
import type { User } from "@kubernetes/client-node";
import { ConfigError } from "./config-error.ts";
import type { UserEntry } from "./kubeconfig-file.ts";

/** How long an answer is used before client-node is asked again, which keeps it as long as it says it is valid. */
const FRESH_MS = 10_000;

/** What an exec plugin may be told of the cluster. */
export interface ClusterInfo {
  readonly server: string;
  readonly ca: string | undefined;
  readonly serverName: string | undefined;
  readonly insecure: boolean;
  readonly proxy: string | undefined;
}

export interface PluginOptions {
  readonly name: string;
  readonly entry: UserEntry;
  readonly cluster: ClusterInfo;
  readonly now: () => number;
}

/** The part of client-node's authenticators that is used here. */
interface Authenticator {
  applyAuthentication(
    user: User,
    options: { headers?: Record<string, unknown>; cert?: unknown; key?: unknown },
  ): Promise<void>;
}

/** @throws ConfigError for an auth provider that is not known. */
export async function loadPlugin(options: PluginOptions): Promise<CredentialPlugin> {
  const { entry, name } = options;
  const make =
    entry.exec === undefined ? await providerClass(entry["auth-provider"]?.name ?? "", name) : await execClass();
  return new CredentialPlugin(options, make);
}

async function execClass(): Promise<() => Authenticator> {
  const { ExecAuth } = await import("@kubernetes/client-node/dist/exec_auth.js");
  return () => new ExecAuth() as unknown as Authenticator;
}

async function providerClass(provider: string, user: string): Promise<() => Authenticator> {
  switch (provider) {
    case "oidc": {
      const { OpenIDConnectAuth } = await import("@kubernetes/client-node/dist/oidc_auth.js");
      return () => new OpenIDConnectAuth() as unknown as Authenticator;
    }
    case "gcp": {
      const { GoogleCloudPlatformAuth } = await import("@kubernetes/client-node/dist/gcp_auth.js");
      return () => new GoogleCloudPlatformAuth() as unknown as Authenticator;
    }
    case "azure": {
      const { AzureAuth } = await import("@kubernetes/client-node/dist/azure_auth.js");
      return () => new AzureAuth() as unknown as Authenticator;
    }
    default:
      throw new ConfigError(
        `Cannot use user "${user}": its auth-provider "${provider}" is not known (oidc, gcp and azure are). ` +
          `Use an exec plugin, a token or a client certificate`,
      );
  }
}

export class CredentialPlugin {
  readonly #options: PluginOptions;
  readonly #make: () => Authenticator;
  readonly #user: User;
  #authenticator: Authenticator;
  #freshUntil = 0;
  #refreshing: Promise<void> | undefined;

  authorization: string | undefined;
  cert: string | undefined;
  key: string | undefined;

  constructor(options: PluginOptions, make: () => Authenticator) {
    this.#options = options;
    this.#make = make;
    this.#authenticator = make();
    this.#user = userOf(options);
  }

  isFresh(): boolean {
    return this.#options.now() < this.#freshUntil;
  }

  /** Makes the next refresh ask the plugin itself, whatever it said before. */
  forget(): void {
    this.#authenticator = this.#make();
    this.#freshUntil = 0;
  }

  /** Asks the plugin, once for all who ask at the same time. @throws ConfigError when it fails. */
  refresh(): Promise<void> {
    this.#refreshing ??= this.#ask().finally(() => {
      this.#refreshing = undefined;
    });
    return this.#refreshing;
  }

  async #ask(): Promise<void> {
    const answer: { headers: Record<string, unknown>; cert?: unknown; key?: unknown } = { headers: {} };
    try {
      await this.#authenticator.applyAuthentication(this.#user, answer);
    } catch (error) {
      throw this.#failure(error);
    }
    const authorization = answer.headers["Authorization"];
    this.authorization = typeof authorization === "string" ? authorization : undefined;
    this.cert = typeof answer.cert === "string" ? answer.cert : undefined;
    this.key = typeof answer.key === "string" ? answer.key : undefined;
    if (this.authorization === undefined && this.cert === undefined) {
      throw this.#failure(new Error("it gave neither a token nor a client certificate"));
    }
    this.#freshUntil = this.#options.now() + FRESH_MS;
  }

  #failure(error: unknown): ConfigError {
    const { name, entry } = this.#options;
    const said = error instanceof Error ? error.message.trim() : String(error);
    if (entry.exec === undefined) {
      return new ConfigError(`Cannot get credentials for user "${name}" from its auth-provider: ${said}. Log in again`);
    }
    const missing = error instanceof Error && "code" in error && error.code === "ENOENT";
    const hint = entry.exec.installHint?.trim();
    const what = missing ? "there is no such command" : said;
    return new ConfigError(
      `Cannot get credentials for user "${name}" from the exec plugin "${entry.exec.command}": ${what}` +
        (hint ? `. ${hint}` : missing ? ". Install it, or put its folder on PATH" : ""),
    );
  }
}

function userOf(options: PluginOptions): User {
  const { name, entry, cluster } = options;
  if (entry.exec === undefined) return { name, authProvider: structuredClone(entry["auth-provider"]) };
  // client-node does not tell plugins what the protocol promises them, and some refuse to run without it.
  const info = {
    apiVersion: entry.exec.apiVersion ?? "client.authentication.k8s.io/v1",
    kind: "ExecCredential",
    spec: {
      interactive: false,
      ...(entry.exec.provideClusterInfo
        ? {
            cluster: {
              server: cluster.server,
              ...(cluster.ca && { "certificate-authority-data": Buffer.from(cluster.ca).toString("base64") }),
              ...(cluster.serverName && { "tls-server-name": cluster.serverName }),
              ...(cluster.insecure && { "insecure-skip-tls-verify": true }),
              ...(cluster.proxy && { "proxy-url": cluster.proxy }),
            },
          }
        : {}),
    },
  };
  const env = [...(entry.exec.env ?? []), { name: "KUBERNETES_EXEC_INFO", value: JSON.stringify(info) }];
  return { name, exec: { ...entry.exec, args: [...(entry.exec.args ?? [])], env } };
}
