import { expect, test } from "bun:test";
import { signalRank } from "./signal-rank.ts";

test("a signal that comes once more at once is the same one, which reached a process group and its launcher", () => {
  let now = 5_000;
  const rank = signalRank(() => now);
  expect(rank("SIGINT")).toBe("first");
  expect(rank("SIGINT")).toBe("echo");
  now += 499;
  expect(rank("SIGINT")).toBe("echo");
  // Echoes do not prolong the time: whoever keeps on pressing the key is heard.
  now += 1;
  expect(rank("SIGINT")).toBe("second");
});

test("another signal is a second one at any time", () => {
  const rank = signalRank(() => 0);
  expect([rank("SIGTERM"), rank("SIGINT")]).toEqual(["first", "second"]);
});
