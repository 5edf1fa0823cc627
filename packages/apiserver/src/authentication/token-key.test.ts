import { expect, test } from "bun:test";
import { keyFromSecret, TokenKey } from "./token-key.ts";

test("TokenKey signs with the key of any secret, also one that begins with zeros", () => {
  // One of 128 secrets gives a private key whose first byte is zero.
  for (let secret = 0; secret < 600; secret++) {
    const key = new TokenKey(keyFromSecret(Buffer.from(String(secret))));
    expect(String(key.jwk["x"]).length + String(key.jwk["y"]).length).toBe(86);
    if (secret % 50 === 0) expect(key.signed(key.token({ sub: "a" }))).toBe(true);
  }
});
