import { expect, test } from "bun:test";
import { FakeClock } from "../../testing/fake-clock.ts";
import { Tickets } from "./tickets.ts";

test("a ticket is good once, for a minute, and only while there are few", () => {
  const clock = new FakeClock();
  const tickets = new Tickets(clock);
  const [first, second] = [tickets.issue(), tickets.issue()];
  expect([tickets.redeem(first), tickets.redeem(first), tickets.redeem("other")]).toEqual([true, false, false]);
  clock.advance(60_000);
  expect(tickets.redeem(second)).toBe(false);
  const oldest = tickets.issue();
  const newer = Array.from({ length: 100 }, () => tickets.issue());
  expect([tickets.redeem(oldest), ...newer.map((ticket) => tickets.redeem(ticket))]).toEqual([
    false,
    ...newer.map(() => true),
  ]);
});
