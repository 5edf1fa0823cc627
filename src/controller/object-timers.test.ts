import { expect, test } from "bun:test";
import type { AnyObject } from "../resource/handle.ts";
import { FakeClock } from "../testing/fake-clock.ts";
import { ObjectTimers, type TimerTimes } from "./object-timers.ts";

const OBJECT: AnyObject = {
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name: "a", namespace: "ns", uid: "1", resourceVersion: "1", creationTimestamp: "" },
};

test("a version that is replaced before it has examined the objects passes on when their timers are due", () => {
  const clock = new FakeClock();
  const queued: string[] = [];
  const version = (before?: TimerTimes) =>
    new ObjectTimers(
      "10m",
      { clock, isOurs: () => true, enqueue: (key) => void queued.push(key), call: (_, code) => code() },
      before,
    );
  const work = (timers: ObjectTimers): void => {
    timers.open();
    timers.look(OBJECT);
    timers.settled();
  };
  const one = version();
  work(one);
  clock.advance(9 * 60_000);
  one.leave("reload");
  const two = version(one.times);
  two.leave("reload");
  const three = version(two.times);
  work(three);
  clock.advance(60_000);
  expect(queued).toEqual(["ns/a"]);
  three.leave("the end");
  expect(clock.timers).toBe(0);
});
