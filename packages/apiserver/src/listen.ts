/** Serves the API over TLS on an address, with its own certificates and kubeconfig. */
import { randomBytes } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { hostname, networkInterfaces } from "node:os";
import { join } from "node:path";
import { type Certificate, createAuthority, issue } from "./certificates/certificate.ts";
import { makePrivate, privateFolder, writePrivate } from "./storage/private-files.ts";
import type { ListenOptions } from "./listen-options.ts";
import { serveApiServer } from "./serve.ts";
import { administrator, type ApiServer } from "./server.ts";
import type { UserInfo } from "./hooks.ts";
import { isEverywhere, isLoopback } from "./web-guard.ts";

export interface ListeningApiServer extends AsyncDisposable {
  readonly server: ApiServer;
  /** The address, `https://host:port`. */
  readonly url: string;
  /** The authority of the server's certificate (PEM). */
  readonly authority: string;
  /** The administrator's bearer token. */
  readonly token: string;
  /** A kubeconfig (YAML) with the authority and a token of the administrator. */
  readonly kubeconfig: string;
  /** Adds a user with a token. A restart forgets it. */
  addUser(user: UserInfo): { readonly token: string; readonly kubeconfig: string };
  stop(): Promise<void>;
}

/** What clients identify the server by. It is stored with the data, so that a kubeconfig stays valid over a restart. */
interface Credentials {
  readonly authority: Certificate;
  /** The administrator's token. */
  readonly token: string;
  /** The secret that signs tokens of service accounts, as base64. */
  readonly secret: string;
  /** The last port, so that a restart takes the same free port again. */
  readonly port?: number;
}

const authorityName = "binnacle";

/**
 * Starts a server that listens.
 *
 * It rejects requests from web pages, and those for host names other than its own.
 *
 * @throws Error when the address is taken or not available, or when it is reachable from other machines and clients
 * need no certificate.
 */
export async function listenApiServer(options: ListenOptions = {}): Promise<ListeningApiServer> {
  const host = options.host ?? "127.0.0.1";
  if (!isLoopback(host) && options.clientAuthority === undefined && options.remote !== true) {
    throw new Error(
      `other machines reach ${host}: clients must authenticate by certificates there, or be let in with tokens by 'remote'`,
    );
  }
  const credentials = loadCredentials(options.data);
  const { authority } = credentials;
  const reached = isEverywhere(host) ? await ownAddresses() : [host];
  const hosts = [
    ...new Set([...reached, "127.0.0.1", "localhost", hostname(), "kubernetes.default.svc", ...(options.names ?? [])]),
  ];
  const names = new Set([...hosts, "kubernetes", "kubernetes.default"].map((name) => name.toLowerCase()));
  const own = issue(authority, { subject: { name: "apiserver" }, hosts });
  const users = new Map([[credentials.token, administrator]]);
  const { server, address, stop } = await serveApiServer({
    host,
    port: options.port ?? 0,
    preferredPort: credentials.port,
    tls: { cert: own.cert, key: own.key },
    clientAuthority: options.clientAuthority,
    names,
    serverOptions: ({ port }) => {
      keepCredentials(options.data, { ...credentials, port });
      return {
        data: options.data,
        history: options.history,
        now: options.now,
        aggregatesRoles: options.aggregatesRoles,
        users,
        tokenSecret: Buffer.from(credentials.secret, "base64"),
      };
    },
  });
  const url = `https://${address}`;
  return {
    server,
    url,
    authority: authority.cert,
    token: credentials.token,
    kubeconfig: kubeconfig(url, credentials),
    addUser: (user) => {
      const token = newToken();
      users.set(token, user);
      return { token, kubeconfig: kubeconfig(url, { authority, token }) };
    },
    stop,
    [Symbol.asyncDispose]: stop,
  };
}

function loadCredentials(data: string | undefined): Credentials {
  if (data !== undefined) {
    try {
      return JSON.parse(readFileSync(join(data, "credentials.json"), "utf8")) as Credentials;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    }
  }
  return {
    authority: createAuthority(authorityName),
    token: newToken(),
    secret: randomBytes(32).toString("base64"),
  };
}

function newToken(): string {
  return randomBytes(24).toString("base64url");
}

/** Milliseconds for which a machine may have no address but the loopback's: a pod's interface is up a moment later. */
const NETWORK_MS = 2_000;
const LOOK_EVERY_MS = 20;

/** The addresses of this machine, once it has one by which others reach it. */
async function ownAddresses(): Promise<readonly string[]> {
  for (let waited = 0; ; waited += LOOK_EVERY_MS) {
    const all = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
    if (all.some(({ internal }) => !internal) || waited >= NETWORK_MS) return all.map(({ address }) => address);
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
  }
}

function keepCredentials(data: string | undefined, credentials: Credentials): void {
  if (data === undefined) return;
  privateFolder(data);
  const file = join(data, "credentials.json");
  const text = JSON.stringify(credentials);
  makePrivate(file);
  // The file is not rewritten when nothing changed, so that a full disk does not prevent the start.
  if (!existsSync(file) || readFileSync(file, "utf8") !== text) writePrivate(file, text);
}

function kubeconfig(server: string, { authority, token }: Pick<Credentials, "authority" | "token">): string {
  return `apiVersion: v1
kind: Config
clusters:
- name: binnacle
  cluster:
    server: ${server}
    certificate-authority-data: ${Buffer.from(authority.cert).toString("base64")}
users:
- name: binnacle
  user:
    token: ${token}
contexts:
- name: binnacle
  context:
    cluster: binnacle
    user: binnacle
current-context: binnacle
`;
}
