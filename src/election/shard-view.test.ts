import { expect, test } from "bun:test";
import { FakeClock } from "../testing/fake-clock.ts";
import { type Lease, newLease, releasedLease } from "./lease.ts";
import { publishing } from "./shard-publication.ts";
import { ShardView } from "./shard-view.ts";

function setUp() {
  const clock = new FakeClock();
  const view = new ShardView({ clock, seats: 2, expiresAfter: 12_500, nameOf: (seat) => `shard-${seat}` });
  return { clock, view };
}

/** The Lease of another replica. */
function leaseOf({ leaseDuration, renewDeadline }: { leaseDuration: number; renewDeadline: number }): Lease {
  const metadata = { name: "shard-0", namespace: "default", uid: "1", resourceVersion: "1" };
  const lease = newLease(metadata, { identity: "other", leaseDuration, now: 0 });
  return publishing(lease, undefined, { group: "shard", renewDeadline });
}

test.each([
  [12_500, { leaseDuration: 15_000, renewDeadline: 10_000 }],
  [12_500, { leaseDuration: 6_000, renewDeadline: 4_000 }],
  [25_000, { leaseDuration: 30_000, renewDeadline: 20_000 }],
  [21_000, { leaseDuration: 21_000, renewDeadline: 20_000 }],
  // Somebody has edited the Lease, or the whole group would stop for decades.
  [50_000, { leaseDuration: 2 ** 31, renewDeadline: 2 ** 31 }],
])("a seat expires after %p ms when its holder has %p", (expiry, durations) => {
  const { clock, view } = setUp();
  view.list([leaseOf(durations)], false);
  clock.advance(expiry - 1);
  expect(view.expired("us")).toEqual([]);
  expect(view.nextExpiry("us")).toBe(1);
  clock.advance(1);
  expect(view.expired("us")).toEqual([0]);
});

test("whoever held a Lease that a list does not show any more may work until it would have expired", () => {
  const { clock, view } = setUp();
  view.list([leaseOf({ leaseDuration: 15_000, renewDeadline: 10_000 })], false);
  clock.advance(9_000);
  // A renewal just before the deletion was missed, too.
  view.list([], false);
  clock.advance(6_000);
  view.list([], false);
  clock.advance(6_499);
  expect(view.members).toHaveLength(1);
  clock.advance(1);
  expect(view.members).toEqual([]);
});

test("whoever held a Lease that somebody emptied may work until it would have expired", () => {
  const { clock, view } = setUp();
  const held = leaseOf({ leaseDuration: 15_000, renewDeadline: 10_000 });
  view.list([held], false);
  clock.advance(9_000);
  const metadata = { ...held.metadata, resourceVersion: "2" };
  const emptied: Lease = { ...held, metadata, spec: { ...held.spec, holderIdentity: "" } };
  view.see(emptied, false);
  clock.advance(12_499);
  expect(view.members).toHaveLength(1);
  expect(view.free("us")?.seat).toBe(1);
  clock.advance(1);
  expect(view.members).toEqual([]);
  expect(view.free("us")).toEqual({ seat: 0, lease: emptied });
});

test("whoever released a Lease works no more", () => {
  const { view } = setUp();
  const held = leaseOf({ leaseDuration: 15_000, renewDeadline: 10_000 });
  view.list([held], false);
  view.see(releasedLease({ ...held, metadata: { ...held.metadata, resourceVersion: "2" } }, 1), false);
  expect(view.members).toEqual([]);
  expect(view.free("us")?.seat).toBe(0);
});
