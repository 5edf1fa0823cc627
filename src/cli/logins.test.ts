/** No message, and no value that messages are made of, repeats the login in an address. */
import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadKubeconfig } from "../kube/config/kubeconfig.ts";
import { withoutLogin } from "../observe/without-login.ts";
import { cli } from "./cli.ts";

const LOGIN = "jane:hunter2";
const folder = mkdtempSync(join(tmpdir(), "binnacle-logins-"));
// Nothing listens on the port of a server that has ended.
const gone = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response() });
const refused = `127.0.0.1:${gone.port}`;
await gone.stop(true);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function kubeconfig(cluster: Readonly<Record<string, string>>, user: object = {}): string {
  const file = join(folder, "kubeconfig");
  const named = {
    clusters: [{ name: "c", cluster }],
    contexts: [{ name: "c", context: { cluster: "c", user: "u" } }],
    users: [{ name: "u", user }],
    "current-context": "c",
  };
  writeFileSync(file, JSON.stringify(named));
  return file;
}

async function said(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<string> {
  let text = "";
  const say = (more: string): void => void (text += more);
  const embedded = { version: "1.2.3", offered: async () => ({}), sdk: async () => undefined, source: undefined };
  const status = await cli([...args], { embedded, env, out: say, err: say });
  expect(status).not.toBe(0);
  expect(text).not.toBe("");
  return text;
}

const https = { server: `https://${refused}` };
const places: readonly [
  place: string,
  cluster: Readonly<Record<string, string>>,
  env?: Readonly<Record<string, string>>,
][] = [
  ["a server", { server: `http://${LOGIN}@${refused}` }],
  ["a server over TLS", { server: `https://${LOGIN}@${refused}` }],
  ["a server that is no address", { server: `ftp://${LOGIN}@${refused}` }],
  ["a server with a port that is none", { server: `https://${LOGIN}@host:port` }],
  ["a server with a password that nobody escaped", { server: `https://jane:hun/hunter2@${refused}` }],
  ["a proxy-url", { ...https, "proxy-url": `http://${LOGIN}@${refused}` }],
  ["a proxy-url with a port that is none", { ...https, "proxy-url": `http://${LOGIN}@host:port` }],
  ["a proxy-url of another kind", { ...https, "proxy-url": `socks5://${LOGIN}@${refused}` }],
  ["a proxy of the environment", { server: "https://192.0.2.1" }, { HTTPS_PROXY: `${LOGIN}@${refused}` }],
  ["a proxy of the environment that is none", { server: "https://192.0.2.1" }, { HTTPS_PROXY: `http://${LOGIN}@:` }],
];

test.each(places)("the login of %s is not repeated", async (_, cluster, env = {}) => {
  const text = await said(["migrate", "gates.demo.example.com", "--kubeconfig", kubeconfig(cluster)], env);
  expect(text).not.toContain("hunter2");
});

const commands: readonly (readonly string[])[] = [
  ["version", "--check", "--releases", `http://${LOGIN}@${refused}/releases`],
  ["types", `https://${LOGIN}@${refused}/crd.yaml`],
  ["run", "--controllers", folder, "--kubeconfig", `https://${LOGIN}@${refused}/kubeconfig`],
  ["manifests", "webhooks", "--controllers", folder, "--webhook-host", `https://${LOGIN}@hook.example.com`],
  ["build", "--controllers", folder, "--image", `https://${LOGIN}@registry.example.com/hello:1`],
  [
    "build",
    "--controllers",
    folder,
    "--image",
    "registry.example.com/a:1",
    "--base",
    `https://${LOGIN}@b.example.com/c`,
  ],
];
for (const command of commands) {
  test(`the login in an address is not repeated by ${command.slice(0, 2).join(" ")} … ${command.at(-2)}`, async () => {
    expect(await said(command)).not.toContain("hunter2");
  });
}

test("the login of a server authenticates, unless the user has one, and is no part of the address", async () => {
  const server = "https://jane:p%40ss@api.example.com:6443/prefix/";
  const config = await loadKubeconfig({ kubeconfig: kubeconfig({ server }), env: {} });
  expect(config.server).toBe("https://api.example.com:6443/prefix");
  expect(await config.headers()).toEqual({ authorization: `Basic ${btoa("jane:p@ss")}` });
  for (const [user, expected] of [
    [{ token: "of-joe" }, "Bearer of-joe"],
    [{ username: "joe", password: "b" }, `Basic ${btoa("joe:b")}`],
  ] as const) {
    const other = await loadKubeconfig({ kubeconfig: kubeconfig({ server }, user), env: {} });
    expect(await other.headers()).toEqual({ authorization: expected });
  }
});

test.each([
  ["https://jane:hunter2@host/a", "https://host/a"],
  ["http://jane:hun/ter2@host", "http://host"],
  ["https://token@host:1", "https://host:1"],
  ["https://host/a", "https://host/a"],
  ["mail@host", "mail@host"],
])("withoutLogin makes of %s %s", (address, shown) => {
  expect(withoutLogin(address)).toBe(shown);
});
