/** A control plane from a folder of `binnacle envtest`, started as envtest starts one. */
import { generateKeyPairSync } from "node:crypto";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Certificate, createAuthority, issue, type Subject } from "binnacle-apiserver";
import { freePort } from "./binary.ts";
import { until } from "./until.ts";

interface Sending {
  /** @default administrators, by a certificate */
  readonly as?: Subject | "anonymous" | { readonly token: string };
  readonly body?: object;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Reply {
  readonly status: number;
  readonly text: string;
  readonly body: Readonly<Record<string, unknown>>;
}

const administrators: Subject = { name: "admin", groups: ["system:masters"] };

export class EnvtestPlane implements AsyncDisposable {
  readonly dir: string;
  readonly assets: string;
  readonly etcdPort: number;
  readonly #authority: Certificate = createAuthority("envtest-environment");
  readonly #clients: Certificate = createAuthority("clients");
  #etcd: Bun.Subprocess | undefined;
  #server: Bun.Subprocess<"ignore", "ignore", "pipe"> | undefined;
  port = 0;

  private constructor(assets: string, dir: string, etcdPort: number) {
    this.assets = assets;
    this.dir = dir;
    this.etcdPort = etcdPort;
  }

  get #certs(): string {
    return join(this.dir, "certs");
  }

  /** Starts etcd alone. */
  static async create(assets: string): Promise<EnvtestPlane> {
    const plane = new EnvtestPlane(assets, await mkdtemp(join(tmpdir(), "k8s_test_framework_")), await freePort());
    await plane.startEtcd();
    return plane;
  }

  async startEtcd(): Promise<void> {
    const url = `http://127.0.0.1:${this.etcdPort}`;
    this.#etcd = Bun.spawn(
      [
        join(this.assets, "etcd"),
        `--advertise-client-urls=${url}`,
        `--data-dir=${join(this.dir, "etcd")}`,
        `--listen-client-urls=${url}`,
        `--listen-peer-urls=http://127.0.0.1:${this.etcdPort + 1}`,
      ],
      { stdin: "ignore", stdout: "ignore", stderr: "ignore" },
    );
    await until(
      () =>
        fetch(`${url}/health`).then(
          ({ ok }) => ok,
          () => false,
        ),
      { what: () => "etcd is healthy" },
    );
  }

  async stopEtcd(): Promise<void> {
    this.#etcd?.kill("SIGTERM");
    await this.#etcd?.exited;
  }

  /** The process of the API server. */
  get pid(): number {
    return this.#server?.pid ?? 0;
  }

  /**
   * Starts the API server, and waits until it is ready.
   *
   * @param change flags by name that differ from envtest's
   * @returns the milliseconds that it took
   */
  async start(change: Readonly<Record<string, string | undefined>> = {}): Promise<number> {
    await this.prepare();
    const began = performance.now();
    const child = this.spawn(change);
    // The real program writes more than a pipe holds.
    const log = new Response(child.stderr).text();
    await until(
      async () => {
        if (child.exitCode !== null) throw new Error(`kube-apiserver ended: ${await log}`);
        return (await this.send("GET", "/readyz", { as: "anonymous" }).catch(() => undefined))?.status === 200;
      },
      { what: () => "the API server is ready", every: 2 },
    );
    return performance.now() - began;
  }

  /** Takes a free port, and writes the files that flags name. */
  async prepare(): Promise<void> {
    const certs = this.#certs;
    this.port = await freePort();
    const own = issue(this.#authority, { subject: { name: "apiserver" }, hosts: ["localhost", "127.0.0.1"] });
    const account = generateKeyPairSync("rsa", {
      modulusLength: 2048,
      publicKeyEncoding: { type: "spki", format: "pem" },
      privateKeyEncoding: { type: "pkcs8", format: "pem" },
    });
    await mkdir(certs, { recursive: true });
    await Promise.all(
      Object.entries({
        "apiserver.crt": own.cert,
        "apiserver.key": own.key,
        "client-cert-auth-ca.crt": this.#clients.cert,
        "sa-signer.crt": account.publicKey,
        "sa-signer.key": account.privateKey,
      }).map(([name, text]) => writeFile(join(certs, name), text)),
    );
  }

  /** Starts the API server. */
  spawn(change: Readonly<Record<string, string | undefined>> = {}) {
    const certs = this.#certs;
    const flags: Record<string, string | undefined> = {
      "allow-privileged": "true",
      "authorization-mode": "RBAC",
      "bind-address": "127.0.0.1",
      "cert-dir": certs,
      "client-ca-file": join(certs, "client-cert-auth-ca.crt"),
      "disable-admission-plugins": "ServiceAccount",
      "etcd-servers": `http://127.0.0.1:${this.etcdPort}`,
      "secure-port": String(this.port),
      "service-account-issuer": `https://127.0.0.1:${this.port}/`,
      "service-account-key-file": join(certs, "sa-signer.crt"),
      "service-account-signing-key-file": join(certs, "sa-signer.key"),
      "service-cluster-ip-range": "10.0.0.0/24",
      ...change,
    };
    const args = Object.entries(flags).flatMap(([name, value]) => (value === undefined ? [] : [`--${name}=${value}`]));
    this.#server = Bun.spawn([join(this.assets, "kube-apiserver"), ...args], {
      stdin: "ignore",
      stdout: "ignore",
      stderr: "pipe",
    });
    return this.#server;
  }

  /** Ends the API server. @returns its exit status */
  async stop(signal: NodeJS.Signals = "SIGTERM"): Promise<number | undefined> {
    this.#server?.kill(signal);
    return this.#server?.exited;
  }

  /** Returns a kubeconfig (YAML) of a user with a certificate. */
  kubeconfig(subject: Subject = administrators): string {
    const { cert, key } = issue(this.#clients, { subject });
    const data = (pem: string): string => Buffer.from(pem).toString("base64");
    const cluster = {
      server: `https://127.0.0.1:${this.port}`,
      "certificate-authority-data": data(this.#authority.cert),
    };
    const user = { "client-certificate-data": data(cert), "client-key-data": data(key) };
    return JSON.stringify({
      apiVersion: "v1",
      kind: "Config",
      clusters: [{ name: "envtest", cluster }],
      users: [{ name: "envtest", user }],
      contexts: [{ name: "envtest", context: { cluster: "envtest", user: "envtest" } }],
      "current-context": "envtest",
    });
  }

  /** Sends a request over a connection of its own. */
  async send(method: string, path: string, { as = administrators, body, headers }: Sending = {}): Promise<Reply> {
    const client = typeof as === "object" && "name" in as ? issue(this.#clients, { subject: as }) : undefined;
    const token = typeof as === "object" && "token" in as ? { authorization: `Bearer ${as.token}` } : {};
    const response = await fetch(`https://127.0.0.1:${this.port}${path}`, {
      method,
      headers: { ...token, ...headers, ...(body && { "content-type": "application/json" }), connection: "close" },
      keepalive: false,
      tls: { ca: this.#authority.cert, ...(client && { cert: client.cert, key: client.key }) },
      ...(body && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, text, body: text.startsWith("{") ? (JSON.parse(text) as Reply["body"]) : {} };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
    await this.stopEtcd();
    await rm(this.dir, { recursive: true, force: true });
  }
}
