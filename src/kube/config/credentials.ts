/** The credentials of a kubeconfig's user. */
import { checkValidity, readPem, readPemNow, stampOf } from "./certificate.ts";
import type { HeaderValues } from "./cluster-config.ts";
import { ConfigError } from "./config-error.ts";
import { MOST_CREDENTIAL_BYTES, readConfigFile } from "./config-file.ts";
import { belongTogether } from "./key-pair.ts";
import type { UserEntry } from "./kubeconfig-fields.ts";
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
  /** The state of the files from which certificate and key were read. */
  #stamp = "";
  #token: string | undefined;
  /** When the token file was last read. */
  #readAt = 0;
  /** One object while the headers do not change: callers compare identities. */
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

  /** Reloads a client certificate whose files were replaced, once both are consistent. */
  renew(): void {
    const { entry, name, now } = this.#options;
    const { "client-certificate": certFile, "client-key": keyFile } = entry;
    const stamp = this.#currentStamp();
    if (stamp === this.#stamp) return;
    try {
      const cert = entry["client-certificate-data"] ? this.#cert : certFile && readPemNow(certFile);
      const key = entry["client-key-data"] ? this.#key : keyFile && readPemNow(keyFile);
      if (!cert || !key || !belongTogether(cert, key)) return;
      checkValidity(cert, { what: `client-certificate of user "${name}"`, now: now(), advice: "" });
      this.#cert = cert;
      this.#key = key;
      this.#stamp = stamp;
    } catch {
      // The old certificate is used until the server refuses it; then the reason is reported.
    }
  }

  #currentStamp(): string {
    const { entry } = this.#options;
    const files = [
      entry["client-certificate-data"] ? undefined : entry["client-certificate"],
      entry["client-key-data"] ? undefined : entry["client-key"],
    ];
    return files.map(stampOf).join(" ");
  }

  async #read(): Promise<void> {
    const { name, entry, now } = this.#options;
    const stamp = this.#currentStamp();
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
      if (!belongTogether(cert, key ?? "")) {
        throw new ConfigError(
          `Cannot use user "${name}": its client-key does not belong to its client-certificate. ` +
            `Get a new kubeconfig, or put the pair together again`,
        );
      }
    }
    this.#cert = cert;
    this.#key = key;
    this.#stamp = stamp;
    if (entry.tokenFile) {
      this.#token = await readToken(entry.tokenFile, name);
      this.#readAt = now();
    } else {
      this.#token = entry.token || undefined;
    }
    checkToken(this.#token, name);
    this.#updateHeaders();
  }

  async #refreshToken(file: string): Promise<HeaderValues> {
    this.#readAt = this.#options.now();
    // A file that is being replaced may be missing for a moment: the old token is used until the server refuses it.
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
    text = (await readConfigFile(file, MOST_CREDENTIAL_BYTES)).trim();
  } catch (error) {
    throw new ConfigError(`Cannot read the token of user "${user}" from ${file}: ${(error as Error).message}`);
  }
  if (text === "") throw new ConfigError(`Cannot use the token of user "${user}": ${file} is empty`);
  checkToken(text, user);
  return text;
}

/** Checks a token, because the platform would refuse the header with a message that repeats the token. */
function checkToken(token: string | undefined, user: string): void {
  if (token === undefined || /^[\t -~]*$/.test(token)) return;
  throw new ConfigError(`Cannot use the token of user "${user}": it holds characters that no header may hold`);
}
