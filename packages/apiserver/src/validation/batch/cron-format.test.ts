import { expect, test } from "bun:test";
import { cronProblem } from "./cron-format.ts";

test("cronProblem accepts what kube-apiserver accepts", () => {
  for (const schedule of [
    "* * * * *",
    "*/5 0-6 1,15 jan-mar mon",
    "@daily",
    "@every 1h30m",
    "TZ=UTC 0 0 * * *",
    "0 0 ? * 0",
  ]) {
    expect(cronProblem(schedule)).toBeUndefined();
  }
});

test("cronProblem words what is wrong as kube-apiserver does", () => {
  expect(cronProblem("nope")).toBe("expected exactly 5 fields, found 1: [nope]");
  expect(cronProblem("60 * * * *")).toBe("end of range (60) above maximum (59): 60");
  expect(cronProblem("5-1 * * * *")).toBe("beginning of range (5) beyond end of range (1): 5-1");
  expect(cronProblem("*/0 * * * *")).toBe("step of range should be a positive number: */0");
  expect(cronProblem("@nope")).toBe("unrecognized descriptor: @nope");
  expect(cronProblem("x * * * *")).toBe('failed to parse int from x: strconv.Atoi: parsing "x": invalid syntax');
});
