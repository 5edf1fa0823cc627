import { expect, test } from "bun:test";
import { innerSecrets } from "./inner-secrets.ts";

const base64 = (text: string): string => Buffer.from(text).toString("base64");

test("the logins of a .dockerconfigjson: password, auth, and what the auth decodes to", () => {
  const auth = base64("robot:pull-me-1234");
  const text = JSON.stringify({
    auths: { "registry.example.com": { username: "robot", password: "pull-me-1234", auth } },
  });
  const found = [...innerSecrets(text)];
  expect(found).toContain("pull-me-1234");
  expect(found).toContain(auth);
  expect(found).toContain("robot:pull-me-1234");
  expect([...innerSecrets(JSON.stringify({ auths: { r: { auth } } }))]).toContain("pull-me-1234");
});

test.each([
  [
    "a URL with a token",
    "https://ghp_%30123456789abcdefghij@example.com/a",
    ["ghp_%30123456789abcdefghij", "ghp_0123456789abcdefghij"],
  ],
  ["a URL", "postgres://app:p4ss%21word@db.example.com:5432/app", ["p4ss%21word", "p4ss!word"]],
  ["an .env file", "# login\nexport DB_PASSWORD='s3cret-s3cret'\nPORT=5432\n", ["s3cret-s3cret"]],
  ["an .npmrc file", "//registry.example.com/:_authToken=npm_abcdefgh\n", ["npm_abcdefgh"]],
  [
    "a kubeconfig",
    'users:\n- name: a\n  user:\n    token: abcdefgh.ijkl\n    client-key-data: "QUJDREVGR0g="\n',
    ["abcdefgh.ijkl", "QUJDREVGR0g="],
  ],
  [
    "a key in PEM",
    `-----BEGIN PRIVATE KEY-----\n${"QUJD".repeat(16)}\n-----END PRIVATE KEY-----\n`,
    ["QUJD".repeat(16)],
  ],
  ["a certificate", `-----BEGIN CERTIFICATE-----\n${"QUJD".repeat(16)}\n-----END CERTIFICATE-----\n`, []],
  ["nothing with a structure", "hunter2 hunter2", []],
  ["a file without anything secret", "host: db.example.com\nport: 5432\n", []],
] as const)("of %s", (_, text, expected) => {
  expect([...innerSecrets(text)]).toEqual([...expected]);
});

test("a long value, whatever it holds, takes no longer than reading it a few times", () => {
  const hostile = ["key", "=", "key=", "://:", "{", "[{", "a\n", "://a:b", "A"];
  const began = performance.now();
  for (const piece of hostile) for (const _ of innerSecrets(piece.repeat(1_000_000 / piece.length)));
  expect(performance.now() - began).toBeLessThan(5_000);
});

test("a long value that is nested deeply is not searched level by level", () => {
  const levels = 3_000;
  const values = Array.from({ length: 40_000 }, (_, index) => `"password${index}"`).join(",");
  const began = performance.now();
  for (const _ of innerSecrets("[".repeat(levels) + values + "]".repeat(levels)));
  for (let times = 0; times < 10; times++) for (const _ of innerSecrets("[".repeat(1_000_000)));
  expect(performance.now() - began).toBeLessThan(1_000);
});
