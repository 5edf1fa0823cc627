import { expect, test } from "bun:test";
import { plainHost } from "./host-name.ts";

test("plainHost writes names in Punycode and addresses in one form", () => {
  const written = {
    "bücher.example": "xn--bcher-kva.example",
    "Hook.Example.": "hook.example",
    "a_b.svc": "a_b.svc",
    "127.1": "127.0.0.1",
    "1.2.3": "1.2.0.3",
    "[FD00:0::1]": "fd00::1",
    "fd00::1": "fd00::1",
  };
  for (const [given, host] of Object.entries(written)) expect(plainHost(given)).toBe(host);
});

test("plainHost refuses what no certificate can name", () => {
  for (const text of [
    "",
    ".",
    "-a",
    "a..b",
    "a b",
    "a/b",
    "a@b",
    "%41",
    "*.a",
    "a,b",
    "1.2.3.4.5",
    "[::1%lo]",
    "x".repeat(64),
  ]) {
    expect([text, plainHost(text)]).toEqual([text, undefined]);
  }
});
