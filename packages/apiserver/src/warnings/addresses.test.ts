import { expect, test } from "bun:test";
import { addressWarnings, rangeWarnings } from "./addresses.ts";

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

test.each([
  ["10.0.0.0/8", []],
  [
    "10.0.0.1/8",
    ['p: CIDR value "10.0.0.1/8" is ambiguous in this context (should be "10.0.0.0/8" or "10.0.0.1/32"?)'],
  ],
  ["010.0.0.0/8", ['p: non-standard CIDR value "010.0.0.0/8" is invalid: use "10.0.0.0/8"']],
  ["2001:DB8::/32", ['p: IPv6 CIDR value "2001:DB8::/32" should be in RFC 5952 canonical format ("2001:db8::/32")']],
])("rangeWarnings of %s", (range, warnings) => {
  expect(rangeWarnings("p", range)).toEqual(warnings);
});
