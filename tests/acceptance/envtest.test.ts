/** `binnacle envtest`: the programs of its folder, started as controller-runtime's envtest starts them. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdir, readlink, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Bench } from "../support/binary.ts";
import { EnvtestPlane } from "../support/envtest-plane.ts";

const MAPS = "/api/v1/namespaces/default/configmaps";
const map = (name: string) => ({ apiVersion: "v1", kind: "ConfigMap", metadata: { name } });

let bench: Bench;
let assets: string;

beforeAll(async () => {
  bench = await Bench.create();
  assets = join(bench.dir, "assets");
  expect((await bench.exec("envtest", assets)).code).toBe(0);
});

afterAll(async () => {
  await bench?.[Symbol.asyncDispose]();
});

describe("binnacle envtest", () => {
  test("prints as setup-envtest does, and says that there is no kubectl", async () => {
    const lacking = "No kubectl was found on PATH, so the folder has none. Only tests that call kubectl need it\n";
    const path = await bench.exec("envtest", assets, "-p", "path");
    expect(path).toEqual({ code: 0, stdout: assets, stderr: lacking });
    const folder = join(bench.dir, "it's");
    const env = await bench.exec("envtest", folder, "--print=env");
    expect(env.stdout).toBe(`export KUBEBUILDER_ASSETS='${bench.dir}/it'"'"'s'\n`);
    expect(await Bun.$`sh -c ${`${env.stdout}printf %s "$KUBEBUILDER_ASSETS"`}`.text()).toBe(folder);
    const { stdout } = await bench.exec("envtest", assets);
    expect(stdout).toMatch(/^Version: 1\.36\.\d+, by binnacle .*\nPath: .*\/assets\nkubectl: none\n$/);
  });

  test("has a folder of its own in the cache, and writes the links again", async () => {
    const { stdout: folder } = await bench.exec("envtest", "-p", "path");
    expect(folder).toMatch(/\/\.cache\/binnacle\/envtest-[0-9a-f]{12}$/);
    await rm(join(folder, "etcd"));
    await symlink("/nowhere", join(folder, "etcd"));
    await bench.exec("envtest", "-p", "path");
    expect(await readlink(join(folder, "etcd"))).toBe(join(bench.dir, "binnacle"));
  });

  test("leaves programs of others alone", async () => {
    await mkdir(join(bench.dir, "real"));
    await writeFile(join(bench.dir, "real/kube-apiserver"), "another program");
    const { code, stderr } = await bench.exec("envtest", join(bench.dir, "real"));
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: `binnacle: Cannot write ${bench.dir}/real/kube-apiserver: a file of that name exists that binnacle did not write. Remove it, or name another folder\n`,
    });
  });

  test("the programs have help without the flags that envtest must not pass, and refuse unknown flags", async () => {
    const run = (name: string, ...args: string[]) => Bun.$`${join(assets, name)} ${args}`.nothrow().quiet();
    const help = (await run("kube-apiserver", "--help")).stdout.toString();
    expect(help).toMatch(/^\s*--etcd-servers\b/m);
    expect(help).not.toMatch(/^\s*--insecure-port\b/m);
    expect((await run("etcd", "--help")).exitCode).toBe(0);
    const refused = await run("kube-apiserver", "--insecure-port=0");
    expect([refused.exitCode, refused.stderr.toString()]).toEqual([1, "Error: unknown flag: --insecure-port\n"]);
    const missing = await run("kube-apiserver");
    expect(missing.stderr.toString()).toMatch(
      /^Error: --etcd-servers must be specified, --service-account-issuer must/,
    );
  });
});

describe("a control plane of envtest", () => {
  let plane: EnvtestPlane;

  beforeAll(async () => {
    plane = await EnvtestPlane.create(assets);
    await plane.start();
  });

  afterAll(async () => {
    await plane?.[Symbol.asyncDispose]();
  });

  test("certificates name users and their groups, and RBAC decides about them", async () => {
    expect((await plane.send("POST", MAPS, { body: map("one") })).status).toBe(201);
    const jane = await plane.send("GET", MAPS, { as: { name: "jane", groups: ["readers"] } });
    expect(jane.body["message"]).toBe(
      'configmaps is forbidden: User "jane" cannot list resource "configmaps" in API group "" in the namespace "default"',
    );
    const anonymous = await plane.send("GET", MAPS, { as: "anonymous" });
    expect(anonymous.body["message"]).toStartWith('configmaps is forbidden: User "system:anonymous" cannot list');
    const impersonated = await plane.send("GET", MAPS, { headers: { "impersonate-user": "joe" } });
    expect(impersonated.body["message"]).toStartWith('configmaps is forbidden: User "joe" cannot list');
    for (const path of ["/healthz", "/readyz", "/livez", "/version"])
      expect((await plane.send("GET", path, { as: "anonymous" })).status).toBe(200);
    expect((await plane.send("GET", "/healthz", { as: { token: "nobody's" } })).status).toBe(401);
  });

  test("tokens of service accounts are signed by the key and name the issuer that the flags say", async () => {
    const accounts = "/api/v1/namespaces/default/serviceaccounts";
    await plane.send("POST", accounts, {
      body: { apiVersion: "v1", kind: "ServiceAccount", metadata: { name: "robot" } },
    });
    const request = { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", spec: { expirationSeconds: 600 } };
    const { body } = await plane.send("POST", `${accounts}/robot/token`, { body: request });
    const { token } = body["status"] as { token: string };
    const [header, claims] = token.split(".").map((part) => Buffer.from(part, "base64url").toString());
    const issuer = `https://127.0.0.1:${plane.port}/`;
    expect(JSON.parse(header ?? "")).toMatchObject({ alg: "RS256" });
    expect(JSON.parse(claims ?? "")).toMatchObject({ iss: issuer, aud: [issuer] });
    const robot = await plane.send("GET", MAPS, { as: { token } });
    expect(robot.body["message"]).toStartWith(
      'configmaps is forbidden: User "system:serviceaccount:default:robot" cannot list',
    );
    const keys = await plane.send("GET", "/openid/v1/jwks");
    expect(keys.body).toMatchObject({ keys: [{ kty: "RSA", alg: "RS256", use: "sig", e: "AQAB" }] });
  });

  test("the objects outlive the API server, also a killed one, and etcd with its data", async () => {
    await plane.send("POST", MAPS, { body: map("kept") });
    expect(await plane.stop()).toBe(0);
    await plane.start();
    expect((await plane.send("GET", `${MAPS}/kept`)).status).toBe(200);
    await plane.send("POST", MAPS, { body: map("kept-too") });
    await plane.stop("SIGKILL");
    await plane.stopEtcd();
    await plane.startEtcd();
    await plane.start();
    expect((await plane.send("GET", `${MAPS}/kept-too`)).status).toBe(200);
  });

  test("two control planes share nothing, and neither do prefixes of one etcd", async () => {
    await plane.send("POST", MAPS, { body: map("mine") });
    await using other = await EnvtestPlane.create(assets);
    await other.start();
    expect((await other.send("GET", `${MAPS}/mine`)).status).toBe(404);
    await other.stop();
    await other.start({ "etcd-servers": `http://127.0.0.1:${plane.etcdPort}`, "etcd-prefix": "/other" });
    expect((await other.send("GET", `${MAPS}/mine`)).status).toBe(404);
    await other.stop();
    const third = other.spawn({ "etcd-servers": `http://127.0.0.1:${plane.etcdPort}` });
    expect(await third.exited).toBe(1);
    expect(await new Response(third.stderr).text()).toEndWith(": another kube-apiserver uses the data of this etcd\n");
  });
});

test("AlwaysAllow admits every user but no anonymous one, and a file names tokens", async () => {
  await using plane = await EnvtestPlane.create(assets);
  const file = await bench.write("tokens.csv", `secret,jane,7,"a,b"\n`);
  await plane.start({ "authorization-mode": "AlwaysAllow", "token-auth-file": file });
  const review = { apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview" };
  const path = "/apis/authentication.k8s.io/v1/selfsubjectreviews";
  const { body } = await plane.send("POST", path, { body: review, as: { token: "secret" } });
  expect(body["status"]).toMatchObject({
    userInfo: { username: "jane", uid: "7", groups: ["a", "b", "system:authenticated"] },
  });
  expect((await plane.send("GET", MAPS, { as: { name: "joe" } })).status).toBe(200);
  expect((await plane.send("GET", MAPS, { as: "anonymous" })).status).toBe(401);
});

test("without a certificate in --cert-dir the API server makes one, and without etcd of its own it has no data", async () => {
  await using plane = await EnvtestPlane.create(assets);
  using foreign = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response("{}", { status: 404 }) });
  const folder = join(bench.dir, "new-certs");
  await plane.prepare();
  const child = plane.spawn({ "cert-dir": folder, "etcd-servers": foreign.url.href, "audit-log-path": "-" });
  const reader = child.stderr.getReader();
  let text = "";
  while (!text.includes("Serving")) text += new TextDecoder().decode((await reader.read()).value);
  expect(text).toBe(
    `These flags have no effect here: --audit-log-path\n` +
      `The objects are in memory and end with this process: ${foreign.url.href} is not the etcd of binnacle\n` +
      `Serving the Kubernetes API on https://127.0.0.1:${plane.port}\n`,
  );
  expect(
    await Bun.$`openssl verify -CAfile ${folder}/apiserver.crt ${folder}/apiserver.crt`.nothrow().text(),
  ).toContain("OK");
});
