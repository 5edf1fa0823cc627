import { expect, test } from "bun:test";
import { disabledBy, switchesOf } from "./switches.ts";

test("switchesOf has everything on, and any value that is not empty switches off", () => {
  expect(switchesOf({ DISABLE_HTTP2: "" })).toEqual({ http2: true, readPacing: true });
  const env = { DISABLE_HTTP2: "1", DISABLE_READ_PACING: "no" };
  expect(switchesOf(env)).toEqual({ http2: false, readPacing: false });
  expect(disabledBy({ ...env, DISABLE_READ_PACING: "", OTHER: "1" })).toEqual(["DISABLE_HTTP2"]);
});
