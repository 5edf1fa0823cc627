/** Who we are to the API server: what a kubeconfig's user comes down to. */
import { readFile } from "node:fs/promises";
import { checkValidity, readPem } from "./certificate.ts";
import type { HeaderValues } from "./cluster-config.ts";
import { ConfigError, whyUnreadable } from "./config-error.ts";
import type { UserEntry } from "./kubeconfig-file.ts";
import { loadPlugin, type ClusterInfo, type CredentialPlugin } from "./credential-plugin.ts";

/** How long a token read from a file is used before it is read again, as in client-go. */
const TOKEN_FILE_MS = 60_000;

export interface CredentialsOptions {
  readonly name: string;
  readonly entry: UserEntry;
  readonly now: () => number;
  readonly cluster: ClusterInfo;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** The headers and the client certificate of one user, kept fresh. */
export class Credentials {
  readonly #options: CredentialsOptions;
  readonly #plugin: CredentialPlugin | undefined;
  #cert: string | undefined;
  #key: string | undefined;
  #token: string | undefined;
  /** When the token file was read last. */
  #readAt = 0;
  /** Kept as one object while nothing changes: callers compare identities. */
  #headers: HeaderValues = {};

  /** @throws ConfigError when a file is missing, a certificate has expired, or the combination makes no sense. */
  static async load(options: CredentialsOptions): Promise<Credentials> {
    const { entry } = options;
    const hasPlugin = entry.exec !== undefined || entry["auth-provider"] !== undefined;
    const plugin = hasPlugin ? await loadPlugin(options) : undefined;
    const credentials = new Credentials(options, plugin);
    await credentials.#read();
    return credentials;
  }

  private constructor(options: CredentialsOptions, plugin: CredentialPlugin | undefined) {
    this.#options = options;
    this.#plugin = plugin;
  }

  get cert(): string | undefined {
    return this.#plugin?.cert ?? this.#cert;
  }

  get key(): string | undefined {
    return this.#plugin?.key ?? this.#key;
  }

  headers(): HeaderValues | Promise<HeaderValues> {
    if (this.#plugin !== undefined && !this.#plugin.isFresh()) return this.#refreshPlugin(this.#plugin);
    const { tokenFile } = this.#options.entry;
    if (tokenFile && this.#options.now() - this.#readAt >= TOKEN_FILE_MS) return this.#refreshToken(tokenFile);
    return this.#headers;
  }

  async reload(): Promise<boolean> {
    const before = [this.#headers, this.cert, this.key];
    this.#plugin?.forget();
    await this.#read();
    if (this.#plugin) await this.#refreshPlugin(this.#plugin);
    const after = [this.#headers, this.cert, this.key];
    return after.some((value, index) => value !== before[index]);
  }

  async #read(): Promise<void> {
    const { name, entry, now } = this.#options;
    const cert = await readPem({
      data: entry["client-certificate-data"],
      file: entry["client-certificate"],
      what: `client-certificate of user "${name}"`,
    });
    const key = await readPem({
      data: entry["client-key-data"],
      file: entry["client-key"],
      what: `client-key of user "${name}"`,
    });
    if (cert !== undefined && key === undefined) {
      throw new ConfigError(`Cannot use user "${name}": it has a client-certificate but no client-key`);
    }
    if (cert !== undefined) {
      const advice = "Get a new kubeconfig, or renew the certificate";
      checkValidity(cert, { what: `client-certificate of user "${name}"`, now: now(), advice });
    }
    this.#cert = cert;
    this.#key = key;
    if (entry.tokenFile) {
      this.#token = await readToken(entry.tokenFile, name);
      this.#readAt = now();
    } else {
      this.#token = entry.token || undefined;
    }
    this.#updateHeaders();
  }

  async #refreshToken(file: string): Promise<HeaderValues> {
    this.#readAt = this.#options.now();
    // A file that is being replaced may be missing for a moment: the old token serves until the server refuses it.
    const token = await readToken(file, this.#options.name).catch(() => this.#token);
    if (token !== this.#token) {
      this.#token = token;
      this.#updateHeaders();
    }
    return this.#headers;
  }

  async #refreshPlugin(plugin: CredentialPlugin): Promise<HeaderValues> {
    await plugin.refresh();
    this.#updateHeaders();
    return this.#headers;
  }

  #updateHeaders(): void {
    const { entry } = this.#options;
    const headers: Record<string, string | readonly string[]> = {};
    const authorization = this.#plugin?.authorization ?? authorizationOf(entry, this.#token);
    if (authorization !== undefined) headers["authorization"] = authorization;
    impersonate(entry, headers);
    if (JSON.stringify(headers) !== JSON.stringify(this.#headers)) this.#headers = headers;
  }
}

function authorizationOf(entry: UserEntry, token: string | undefined): string | undefined {
  if (token !== undefined) return `Bearer ${token}`;
  if (!entry.username) return undefined;
  return `Basic ${Buffer.from(`${entry.username}:${entry.password ?? ""}`).toString("base64")}`;
}

/** @see https://kubernetes.io/docs/reference/access-authn-authz/user-impersonation/ */
function impersonate(entry: UserEntry, headers: Record<string, string | readonly string[]>): void {
  if (entry.as) headers["impersonate-user"] = entry.as;
  if (entry["as-uid"]) headers["impersonate-uid"] = entry["as-uid"];
  const groups = entry["as-groups"];
  if (groups?.length) headers["impersonate-group"] = single(groups);
  for (const [name, values] of Object.entries(entry["as-user-extra"] ?? {})) {
    headers[`impersonate-extra-${encodeURIComponent(name).toLowerCase()}`] = single(values);
  }
}

function single(values: readonly string[]): string | readonly string[] {
  return values.length === 1 ? (values[0] ?? "") : values;
}

async function readToken(file: string, user: string): Promise<string> {
  let text: string;
  try {
    text = (await readFile(file, "utf8")).trim();
  } catch (error) {
    throw new ConfigError(`Cannot read the token of user "${user}" from ${file}: ${whyUnreadable(error)}`);
  }
  if (text === "") throw new ConfigError(`Cannot use the token of user "${user}": ${file} is empty`);
  return text;
}
