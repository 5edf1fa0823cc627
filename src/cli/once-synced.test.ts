import { expect, test } from "bun:test";
import { onceSynced } from "./once-synced.ts";

class Starting {
  hasSynced = false;
  readonly listeners = new Set<() => void>();

  onChange(listener: () => void): Disposable {
    this.listeners.add(listener);
    return { [Symbol.dispose]: () => void this.listeners.delete(listener) };
  }

  sync(): void {
    this.hasSynced = true;
    for (const listener of this.listeners) listener();
  }
}

test("onceSynced calls once when the last controller has synced, and listens to none any more", () => {
  const [first, second] = [new Starting(), new Starting()];
  let calls = 0;
  first.hasSynced = true;
  onceSynced([first, second], () => calls++);
  expect(calls).toBe(0);
  second.sync();
  second.sync();
  expect([calls, first.listeners.size, second.listeners.size]).toEqual([1, 0, 0]);
});

test("onceSynced calls at once when there are no controllers", () => {
  let calls = 0;
  onceSynced([], () => calls++);
  expect(calls).toBe(1);
});
