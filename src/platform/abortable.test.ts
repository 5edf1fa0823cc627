import { expect, test } from "bun:test";
import { abortable } from "./abortable.ts";

test("abortable settles as the promise does", async () => {
  const { signal } = new AbortController();
  expect(await abortable(Promise.resolve(1), signal)).toBe(1);
  expect(abortable(Promise.reject(new Error("no")), signal)).rejects.toThrow("no");
});

test("abortable rejects with the signal's reason, at once when it is aborted already", async () => {
  const controller = new AbortController();
  const waiting = abortable(new Promise(() => {}), controller.signal).catch((reason: unknown) => reason);
  controller.abort("enough");
  expect(await waiting).toBe("enough");
  const failing = Promise.reject(new Error("not told"));
  expect(await abortable(failing, controller.signal).catch((reason: unknown) => reason)).toBe("enough");
});
