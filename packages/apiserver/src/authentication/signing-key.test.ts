import { expect, test } from "bun:test";
import { SigningKey } from "./signing-key.ts";

test("SigningKey signs with the key of any secret, also one that begins with zeros", () => {
  // One of 128 secrets gives a private key whose first byte is zero.
  for (let secret = 0; secret < 600; secret++) {
    const key = new SigningKey(Buffer.from(String(secret)));
    expect(key.jwk.x.length + key.jwk.y.length).toBe(86);
    if (secret % 50 === 0) expect(key.signed(key.token({ sub: "a" }))).toBe(true);
  }
});
