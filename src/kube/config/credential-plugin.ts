/** Credentials from other programs: exec plugins, and the auth providers of client-node, loaded only when needed. */
import type { User } from "@kubernetes/client-node";
import { ConfigError } from "./config-error.ts";
import { type ExecCredential, MissingCommand, runExecPlugin } from "./exec-plugin.ts";
import { belongTogether } from "./key-pair.ts";
import type { ExecEntry, UserEntry } from "./kubeconfig-fields.ts";

/**
 * Milliseconds for which an answer is used before client-node is asked again; client-node keeps it until it expires.
 */
const FRESH_MS = 10_000;
const LEAST_MS = 1_000;
/** The time limit of an auth provider, which may ask a server of its own. */
const PROVIDER_MS = 30_000;

/** Properties of the cluster that an exec plugin may receive. */
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
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly now: () => number;
}

/** A supplier of credentials. */
interface Supplier {
  /** The supplier's name in messages, such as `the exec plugin "aws"`. */
  readonly title: string;
  readonly advice: string;
  /** Asks for credentials, whatever the last answer was. */
  ask(): Promise<ExecCredential>;
  /** Discards the last answer, so that the next one is new. */
  forget(): void;
}

/** Makes the supplier that a user names. @throws ConfigError for an unknown auth provider. */
export async function loadPlugin(options: PluginOptions): Promise<CredentialPlugin> {
  const { entry, name } = options;
  const supplier =
    entry.exec === undefined ? await provider(entry["auth-provider"]!, options) : execPlugin(entry.exec, options, name);
  return new CredentialPlugin(options, supplier);
}

function execPlugin(entry: ExecEntry, { cluster, env }: PluginOptions, user: string): Supplier {
  const { command } = entry;
  if (!command) throw new ConfigError(`Cannot use user "${user}": its exec plugin has no command`);
  return {
    title: `the exec plugin "${command}"`,
    advice: entry.installHint?.trim() ?? "",
    ask: () =>
      runExecPlugin({
        entry: { ...entry, command },
        env,
        cluster: entry.provideClusterInfo === true ? propertiesOf(cluster) : undefined,
      }),
    forget() {},
  };
}

function propertiesOf(cluster: ClusterInfo): object {
  return {
    server: cluster.server,
    ...(cluster.ca && { "certificate-authority-data": Buffer.from(cluster.ca).toString("base64") }),
    ...(cluster.serverName && { "tls-server-name": cluster.serverName }),
    ...(cluster.insecure && { "insecure-skip-tls-verify": true }),
    ...(cluster.proxy && { "proxy-url": cluster.proxy }),
  };
}

/** The part of client-node's authenticators that is used here. */
interface Authenticator {
  applyAuthentication(
    user: User,
    options: { headers?: Record<string, unknown>; cert?: unknown; key?: unknown },
  ): Promise<void>;
}

async function provider(
  entry: NonNullable<UserEntry["auth-provider"]>,
  { name, now }: PluginOptions,
): Promise<Supplier> {
  const make = await providerClass(entry.name ?? "", name);
  const user = { name, authProvider: structuredClone(entry) } as User;
  let authenticator = make();
  return {
    title: "its auth-provider",
    advice: "Log in again",
    ask: async () => {
      const answer: { headers: Record<string, unknown> } = { headers: {} };
      await within(PROVIDER_MS, authenticator.applyAuthentication(user, answer));
      const authorization = answer.headers["Authorization"];
      const token = typeof authorization === "string" ? /^Bearer (.+)$/s.exec(authorization)?.[1] : undefined;
      if (token === undefined) throw new PlainReason("it gave no token");
      return { token, cert: undefined, key: undefined, until: now() + FRESH_MS };
    },
    forget: () => {
      authenticator = make();
    },
  };
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

/** A reason in our own words, which is safe to show; messages of client-node may quote the output of a command. */
class PlainReason extends Error {}

function codeOf(error: unknown): string {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  return /^[A-Z][A-Z0-9_]{2,40}$/.test(code) ? ` (${code})` : "";
}

async function within(ms: number, work: Promise<void>): Promise<void> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new PlainReason(`it has not answered within ${ms / 1_000} s`)), ms);
  try {
    await Promise.race([work, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}

export class CredentialPlugin {
  readonly #options: PluginOptions;
  readonly #supplier: Supplier;
  #freshUntil = -Infinity;
  #refreshing: Promise<void> | undefined;

  authorization: string | undefined;
  cert: string | undefined;
  key: string | undefined;

  constructor(options: PluginOptions, supplier: Supplier) {
    this.#options = options;
    this.#supplier = supplier;
  }

  isFresh(): boolean {
    return this.#options.now() < this.#freshUntil;
  }

  /** Makes the next refresh ask the plugin itself, whatever its last answer was. */
  forget(): void {
    this.#supplier.forget();
    this.#freshUntil = -Infinity;
  }

  /** Asks the plugin, once for all simultaneous callers. @throws ConfigError when it fails. */
  refresh(): Promise<void> {
    this.#refreshing ??= this.#ask().finally(() => {
      this.#refreshing = undefined;
    });
    return this.#refreshing;
  }

  async #ask(): Promise<void> {
    let answer: ExecCredential;
    try {
      answer = await this.#supplier.ask();
      if (answer.cert !== undefined && !belongTogether(answer.cert, answer.key ?? "")) {
        throw new PlainReason("the key that it gave does not belong to its client certificate");
      }
    } catch (error) {
      throw this.#failure(error);
    }
    this.authorization = answer.token === undefined ? undefined : `Bearer ${answer.token}`;
    this.cert = answer.cert;
    this.key = answer.key;
    // An answer that has expired already is not requested again for every request.
    this.#freshUntil = Math.max(answer.until, this.#options.now() + LEAST_MS);
  }

  #failure(error: unknown): ConfigError {
    const { name, entry } = this.#options;
    const { title, advice } = this.#supplier;
    const isOurs = entry.exec !== undefined || error instanceof PlainReason;
    const why = isOurs && error instanceof Error ? error.message : `it failed${codeOf(error)}`;
    const hint = advice || (error instanceof MissingCommand ? "Install it, or put its folder on PATH" : "");
    const more = hint || (entry.exec === undefined ? "" : "Run it by hand to see what it says");
    return new ConfigError(`Cannot get credentials for user "${name}" from ${title}: ${why}${more && `. ${more}`}`);
  }
}
