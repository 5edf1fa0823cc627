import { expect, test } from "bun:test";
import { stoppedMessage } from "./build.ts";

test("stoppedMessage names the executables that are complete", () => {
  expect(stoppedMessage([])).toBe("Stopped, and nothing has been written");
  expect(stoppedMessage(["dist/a"])).toBe("Stopped: dist/a has been written, and nothing else");
  expect(stoppedMessage(["dist/a", "dist/b"])).toBe("Stopped: dist/a, dist/b have been written, and nothing else");
});
