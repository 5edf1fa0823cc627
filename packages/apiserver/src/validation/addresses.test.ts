import { expect, test } from "bun:test";
import { addressWarnings } from "./addresses.ts";

test.each([
  ["1.2.3.4", []],
  ["2001:db8::1", []],
  ["x", []],
  ["2001:DB8::1", ['p: IPv6 address "2001:DB8::1" should be in RFC 5952 canonical format ("2001:db8::1")']],
  ["1:0:0:2:0:0:0:3", ['p: IPv6 address "1:0:0:2:0:0:0:3" should be in RFC 5952 canonical format ("1:0:0:2::3")']],
  ["::ffff:1.2.3.4", ['p: non-standard IP address "::ffff:1.2.3.4" is invalid: use "1.2.3.4"']],
  ["001.2.3.4", ['p: non-standard IP address "001.2.3.4" is invalid: use "1.2.3.4"']],
])("addressWarnings of %s", (address, warnings) => {
  expect(addressWarnings("p", address)).toEqual(warnings);
});
