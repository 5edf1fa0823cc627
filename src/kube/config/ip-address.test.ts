import net from "node:net";
import { expect, test } from "bun:test";
import { isIPv4, isIPv6 } from "./ip-address.ts";

test("isIPv4 and isIPv6 agree with node:net about hosts", () => {
  for (const host of [
    "127.0.0.1",
    "10.96.0.1",
    "255.255.255.255",
    "256.0.0.1",
    "1.2.3",
    "1.2.3.4.5",
    "01.2.3.4",
    "",
    "localhost",
    "api.example.com",
    "example.com:6443",
    "::1",
    "fe80::1",
    "2001:db8::a:b",
    "::ffff:10.0.0.1",
  ]) {
    expect(isIPv4(host), host).toBe(net.isIPv4(host));
    expect(isIPv6(host), host).toBe(net.isIPv6(host));
  }
});
