import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createAuthority, createKey } from "binnacle-apiserver";
import { FlagError, parseGoFlags } from "./go-flags.ts";
import { flagTypes } from "./kube-apiserver-flags.ts";
import { kubeApiserverOptions, pluginsWithoutEffect } from "./kube-apiserver-options.ts";

let dir: string;

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), "binnacle-envtest-"));
  const { cert, key } = createAuthority("server");
  const files = { "apiserver.crt": cert, "apiserver.key": key, "sa.key": createKey(), "tokens.csv": 'a,b\n"' };
  await Promise.all(Object.entries(files).map(([name, text]) => writeFile(join(dir, name), text)));
});

afterAll(async () => {
  await rm(dir, { recursive: true, force: true });
});

function options(...more: string[]) {
  const args = [
    "--etcd-servers=http://127.0.0.1:2379",
    `--cert-dir=${dir}`,
    "--service-account-issuer=https://one/",
    `--service-account-key-file=${join(dir, "sa.key")}`,
    `--service-account-signing-key-file=${join(dir, "sa.key")}`,
    ...more.map((text) => text.replaceAll("DIR", dir)),
  ];
  return kubeApiserverOptions(parseGoFlags(args, { types: flagTypes }));
}

describe("kubeApiserverOptions", () => {
  test("without further flags it has kube-apiserver's defaults", () => {
    const { host, port, clientAuthority, etcdPrefix, server } = options();
    expect({ host, port, clientAuthority, etcdPrefix }).toEqual({
      host: "0.0.0.0",
      port: 6443,
      clientAuthority: undefined,
      etcdPrefix: "/registry",
    });
    expect(server).toMatchObject({
      authorization: ["AlwaysAllow"],
      admitsAnonymous: false,
      allowsPrivileged: false,
      enabled: ["ServiceAccount"],
      services: { addresses: "10.0.0.0/24", ports: undefined },
      eventLifetime: 3_600_000,
    });
  });

  test("reads what flags say", () => {
    const { server } = options(
      "--authorization-mode=Node,RBAC",
      "--allow-privileged",
      "--disable-admission-plugins=ServiceAccount,PodTopologyLabels",
      "--enable-admission-plugins=AlwaysPullImages,NodeRestriction",
      "--service-cluster-ip-range=fd00::/108,10.1.0.0/16",
      "--service-node-port-range=30000+9",
      "--event-ttl=10m",
      "--service-account-issuer=https://two/",
      "--service-account-max-token-expiration=2h",
      "--service-account-extend-token-expiration=false",
    );
    expect(server).toMatchObject({
      authorization: ["RBAC"],
      admitsAnonymous: true,
      allowsPrivileged: true,
      enabled: ["AlwaysPullImages", "ServiceAccount"],
      disabled: ["ServiceAccount"],
      services: { addresses: "10.1.0.0/16", ports: [30_000, 30_009] },
      eventLifetime: 600_000,
      accounts: { issuers: ["https://one/", "https://two/"], longestLife: 7200, extendsLife: false },
    });
    expect(options("--authorization-mode=RBAC", "--anonymous-auth=false").server.admitsAnonymous).toBe(false);
    expect(options("--service-node-port-range=31000").server.services?.ports).toEqual([31_000, 31_000]);
    const flags = parseGoFlags(["--enable-admission-plugins=NodeRestriction,LimitRanger"], { types: flagTypes });
    expect(pluginsWithoutEffect(flags)).toEqual(["NodeRestriction"]);
  });

  test.each([
    ["--authorization-mode=Rbac", "--authorization-mode Rbac is not a valid mode"],
    ["--authorization-mode=RBAC,Webhook", "--authorization-mode Webhook is not available in this API server"],
    ["--enable-admission-plugins=Nothing", '--enable-admission-plugins plugin "Nothing" is unknown'],
    ["--secure-port=0", "--secure-port 0 must be between 1 and 65535, inclusive"],
    ["--tls-cert-file=DIR/apiserver.crt", "--tls-cert-file and --tls-private-key-file must be specified together"],
    ["--client-ca-file=DIR/nothing", "cannot read --client-ca-file DIR/nothing: ENOENT"],
    ["--service-cluster-ip-range=10.0.0.0/8", "--service-cluster-ip-range 10.0.0.0/8: services need a range of IPv4"],
    ["--service-cluster-ip-range=fd00::/108", "--service-cluster-ip-range fd00::/108: services need a range of IPv4"],
    ["--service-node-port-range=9-1", "--service-node-port-range 9-1: node ports are a range between 1 and 65535"],
    ["--service-node-port-range=any", "--service-node-port-range any: node ports are a range between 1 and 65535"],
    [
      "--token-auth-file=DIR/tokens.csv",
      "--token-auth-file DIR/tokens.csv: line 1 needs at least a token, a user and a uid",
    ],
    ["--cert-dir=DIR/apiserver.crt/x", "cannot write a certificate to --cert-dir DIR/apiserver.crt/x: "],
    ["--service-account-issuer=", "--service-account-issuer must be specified"],
  ])("refuses %s", (flag, message) => {
    const others = flag === "--service-account-issuer=" ? [] : [flag];
    const attempt = (): unknown =>
      others.length > 0
        ? options(...others)
        : kubeApiserverOptions(
            parseGoFlags(
              ["--etcd-servers=a", "--service-account-key-file=a", "--service-account-signing-key-file=a", flag],
              {
                types: flagTypes,
              },
            ),
          );
    expect(attempt).toThrow(FlagError);
    expect(attempt).toThrow(message.replaceAll("DIR", dir));
  });

  test("refuses a plugin that is enabled and disabled", () => {
    const both = ["--enable-admission-plugins=AlwaysPullImages", "--disable-admission-plugins=AlwaysPullImages"];
    expect(() => options(...both)).toThrow("AlwaysPullImages is in both --enable-admission-plugins and");
  });
});
