import { describe, expect, test } from "bun:test";
import { ApiError, UnreachableError } from "../errors/api-error.ts";
import { retryAfterOf, retryDelay } from "./retry.ts";

function refused(code: number, retryAfter?: number): ApiError {
  return new ApiError({ method: "GET", path: "/api/v1/pods", code, status: {}, retryAfter });
}

function lost(code = "ECONNRESET"): UnreachableError {
  return new UnreachableError("https://a", { code, message: "lost" });
}

const none = () => ({ refused: 0, reset: 0 });

describe("REST-01 retryDelay", () => {
  test.each([
    [429, 2, 2_000],
    [503, 3, 3_000],
    [500, 0, 100],
    [429, undefined, undefined],
    [503, undefined, undefined],
    [409, 1, undefined],
    [429, 600, 60_000],
  ])("%i with Retry-After %p waits %p ms", (code, retryAfter, delay) => {
    for (const method of ["GET", "POST"]) {
      expect(retryDelay(refused(code, retryAfter), { method, attempts: none() })).toBe(delay);
    }
  });
});

test("REST-02 retryDelay gives up after the most retries", () => {
  const attempts = none();
  const delays = Array.from({ length: 12 }, () => retryDelay(refused(429, 1), { method: "PUT", attempts }));
  expect(delays.filter((delay) => delay !== undefined)).toHaveLength(10);
});

describe("REST-04 retryDelay", () => {
  test("a GET is sent again after a lost connection, three times", () => {
    const attempts = none();
    const delays = Array.from({ length: 4 }, () => retryDelay(lost(), { method: "GET", attempts }));
    expect(delays.map((delay) => delay !== undefined)).toEqual([true, true, true, false]);
  });

  test("a refused connection and a write are never sent again", () => {
    expect(retryDelay(lost("ECONNREFUSED"), { method: "GET", attempts: none() })).toBeUndefined();
    for (const method of ["POST", "PUT", "PATCH", "DELETE"]) {
      expect(retryDelay(lost(), { method, attempts: none() })).toBeUndefined();
    }
  });
});

test("retryDelay repeats a write that the server did not begin, six times", () => {
  const attempts = none();
  const delays = Array.from({ length: 7 }, () => retryDelay(lost("HTTP2RefusedStream"), { method: "POST", attempts }));
  expect(delays).toEqual([0, 0, 100, 100, 1_000, 1_000, undefined]);
});

test("retryAfterOf reads seconds and nothing else", () => {
  expect(["3", "0", "-1", "soon", "", null].map((value) => retryAfterOf(value))).toEqual([
    3,
    0,
    undefined,
    undefined,
    undefined,
    undefined,
  ]);
});
