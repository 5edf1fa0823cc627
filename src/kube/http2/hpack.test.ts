import { array, assert, property, string, tuple } from "fast-check";
import { expect, test } from "bun:test";
import { encodeHeaders, encodePath, encodeTarget, HeaderReader } from "./hpack.ts";

const bytes = (hex: string): Uint8Array => Uint8Array.from(Buffer.from(hex.replaceAll(" ", ""), "hex"));

// The examples of RFC 7541, appendix C.
test("HeaderReader reads Huffman's code, and what refers to earlier blocks (C.4)", () => {
  const reader = new HeaderReader();
  const first = reader.read(bytes("8286 8441 8cf1 e3c2 e5f2 3a6b a0ab 90f4 ff"));
  expect([":method", ":scheme", ":path", ":authority"].map((name) => first.get(name))).toEqual([
    "GET",
    "http",
    "/",
    "www.example.com",
  ]);
  expect(reader.read(bytes("8286 84be 5886 a8eb 1064 9cbf")).get("cache-control")).toBe("no-cache");
  const third = reader.read(bytes("8287 85bf 4088 25a8 49e9 5ba9 7d7f 8925 a849 e95b b8e8 b4bf"));
  expect([third.get(":authority"), third.get("custom-key")]).toEqual(["www.example.com", "custom-value"]);
  expect(first.get(":authority")).toBe("www.example.com");
});

test("HeaderReader forgets what does not fit (C.6), and joins values of one name", () => {
  const reader = new HeaderReader();
  const size = "3fe1 01"; // 256 bytes
  const answer = reader.read(
    bytes(
      `${size} 4882 6402 5885 aec3 771a 4b61 96d0 7abe 9410 54d4 44a8 2005 9504 0b81 66e0 82a6 2d1b ff6e 919d 29ad 1718 63c7 8f0b 97c8 e9ae 82ae 43d3`,
    ),
  );
  expect(answer.status).toBe(302);
  expect(answer.get("location")).toBe("https://www.example.com");
  expect(reader.read(bytes("4883 640e ff c1c0bf")).status).toBe(307);
  expect(() => reader.read(bytes("c2"))).toThrow("invalid HPACK table index 66");
});

test("HeaderReader reads what encodeHeaders writes, names in lower case", () => {
  const name = string({ minLength: 1, maxLength: 40 }).map((text) => text.replaceAll(/[^\x21-\x7e]/g, "x"));
  const value = string({ maxLength: 300 }).map((text) => text.replaceAll(/[^\x20-\x7e]/g, "x"));
  assert(
    property(array(tuple(name, value)), (pairs) => {
      const headers = new Map(pairs.map(([its, text]) => [its.toLowerCase(), text]));
      const block = new HeaderReader().read(
        encodeHeaders(Object.fromEntries([...headers].map(([its, text]) => [its.toUpperCase(), text]))),
      );
      for (const [its, text] of headers) expect(block.get(its)).toBe(text);
    }),
  );
  const several = new HeaderReader().read(encodeHeaders({ "Impersonate-Group": ["a", "b"] }));
  expect(several.get("impersonate-group")).toBe("a, b");
  expect(() => encodeHeaders({ "x-name": "a\r\nb" })).toThrow("The header 'x-name' must not hold a line break");
});

test("encodeTarget and encodePath make the fields of a request", () => {
  const parts = [encodeTarget("PATCH", "127.0.0.1:6443"), encodePath(`/a/${"b".repeat(300)}?c=ä`)];
  const block = new HeaderReader().read(Buffer.concat(parts));
  expect(block.get(":method")).toBe("PATCH");
  expect(block.get(":scheme")).toBe("https");
  expect(block.get(":authority")).toBe("127.0.0.1:6443");
  expect(block.get(":path")).toBe(`/a/${"b".repeat(300)}?c=%C3%A4`);
});

test("HeaderReader looks only at what is asked for, once the server has given up its table", () => {
  const reader = new HeaderReader();
  const warning = { warning: '299 - "old"', "audit-id": "a", "retry-after": "2" };
  const parts = [bytes("20 88"), encodeHeaders(warning)];
  const first = reader.read(Buffer.concat(parts));
  for (const block of [first, reader.read(Buffer.concat([bytes("88"), encodeHeaders(warning)]))]) {
    expect(block.status).toBe(200);
    expect(["warning", "audit-id", "retry-after", "date"].map((name) => block.get(name))).toEqual([
      '299 - "old"',
      "a",
      "2",
      undefined,
    ]);
  }
  // `custom-key: custom-value`, in Huffman's code (C.4.3).
  const packed = reader.read(bytes("88 00 8825 a849 e95b a97d 7f89 25a8 49e9 5bb8 e8b4 bf"));
  expect([packed.get("custom-key"), packed.get("custom")]).toEqual(["custom-value", undefined]);
});

test("HeaderReader refuses what is broken", () => {
  const broken = {
    "80": "invalid HPACK table index 0",
    "0f 80": "truncated field block",
    "00 05 61": "truncated field block",
    "ff ff ff ff ff ff 7f": "HPACK integer overflow",
    "3f ff ff 03": "HPACK dynamic table size update to 65566 bytes exceeds the limit",
    "00 85 61": "truncated field block",
  };
  for (const [block, says] of Object.entries(broken)) {
    expect(() => new HeaderReader().read(bytes(block)), block).toThrow(says);
  }
});
