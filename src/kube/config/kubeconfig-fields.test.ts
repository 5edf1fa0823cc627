import { afterAll, describe, expect, test } from "bun:test";
import { chmod, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createAuthority, issue } from "binnacle-apiserver";
import { isConfigError } from "./config-error.ts";
import { loadKubeconfig } from "./kubeconfig.ts";

const dir = await mkdtemp(join(tmpdir(), "kubeconfig-fields-"));
afterAll(() => rm(dir, { recursive: true }));
const ca = createAuthority("ca");
const base64 = (text: string) => Buffer.from(text).toString("base64");
let count = 0;

/** The text of a kubeconfig whose cluster and user hold these lines of YAML. */
async function write({ cluster = "", user = "token: t", head = "" }): Promise<string> {
  const file = join(dir, `config-${count++}`);
  const nested = (lines: string) => lines.replaceAll(/^/gm, "    ");
  const text = `${head}
current-context: c
contexts: [{ name: c, context: { cluster: k, user: u } }]
clusters:
- name: k
  cluster:
    server: https://10.0.0.1:6443
${nested(cluster)}
users:
- name: u
  user:
${nested(user)}
`;
  await writeFile(file, text);
  return file;
}

async function failure(parts: { cluster?: string; user?: string; head?: string }): Promise<string> {
  const error = await loadKubeconfig({ kubeconfig: await write(parts), env: {} }).then(
    () => new Error("it was accepted"),
    (thrown: Error) => thrown,
  );
  expect([isConfigError(error), error.message]).toEqual([true, error.message]);
  return error.message.replaceAll(dir, "DIR");
}

describe("insecure-skip-tls-verify", () => {
  test.each(["no", "off", "n", "yes", "on", '"false"', '"true"', "False1", "0", "1", "[]", "{}", '""', "!!str false"])(
    "is refused as %s",
    async (value) => {
      expect(await failure({ cluster: `insecure-skip-tls-verify: ${value}` })).toMatch(
        /^Cannot use cluster "k" of DIR\/config-\d+: insecure-skip-tls-verify is .* instead of a boolean: write true or false$/,
      );
    },
  );

  test.each([
    ["false", true],
    ["null", true],
    ["~", true],
    ["", true],
    ["true", false],
  ])("as %p leaves verification %p", async (value, verified) => {
    const file = await write({ cluster: `insecure-skip-tls-verify: ${value}` });
    expect((await loadKubeconfig({ kubeconfig: file, env: {} })).tls.rejectUnauthorized).toBe(verified);
  });

  test("is refused beside an authority, which would not be asked", async () => {
    await writeFile(join(dir, "ca.crt"), ca.cert);
    for (const authority of ["certificate-authority: ca.crt", `certificate-authority-data: ${base64(ca.cert)}`]) {
      expect(await failure({ cluster: `insecure-skip-tls-verify: true\n${authority}` })).toMatch(
        /^Cannot use cluster "k" of DIR\/config-\d+: it has a certificate-authority, which insecure-skip-tls-verify would ignore\. Remove one of them$/,
      );
    }
  });
});

test.each([
  ["server: 5", "", "server is a number instead of a string: put it in quotes"],
  ["tls-server-name: [a]", "", "tls-server-name is a list instead of a string: put it in quotes"],
  ["", "token: 123456", "token is a number instead of a string: put it in quotes"],
  ["", "as-groups: system:masters", "as-groups is a string instead of a list"],
  ["", "as-groups: [1]", "as-groups[0] is a number instead of a string: put it in quotes"],
  ["", "as-user-extra: { scopes: view }", "as-user-extra.scopes is a string instead of a list"],
  ["", "exec: /bin/sh", "exec is a string instead of an object"],
  ["", "exec: { command: [a] }", "exec.command is a list instead of a string: put it in quotes"],
  ["", "exec: { command: a, args: abc }", "exec.args is a string instead of a list"],
  [
    "",
    "exec: { command: a, env: [{ name: A, value: 1 }] }",
    "exec.env[0].value is a number instead of a string: put it in quotes",
  ],
  [
    "",
    "exec: { command: a, provideClusterInfo: yes }",
    'exec.provideClusterInfo is "yes" instead of a boolean: write true or false',
  ],
])("a kubeconfig's field of another type is refused: %s%s", async (cluster, user, problem) => {
  const lines = { ...(cluster && { cluster }), ...(user && { user }) };
  const message = await failure(lines);
  expect(message).toEndWith(problem);
  expect(message).toMatch(/^Cannot use (cluster "k"|user "u") of DIR\/config-\d+: /);
  expect(message).not.toContain("123456");
});

test("a kubeconfig with keys of JavaScript's own objects changes nothing else", async () => {
  const file = await write({
    head: "__proto__: { polluted: true }\nconstructor: { prototype: { polluted: true } }",
    cluster: "__proto__: { insecure-skip-tls-verify: true }\nconstructor: x\ntoString: 5",
    user: "token: t\n__proto__: { as: admin }\nas-user-extra: { __proto__: [a] }",
  });
  const config = await loadKubeconfig({ kubeconfig: file, env: {} });
  expect(config.tls.rejectUnauthorized).toBe(true);
  expect(Object.keys(await config.headers())).not.toContain("impersonate-user");
  expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
});

test("a kubeconfig that is a bomb of aliases is refused in a moment", async () => {
  const lines = ["a: &a [x,x,x,x,x,x,x,x,x]"];
  for (let i = 1; i < 12; i++) {
    const [here, before] = [String.fromCharCode(97 + i), String.fromCharCode(96 + i)];
    lines.push(`${here}: &${here} [${Array(9).fill(`*${before}`).join(",")}]`);
  }
  const start = performance.now();
  const file = await write({ head: lines.join("\n") });
  const outcome = await loadKubeconfig({ kubeconfig: file, env: {} }).then(
    () => "accepted",
    (error: unknown) => (isConfigError(error) ? "refused" : String(error)),
  );
  expect(["accepted", "refused"]).toContain(outcome);
  expect(performance.now() - start).toBeLessThan(5_000);
  expect(process.memoryUsage.rss()).toBeLessThan(2 ** 31);
});

test("files that never end are refused", async () => {
  const error = await loadKubeconfig({ kubeconfig: "/dev/zero", env: {} }).catch((thrown: unknown) => thrown);
  expect((error as Error).message).toMatch(/^Cannot read the kubeconfig \/dev\/zero: it is larger than 16 MiB$/);
  expect(await failure({ cluster: "certificate-authority: /dev/zero" })).toBe(
    'Cannot read the certificate-authority of cluster "k" from /dev/zero: it is larger than 1 MiB',
  );
  expect(await failure({ user: "tokenFile: /dev/zero" })).toBe(
    'Cannot read the token of user "u" from /dev/zero: it is larger than 1 MiB',
  );
});

test("a token that no header may hold is refused, and not repeated", async () => {
  const file = join(dir, "token");
  for (const bad of ["s3cret\nx: y", "s3crét", "s3cret\u0000"]) {
    await writeFile(file, bad);
    const config = await loadKubeconfig({ kubeconfig: await write({ user: `tokenFile: ${file}` }), env: {} }).catch(
      (error: unknown) => error,
    );
    expect(String(config)).toContain('Cannot use the token of user "u": it holds characters that no header may hold');
    expect(String(config)).not.toContain("s3cr");
  }
});

test("a client-key that does not belong to its certificate is refused with these words", async () => {
  const [one, other] = [issue(ca, { subject: { name: "a" } }), issue(ca, { subject: { name: "b" } })];
  const lines = (cert: string, key: string) =>
    `client-certificate-data: ${base64(cert)}\nclient-key-data: ${base64(key)}`;
  expect(await failure({ user: lines(one.cert, other.key) })).toBe(
    'Cannot use user "u": its client-key does not belong to its client-certificate. Get a new kubeconfig, or put the pair together again',
  );
  await loadKubeconfig({ kubeconfig: await write({ user: lines(one.cert, one.key) }), env: {} });
});

test("the command of an exec plugin is looked for beside the kubeconfig, or in the absolute folders of PATH", async () => {
  const credential = {
    apiVersion: "client.authentication.k8s.io/v1",
    kind: "ExecCredential",
    status: { token: "mine" },
  };
  await mkdir(join(dir, "bin"), { recursive: true });
  await mkdir(join(dir, "elsewhere", "bin"), { recursive: true });
  for (const [place, token] of [
    ["bin/plugin", "mine"],
    ["elsewhere/bin/plugin", "impostor"],
    ["elsewhere/only-here", "impostor"],
  ] as const) {
    const text = JSON.stringify({ ...credential, status: { token } });
    await writeFile(join(dir, place), `#!/bin/sh\necho '${text}'\n`);
    await chmod(join(dir, place), 0o755);
  }
  const before = process.cwd();
  process.chdir(join(dir, "elsewhere"));
  try {
    const relative = await loadKubeconfig({
      kubeconfig: await write({ user: "exec: { command: ./bin/plugin }" }),
      env: {},
    });
    expect(await relative.headers()).toEqual({ authorization: "Bearer mine" });
    const bare = { kubeconfig: await write({ user: "exec: { command: plugin }" }) };
    const onPath = await loadKubeconfig({ ...bare, env: { PATH: `${join(dir, "bin")}:.` } });
    expect(await onPath.headers()).toEqual({ authorization: "Bearer mine" });
    for (const PATH of [".", "", ":", "bin"]) {
      const here = await loadKubeconfig({
        kubeconfig: await write({ user: "exec: { command: only-here }" }),
        env: { PATH },
      });
      const message = await Promise.resolve(here.headers()).then(String, String);
      expect(message).toContain('the exec plugin "only-here": there is no such command');
    }
  } finally {
    process.chdir(before);
  }
});
