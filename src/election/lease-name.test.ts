import { expect, test } from "bun:test";
import { leaseName } from "./lease-name.ts";

test("leaseName names a Lease after its module", () => {
  expect(leaseName("shop", "guestbook.ts")).toBe("shop-guestbook");
  expect(leaseName("shop", "guest-book-2.js")).toBe("shop-guest-book-2");
});

// Replicas of two versions must elect each other by the same Lease, so the digest is part of the contract.
test("leaseName changes an invalid name in the same way in every version", () => {
  expect(leaseName("shop", "Guest_Book")).toBe("shop-guest-book-a38eb3");
});
