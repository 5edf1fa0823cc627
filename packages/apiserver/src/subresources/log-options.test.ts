import { expect, test } from "bun:test";
import { checkLogOptions } from "./log-options.ts";

test.each([
  ["tailLines=-1", 'PodLogOptions "p" is invalid: tailLines: Invalid value: -1: must be greater than or equal to 0'],
  ["limitBytes=x", 'strconv.ParseInt: parsing "x": invalid syntax'],
  ["sinceTime=2020-13-01T00:00:00Z", 'parsing time "2020-13-01T00:00:00Z": month out of range'],
  [
    "sinceSeconds=1&sinceTime=2020-01-01T00:00:00Z",
    'PodLogOptions "p" is invalid: []: Forbidden: at most one of `sinceTime` or `sinceSeconds` may be specified',
  ],
  ["stream=", 'PodLogOptions "p" is invalid: stream: Forbidden: may not be specified'],
])("%s is refused", (query, message) => {
  expect(() => checkLogOptions(new URLSearchParams(query), "p")).toThrow(message);
});

test("what a log may be asked for is taken", () => {
  checkLogOptions(new URLSearchParams("tailLines=0&limitBytes=1&sinceTime=2020-02-29T00:00:00.5Z"), "p");
});
