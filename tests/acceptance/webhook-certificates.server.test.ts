/** Tests the CERT cases and the registration of webhooks, on a real API server that calls them through a Service. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { X509Certificate } from "node:crypto";
import { rename, symlink } from "node:fs/promises";
import { join } from "node:path";
import { connect } from "node:tls";
import { createAuthority, issue } from "binnacle-apiserver";
import { Bench, type Operator } from "../support/binary.ts";
import { until } from "../support/until.ts";
import { available, Cluster } from "../support/cluster.ts";
import { admit, AdmissionLoad, POLICY, ServiceAddress, untilAsked } from "./webhook-lab.ts";

const SECRET = "/api/v1/namespaces/shop/secrets/hook-webhook-tls";
const VALIDATING = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/hook.shop";
const MUTATING = VALIDATING.replace("validating", "mutating");
const PER_SECOND = 200;
/** Seconds of load; longer runs need a quiet machine. */
const SECONDS = Number(process.env["WEBHOOK_LOAD_SECONDS"] ?? 3);

const authority = createAuthority("files");

/** Returns the certificate of a handshake. */
function shown(port: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: "127.0.0.1", ca: authority.cert }, () => {
      resolve(socket.getPeerCertificate().fingerprint256);
      socket.destroy();
    });
    socket.on("error", () => resolve(undefined));
  });
}

interface Configuration {
  readonly metadata: { readonly uid: string };
  readonly webhooks: readonly { readonly clientConfig: { readonly caBundle?: string } }[];
}

describe.skipIf(!available)("webhooks of two replicas behind a Service", () => {
  let cluster: Cluster;
  let bench: Bench;
  let service: ServiceAddress;
  let kubeconfig: string;
  const replicas: Operator[] = [];

  const start = async (): Promise<Operator> => {
    const address = await ServiceAddress.open();
    const { port } = address;
    await address[Symbol.asyncDispose]();
    const operator = await bench.run({
      kubeconfig,
      args: [
        `--webhook-service=shop/hook:${service.port}`,
        "--register-webhooks",
        `--webhook-bind-address=127.0.0.1:${port}`,
        "--leader-elect",
        "--leader-election-id=hook",
        "--leader-election-namespace=shop",
      ],
    });
    await operator.ready();
    replicas.push(operator);
    service.backends.push({ port, operator });
    await service.look();
    return operator;
  };
  const secret = async (): Promise<Readonly<Record<string, string>>> => (await cluster.get(SECRET))?.data ?? {};
  const configuration = async (path = VALIDATING): Promise<Configuration | undefined> =>
    (await cluster.get(path)) as Configuration | undefined;
  const text = (data: string | undefined): string => Buffer.from(data ?? "", "base64").toString();
  const authorities = (pem: string): number => pem.split("-----BEGIN").length - 1;

  beforeAll(async () => {
    [cluster, bench, service] = await Promise.all([
      Cluster.start({ controllers: false }),
      Bench.create(),
      ServiceAddress.open(),
    ]);
    await bench.write("controllers/policy.ts", POLICY);
    const account = ["--service-account", "shop/hook", "--webhook-service", `shop/hook:${service.port}`];
    const { stdout, code } = await bench.exec("manifests", "rbac", ...account);
    expect(code).toBe(0);
    await cluster.plane.apply(stdout);
    // Without kube-proxy a name replaces the Service's own address; the certificate is for the Service.
    await cluster.send("POST", "/api/v1/namespaces/shop/services", {
      body: { metadata: { name: "hook" }, spec: { type: "ExternalName", externalName: "localhost" } },
    });
    kubeconfig = await cluster.plane.userKubeconfig("system:serviceaccount:shop:hook");
    await start();
    await start();
    console.log(`webhooks: asked ${(await untilAsked(cluster)).toFixed(0)} ms after the replicas were ready`);
  }, 180_000);

  afterAll(async () => {
    await service?.[Symbol.asyncDispose]();
    await Promise.all(replicas.map((one) => one[Symbol.asyncDispose]()));
    await bench?.[Symbol.asyncDispose]();
    await cluster?.[Symbol.asyncDispose]();
  }, 180_000);

  test("what is granted is enough, and one replica made what both use", async () => {
    const made = replicas.flatMap(({ log }) => log).filter(({ msg }) => msg === "Webhook authority made");
    expect(made).toHaveLength(1);
    for (const { text: lines } of replicas) expect(lines).not.toContain("Forbidden");
    const data = await secret();
    const certificate = new X509Certificate(text(data["tls.crt"]));
    expect(certificate.checkHost("hook.shop.svc")).toBe("hook.shop.svc");
    expect(certificate.publicKey.asymmetricKeyDetails?.namedCurve).toBe("prime256v1");
    for (const path of [VALIDATING, MUTATING]) {
      expect((await configuration(path))?.webhooks[0]?.clientConfig.caBundle).toBe(data["ca.crt"]);
    }
    const ready = await Promise.all(replicas.map(async (one) => (await one.health("/readyz?verbose")).body));
    for (const body of ready) {
      expect(body).toMatch(/\]webhook-certificate serving expires 20\S+, authority expires 20/);
      expect(body).toContain("[+]webhooks ok");
    }
    expect(await admit(cluster, "bad-")).toContain("bad maps are refused");
  });

  test("a certificate is replaced under load, and then its authority: no admission fails", async () => {
    const before = await secret();
    const load = new AdmissionLoad(cluster, PER_SECOND);
    await Bun.sleep(1_000);
    await cluster.patch(SECRET, { data: { "tls.crt": "", "tls.key": "" } });
    await until(
      async () => {
        const { "tls.crt": cert = "" } = await secret();
        return cert !== "" && cert !== before["tls.crt"];
      },
      { what: "a new certificate" },
    );
    await Bun.sleep(1_000);
    await cluster.send("DELETE", SECRET);
    await until(async () => authorities(text((await secret())["ca.crt"])) === 2, { what: "a second authority" });
    const between = await secret();
    // The new authority is in force before a certificate of it is used.
    await until(async () => (await secret())["tls.crt"] !== between["tls.crt"], {
      within: 90_000,
      what: "its certificate",
    });
    const newest = text((await secret())["ca.crt"]).split(/(?<=-----END CERTIFICATE-----\n)/)[0]!;
    expect(new X509Certificate(text((await secret())["tls.crt"])).verify(new X509Certificate(newest).publicKey)).toBe(
      true,
    );
    await Bun.sleep(SECONDS * 1_000);
    const { sent, failed, perSecond } = await load.stop();
    console.log(
      `webhooks: ${failed} of ${sent} admissions failed at ${perSecond}/s while certificate and authority were replaced`,
    );
    expect(load.failures).toEqual([]);
    expect(sent).toBeGreaterThan(PER_SECOND);
  }, 240_000);

  test("what somebody changes by hand is put right, and the failures meanwhile are counted", async () => {
    for (const [what, change] of [
      [
        "caBundle emptied",
        () =>
          cluster.send("PATCH", VALIDATING, {
            body: [{ op: "remove", path: "/webhooks/0/clientConfig/caBundle" }],
            type: "application/json-patch+json",
          }),
      ],
      ["configuration deleted", () => cluster.send("DELETE", MUTATING)],
    ] as const) {
      const load = new AdmissionLoad(cluster, PER_SECOND);
      await Bun.sleep(500);
      const began = performance.now();
      await change();
      await until(
        async () => {
          const configurations = await Promise.all([configuration(VALIDATING), configuration(MUTATING)]);
          return configurations.every((one) => one?.webhooks[0]?.clientConfig.caBundle !== undefined);
        },
        { what, every: 5 },
      );
      const healed = performance.now() - began;
      await Bun.sleep(1_000);
      const answered = load.answered;
      await until(() => load.answered > answered, { what: "admissions go on" });
      const { sent, failed } = await load.stop();
      console.log(
        `webhooks: ${what}: healed after ${healed.toFixed(0)} ms, ${failed} of ${sent} admissions failed meanwhile`,
      );
    }
    const repairs = await Promise.all(replicas.map((one) => one.metric("binnacle_webhook_registration_repairs_total")));
    expect(repairs.reduce((sum, one) => sum + one)).toBeGreaterThanOrEqual(2);
  }, 180_000);

  test("a replica ends under load: no admission fails, and what is registered stays", async () => {
    await start();
    const uid = (await configuration())!.metadata.uid;
    const load = new AdmissionLoad(cluster, PER_SECOND);
    await Bun.sleep(1_500);
    const leaving = replicas.shift()!;
    expect(await leaving.stop()).toBe(0);
    await Bun.sleep(SECONDS * 500);
    const { sent, failed, perSecond } = await load.stop();
    console.log(`webhooks: ${failed} of ${sent} admissions failed at ${perSecond}/s while a replica ended`);
    expect(load.failures).toEqual([]);
    expect((await configuration())?.metadata.uid).toBe(uid);
  }, 180_000);

  test("CERT-01: files are followed, however they are replaced, and bad ones are counted", async () => {
    const pairs = Array.from({ length: 4 }, () =>
      issue(authority, { subject: { name: "hook" }, hosts: ["127.0.0.1"] }),
    );
    const write = (folder: string, { cert, key }: (typeof pairs)[number]): Promise<unknown> =>
      Promise.all([bench.write(`${folder}/tls.crt`, cert), bench.write(`${folder}/tls.key`, key)]);
    await write("certs", pairs[0]!);
    const address = await ServiceAddress.open();
    const { port } = address;
    await address[Symbol.asyncDispose]();
    const operator = await bench.run({
      kubeconfig,
      args: ["--webhook-cert-path=certs", `--webhook-bind-address=127.0.0.1:${port}`],
    });
    replicas.push(operator);
    await operator.ready();
    const shows = (pair: (typeof pairs)[number]): Promise<unknown> =>
      until(async () => (await shown(port)) === new X509Certificate(pair.cert).fingerprint256, {
        what: () => `the new pair is shown:\n${operator.text}`,
      });
    await shows(pairs[0]!);
    await write("certs", pairs[1]!);
    await shows(pairs[1]!);
    await write("certs/next", pairs[2]!);
    for (const name of ["tls.crt", "tls.key"])
      await rename(join(bench.dir, "certs/next", name), join(bench.dir, "certs", name));
    await shows(pairs[2]!);
    // As kubelet does, the files are links into a folder behind another link, which is replaced atomically.
    await write("certs/..1", pairs[3]!);
    await symlink("..1", join(bench.dir, "certs/..data"));
    for (const name of ["tls.key", "tls.crt"]) {
      await symlink(join("..data", name), join(bench.dir, "certs", `${name}.new`));
      await rename(join(bench.dir, "certs", `${name}.new`), join(bench.dir, "certs", name));
    }
    await shows(pairs[3]!);
    const [reads, errors] = ["certwatcher_read_certificate_total", "certwatcher_read_certificate_errors_total"];
    const before = [await operator.metric(reads), await operator.metric(errors)];
    await bench.remove("certs/tls.key");
    await until(async () => (await operator.metric(errors)) > before[1]!, { what: "a failed read" });
    expect(await operator.metric(reads)).toBeGreaterThan(before[0]!);
    expect(await shown(port)).toBe(new X509Certificate(pairs[3]!.cert).fingerprint256);
    expect(await operator.metric("binnacle_webhook_certificate_expiry_timestamp_seconds")).toBeGreaterThan(
      Date.now() / 1_000,
    );
    expect(await operator.stop()).toBe(0);
  }, 180_000);

  test("the last replica leaves what is registered", async () => {
    await Promise.all(replicas.splice(0).map((one) => one.stop()));
    expect(await configuration()).toBeDefined();
    expect(await admit(cluster)).toContain("failed calling webhook");
  }, 180_000);
});
