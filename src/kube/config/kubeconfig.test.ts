import { afterAll, describe, expect, test } from "bun:test";
import { KubeConfig } from "@kubernetes/client-node";
import { chmod, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { stringify } from "yaml";
import { createAuthority, issue } from "binnacle-apiserver";
import { isConfigError } from "./config-error.ts";
import { loadKubeconfig, type LoadOptions } from "./kubeconfig.ts";

const dir = await mkdtemp(join(tmpdir(), "kubeconfig-"));
afterAll(() => rm(dir, { recursive: true }));

const ca = createAuthority("ca");
const client = issue(ca, { subject: { name: "jane" } });
const expired = issue(ca, { subject: { name: "jane" }, until: Date.parse("2020-01-02T03:04:05Z") });
const base64 = (text: string) => Buffer.from(text).toString("base64");
await mkdir(join(dir, "pki"));
for (const [name, text] of Object.entries({
  "ca.crt": ca.cert,
  "jane.crt": client.cert,
  "jane.key": client.key,
  token: "from-file\n",
})) {
  await writeFile(join(dir, "pki", name), text);
}

const server = "https://10.0.0.1:6443";
let count = 0;

async function write(content: unknown): Promise<string> {
  const file = join(dir, `config-${count++}`);
  await writeFile(file, typeof content === "string" ? content : stringify(content));
  return file;
}

function config(cluster: object, user: object, context: object = {}): object {
  return {
    apiVersion: "v1",
    kind: "Config",
    "current-context": "c",
    clusters: [{ name: "k", cluster: { server, ...cluster } }],
    users: [{ name: "u", user }],
    contexts: [{ name: "c", context: { cluster: "k", user: "u", ...context } }],
  };
}

async function load(content: unknown, options: LoadOptions = {}) {
  return loadKubeconfig({ kubeconfig: await write(content), env: {}, ...options });
}

async function failure(content: unknown, options: LoadOptions = {}): Promise<string> {
  const error = await load(content, options).catch((thrown: unknown) => thrown);
  expect(isConfigError(error)).toBe(true);
  return (error as Error).message.replaceAll(dir, "DIR");
}

const certificates = { "client-certificate-data": base64(client.cert), "client-key-data": base64(client.key) };

describe("loadKubeconfig answers what client-node answers for", () => {
  test.each([
    ["embedded certificates", config({ "certificate-authority-data": base64(ca.cert) }, certificates)],
    [
      "certificate files, relative to the kubeconfig",
      config(
        { "certificate-authority": "pki/ca.crt" },
        { "client-certificate": "pki/jane.crt", "client-key": "pki/jane.key" },
      ),
    ],
    ["a token", config({ "certificate-authority-data": base64(ca.cert) }, { token: "secret" })],
    ["user name and password", config({}, { username: "jane", password: "pä:ss" })],
    ["a server without verification", config({ "insecure-skip-tls-verify": true }, { token: "t" })],
    ["another server name", config({ "tls-server-name": "kubernetes" }, { token: "t" })],
    ["impersonation", config({}, { token: "t", as: "bob" })],
    ["a namespace", config({}, { token: "t" }, { namespace: "shop" })],
    [
      "an exec plugin",
      config(
        {},
        { exec: { apiVersion: "client.authentication.k8s.io/v1", command: "/bin/sh", args: ["-c", plugin("x")] } },
      ),
    ],
  ])("%s", async (_, content) => {
    const file = await write(content);
    const own = await loadKubeconfig({ kubeconfig: file, env: {} });
    const theirs = new KubeConfig();
    theirs.loadFromFile(file);
    const options: Record<string, unknown> & { headers: Record<string, string> } = { headers: {} };
    await theirs.applyToHTTPSOptions(options);
    const text = (value: unknown) => (value === undefined || value === null ? undefined : String(value));
    const headers = Object.fromEntries(
      Object.entries(options.headers).map(([name, value]) => [name.toLowerCase(), value]),
    );
    if (options["auth"]) headers["authorization"] = `Basic ${base64(String(options["auth"]))}`;
    expect({ ...(await own.headers()) } as Record<string, unknown>).toEqual(headers);
    expect(own.tls).toEqual({
      ca: text(options["ca"]),
      cert: text(options["cert"]),
      key: text(options["key"]),
      serverName: text(options["servername"]),
      rejectUnauthorized: options["rejectUnauthorized"] !== false,
    });
    expect(own.server).toBe(theirs.getCurrentCluster()?.server ?? "");
    expect(own.context).toBe(theirs.getCurrentContext());
    expect(own.namespace).toBe(theirs.getContextObject("c")?.namespace ?? "default");
  });
});

function plugin(token: string): string {
  const credential = { apiVersion: "client.authentication.k8s.io/v1", kind: "ExecCredential", status: { token } };
  return `echo '${JSON.stringify(credential)}'`;
}

test("loadKubeconfig keeps the identity of headers and tls while nothing changes", async () => {
  const own = await load(config({ "certificate-authority-data": base64(ca.cert) }, { ...certificates, token: "t" }));
  expect(own.headers()).not.toBeInstanceOf(Promise);
  expect(own.headers()).toBe(own.headers());
  expect(own.tls).toBe(own.tls);
  const { tls } = own;
  expect(await own.reload()).toBe(false);
  expect(own.tls).toBe(tls);
});

test("loadKubeconfig sends several groups as several values", async () => {
  const own = await load(
    config({}, { token: "t", as: "bob", "as-groups": ["a", "b"], "as-user-extra": { Scopes: ["x"] } }),
  );
  expect(await own.headers()).toEqual({
    authorization: "Bearer t",
    "impersonate-user": "bob",
    "impersonate-group": ["a", "b"],
    "impersonate-extra-scopes": "x",
  });
});

test("loadKubeconfig reads a token file again after a minute, and at once on reload", async () => {
  let now = Date.now();
  const file = join(dir, "rotated");
  await writeFile(file, "one\n");
  const own = await load(config({}, { tokenFile: file, token: "unused" }), { now: () => now });
  expect(await own.headers()).toEqual({ authorization: "Bearer one" });
  await writeFile(file, "two");
  expect(await own.headers()).toEqual({ authorization: "Bearer one" });
  now += 60_000;
  expect(await own.headers()).toEqual({ authorization: "Bearer two" });
  await writeFile(file, "three");
  expect(await own.reload()).toBe(true);
  expect(await own.headers()).toEqual({ authorization: "Bearer three" });
  await rm(file);
  now += 60_000;
  expect(await own.headers()).toEqual({ authorization: "Bearer three" });
});

test("loadKubeconfig takes renewed certificate files on reload", async () => {
  const paths = { "client-certificate": join(dir, "r.crt"), "client-key": join(dir, "r.key") };
  const put = async ({ cert, key }: { cert: string; key: string }) => {
    await writeFile(paths["client-certificate"], cert);
    await writeFile(paths["client-key"], key);
  };
  await put(client);
  const own = await load(config({}, paths));
  const { tls } = own;
  const renewed = issue(ca, { subject: { name: "jane" } });
  await put(renewed);
  expect(await own.reload()).toBe(true);
  expect(own.tls).not.toBe(tls);
  expect(own.tls).toMatchObject(renewed);
});

test("loadKubeconfig runs an exec plugin again on reload, tells it of the cluster, and takes its certificate", async () => {
  const script = join(dir, "plugin.sh");
  const status = { clientCertificateData: client.cert, clientKeyData: client.key, token: "TOKEN" };
  const credential = JSON.stringify({ apiVersion: "client.authentication.k8s.io/v1", kind: "ExecCredential", status });
  await writeFile(join(dir, "credential.json"), credential);
  await writeFile(
    script,
    `#!/bin/sh\ncd ${dir}\necho x >> runs\nprintf %s "$KUBERNETES_EXEC_INFO" > info\nsed "s/TOKEN/$PREFIX$(wc -l < runs | tr -d ' ')/" credential.json\n`,
  );
  await chmod(script, 0o755);
  const exec = {
    apiVersion: "client.authentication.k8s.io/v1",
    command: script,
    env: [{ name: "PREFIX", value: "p" }],
    provideClusterInfo: true,
  };
  const own = await load(config({ "certificate-authority-data": base64(ca.cert) }, { exec }));
  const both = await Promise.all([own.headers(), own.headers()]);
  expect(both).toEqual([{ authorization: "Bearer p1" }, { authorization: "Bearer p1" }]);
  expect(own.tls).toMatchObject({ cert: client.cert, key: client.key });
  expect(await Bun.file(join(dir, "info")).json()).toEqual({
    apiVersion: "client.authentication.k8s.io/v1",
    kind: "ExecCredential",
    spec: { interactive: false, cluster: { server, "certificate-authority-data": base64(ca.cert) } },
  });
  expect(await own.reload()).toBe(true);
  expect(await own.headers()).toEqual({ authorization: "Bearer p2" });
});

test("loadKubeconfig merges the files of $KUBECONFIG, the first wins, and skips those that are missing", async () => {
  const first = await write({
    contexts: [{ name: "a", context: { cluster: "k", user: "u" } }],
    users: [{ name: "u", user: { token: "first" } }],
  });
  const second = await write(config({}, { token: "second" }));
  const env = { KUBECONFIG: [join(dir, "missing"), first, second].join(":") };
  expect(await (await loadKubeconfig({ env })).headers()).toEqual({ authorization: "Bearer first" });
  const other = await loadKubeconfig({ env, context: "a" });
  expect([other.context, other.server]).toEqual(["a", server]);
});

test("CLI-04 loadKubeconfig prefers --kubeconfig, then $KUBECONFIG, then the pod's account, then ~/.kube/config", async () => {
  const pod = join(dir, "pod");
  const home = join(dir, "home");
  await mkdir(join(home, ".kube"), { recursive: true });
  await mkdir(pod);
  await writeFile(join(home, ".kube", "config"), stringify(config({}, { token: "home" })));
  for (const [name, text] of Object.entries({ token: "pod\n", namespace: "shop\n", "ca.crt": ca.cert })) {
    await writeFile(join(pod, name), text);
  }
  const env = {
    HOME: home,
    KUBECONFIG: await write(config({}, { token: "env" })),
    KUBERNETES_SERVICE_HOST: "fd00::1",
    KUBERNETES_SERVICE_PORT: "443",
  };
  const options = { env, inClusterDirectory: pod };
  const token = async (options: LoadOptions) => (await (await loadKubeconfig(options)).headers())["authorization"];
  expect(await token({ ...options, kubeconfig: await write(config({}, { token: "flag" })) })).toBe("Bearer flag");
  expect(await token(options)).toBe("Bearer env");
  const inCluster = await loadKubeconfig({ ...options, env: { ...env, KUBECONFIG: "" } });
  expect(inCluster).toMatchObject({
    server: "https://[fd00::1]:443",
    namespace: "shop",
    context: "in-cluster",
    user: "in-cluster",
  });
  expect(inCluster.tls.ca).toBe(ca.cert);
  const proxied = { ...env, KUBECONFIG: "", HTTPS_PROXY: "http://proxy.example.com:3128" };
  expect((await loadKubeconfig({ ...options, env: proxied })).proxy).toBeUndefined();
  expect((await loadKubeconfig({ env: { ...proxied, KUBECONFIG: env.KUBECONFIG } })).proxy).toBe(proxied.HTTPS_PROXY);
  const byName = { ...env, KUBECONFIG: "", KUBERNETES_SERVICE_HOST: "kubernetes.default.svc" };
  expect((await loadKubeconfig({ ...options, env: byName })).server).toBe("https://kubernetes.default.svc:443");
  expect(await inCluster.headers()).toEqual({ authorization: "Bearer pod" });
  await writeFile(join(pod, "token"), "rotated");
  const renewedCa = createAuthority("ca2").cert;
  await writeFile(join(pod, "ca.crt"), renewedCa);
  expect(await inCluster.reload()).toBe(true);
  expect(await inCluster.headers()).toEqual({ authorization: "Bearer rotated" });
  expect(inCluster.tls.ca).toBe(renewedCa);
  expect(await token({ env: { HOME: home } })).toBe("Bearer home");
});

describe("loadKubeconfig says in one message what is wrong, where, and what to do", () => {
  test.each([
    ["YAML", "a: [", /^Cannot use the kubeconfig DIR\/config-\d+: it is not YAML: .*line/],
    ["a text", "hello", /^Cannot use the kubeconfig DIR\/config-\d+: it holds a string, not a kubeconfig/],
    ["an unnamed user", { users: [{ user: {} }] }, /: users\[0\] has no name$/],
    ["no context", { ...config({}, {}), "current-context": "" }, /has no current-context. Pass --context \(c\)$/],
    ["no cluster", config({}, {}, { cluster: "x" }), /it names the cluster "x", which is not there. There are: k$/],
    ["no user", config({}, {}, { user: "x" }), /it names the user "x", which is not there. There are: u$/],
    ["no server", config({ server: "" }, {}), /^Cannot use cluster "k" of DIR\/config-\d+: its server is not set$/],
    ["another scheme", config({ server: "ftp://x" }, {}), /its server "ftp:\/\/x" is not an http or https URL$/],
    [
      "a file that is missing",
      config({ "certificate-authority": "no.crt" }, {}),
      /^Cannot read the certificate-authority of cluster "k" from DIR\/no.crt: there is no such file$/,
    ],
    [
      "data that is no PEM",
      config({ "certificate-authority-data": "aGVsbG8=" }, {}),
      /^Cannot use the certificate-authority of cluster "k": its data is not PEM in base64$/,
    ],
    [
      "an expired certificate",
      config({}, { "client-certificate-data": base64(expired.cert), "client-key-data": base64(expired.key) }),
      /^Cannot use the client-certificate of user "u": it expired on 2020-01-02T03:04:05Z. Get a new kubeconfig, or renew the certificate$/,
    ],
    [
      "a certificate without key",
      config({}, { "client-certificate-data": base64(client.cert) }),
      /has a client-certificate but no client-key$/,
    ],
    [
      "an empty token file",
      config({}, { tokenFile: "/dev/null" }),
      /^Cannot use the token of user "u": \/dev\/null is empty$/,
    ],
    [
      "an unknown auth-provider",
      config({}, { "auth-provider": { name: "magic" } }),
      /its auth-provider "magic" is not known .*Use an exec plugin/,
    ],
    ["a socks proxy", config({ "proxy-url": "socks5://p" }, {}), /socks5:\/\/ proxies are not supported/],
  ])("%s", async (_, content, message) => {
    expect(await failure(content)).toMatch(message);
  });

  test("a kubeconfig that is missing", async () => {
    const missing = join(dir, "none");
    expect(loadKubeconfig({ kubeconfig: missing })).rejects.toThrow(
      `Cannot read the kubeconfig ${missing}: there is no such file`,
    );
    expect(loadKubeconfig({ env: { KUBECONFIG: missing } })).rejects.toThrow(
      "that $KUBECONFIG names: there is no such file",
    );
    expect(loadKubeconfig({ env: { HOME: dir } })).rejects.toThrow("Pass --kubeconfig FILE");
  });

  test("an unknown context", async () => {
    expect(await failure(config({}, {}), { context: "x" })).toMatch(
      /^Cannot use context "x": DIR\/config-\d+ has no such context. It has: c$/,
    );
  });

  test("an exec plugin that is missing or fails", async () => {
    const missing = await load(
      config({}, { exec: { command: "no-such-plugin", installHint: "Install it from example.com" } }),
    );
    expect(missing.headers()).rejects.toThrow(
      'Cannot get credentials for user "u" from the exec plugin "no-such-plugin": there is no such command. Install it from example.com',
    );
    const failing = await load(
      config({}, { exec: { command: "/bin/sh", args: ["-c", "echo please log in >&2; exit 1"] } }),
    );
    expect(failing.headers()).rejects.toThrow(
      'the exec plugin "/bin/sh": it ended with exit status 1. Run it by hand to see what it says',
    );
  });
});
