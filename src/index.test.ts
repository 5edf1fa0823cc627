import { expect, test } from "bun:test";
import * as sdk from "./index.ts";

test("the SDK exports exactly this: a name that goes breaks modules", () => {
  expect(Object.keys(sdk).sort()).toEqual([
    "AlreadyOwned",
    "ApiError",
    "NotOwned",
    "RetryError",
    "TerminalError",
    "all",
    "allow",
    "any",
    "changed",
    "conditions",
    "defineController",
    "defineIndex",
    "defineKeyController",
    "definePlugin",
    "defineResource",
    "edit",
    "isAlreadyExists",
    "isApiError",
    "isConflict",
    "isForbidden",
    "isGone",
    "isInvalid",
    "isNotFound",
    "isTooManyRequests",
    "isUnauthorized",
    "isUnreachable",
    "none",
    "of",
    "resource",
    "source",
    "watch",
    "z",
  ]);
});
