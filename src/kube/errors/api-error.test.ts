import { expect, test } from "bun:test";
import {
  ApiError,
  isAlreadyExists,
  isApiError,
  isConflict,
  isForbidden,
  isGone,
  isInvalid,
  isNotFound,
  isTooManyRequests,
  isUnauthorized,
  isUnreachable,
  UnreachableError,
} from "./api-error.ts";

function failed(code: number, reason?: string): ApiError {
  return new ApiError({ method: "GET", path: "/api/v1/pods", code, status: { reason, message: "why" } });
}

test("ApiError names verb, kind, key, reason and the server's message", () => {
  const path = "/apis/apps/v1/namespaces/shop/deployments/web";
  const error = new ApiError({ method: "GET", path, status: { code: 404, reason: "NotFound", message: "not found" } });
  expect(error.message).toBe("Cannot get deployments.apps shop/web: NotFound (404): not found");
  expect(error).toMatchObject({ name: "ApiError", code: 404, reason: "NotFound", verb: "get" });
});

test("ApiError 403 says which rule would allow it", () => {
  const path = "/apis/apps/v1/namespaces/shop/deployments/web/status";
  const error = new ApiError({ method: "PATCH", path, code: 403, status: { message: 'User "jane" cannot patch' } });
  expect(error.message).toEndWith(
    'User "jane" cannot patch. Grant it in a Role: apiGroups ["apps"], resources ["deployments/status"], verbs ["patch"]',
  );
  const list = { method: "GET", path: "/api/v1/pods", code: 403 };
  expect(new ApiError({ ...list, status: { message: 'User "jane" cannot list' } }).message).toContain(
    'Grant it in a ClusterRole: apiGroups [""], resources ["pods"], verbs ["list"]',
  );
  expect(new ApiError({ ...list, status: {} }).message).toContain("Grant it in a ClusterRole");
});

test("ApiError 403 names the verb that the server asked for, which is not always that of the request", () => {
  const path = "/api/v1/namespaces/shop/configmaps/x";
  const message = 'configmaps "x" is forbidden: User "jane" cannot create resource "configmaps" in API group ""';
  const error = new ApiError({ method: "PATCH", path, code: 403, status: { message } });
  expect(error.message).toEndWith('resources ["configmaps"], verbs ["create"]');
});

test("ApiError 403 advises no rule where no rule would help", () => {
  const path = "/api/v1/namespaces/gone/configmaps/x";
  const message =
    'configmaps "x" is forbidden: unable to create new content in namespace gone because it is being terminated';
  const error = new ApiError({ method: "PATCH", path, code: 403, status: { message } });
  expect(error.message).toEndWith("it is being terminated");
});

test("ApiError 404 of a kind that is not there names its CustomResourceDefinition, of an object it does not", () => {
  const path = "/apis/demo.example.com/v1/greetings";
  const kind = new ApiError({ method: "GET", path, code: 404, status: { message: "404 page not found" } });
  expect(kind.message).toEndWith("404 page not found. The server has no such kind: apply its CustomResourceDefinition");
  const details = { name: "a", kind: "greetings" };
  const object = new ApiError({
    method: "GET",
    path: `${path}/a`,
    code: 404,
    status: { message: "not found", details },
  });
  expect(object.message).toEndWith("NotFound (404): not found");
  expect(failed(404).message).toEndWith("NotFound (404): why");
});

test("ApiError of a server-side apply says how to take the fields over", () => {
  const status = {
    code: 409,
    reason: "Conflict",
    message: "Apply failed",
    details: { causes: [{ reason: "FieldManagerConflict" }] },
  };
  const error = new ApiError({ method: "PATCH", path: "/api/v1/nodes/a", status });
  expect(error.message).toEndWith("Apply failed. Leave these fields out, or take them over with force: true");
  expect(failed(409, "Conflict").message).toEndWith(": why");
});

test("ApiError makes a reason of the code when the server gives none", () => {
  expect(failed(503).reason).toBe("ServiceUnavailable");
  expect(failed(418).reason).toBe("HTTP418");
});

test("ApiError takes retryAfter from the header, else from the details", () => {
  const status = { details: { retryAfterSeconds: 7 } };
  expect(new ApiError({ method: "GET", path: "/", code: 429, status }).retryAfter).toBe(7);
  expect(new ApiError({ method: "GET", path: "/", code: 429, status, retryAfter: 2 }).retryAfter).toBe(2);
});

test.each([
  [404, undefined, isNotFound],
  [409, "Conflict", isConflict],
  [409, "AlreadyExists", isAlreadyExists],
  [403, undefined, isForbidden],
  [422, undefined, isInvalid],
  [410, undefined, isGone],
  [410, "Expired", isGone],
  [500, "Expired", isGone],
  [429, undefined, isTooManyRequests],
  [401, undefined, isUnauthorized],
] as const)("guards recognise %p %p and nothing else does", (code, reason, guard) => {
  const guards = [
    isNotFound,
    isConflict,
    isAlreadyExists,
    isForbidden,
    isInvalid,
    isGone,
    isTooManyRequests,
    isUnauthorized,
  ];
  expect(guards.filter((one) => one(failed(code, reason)))).toEqual([guard]);
  expect(guards.filter((one) => one(new Error("other")))).toEqual([]);
});

test("isApiError recognises an error of another copy of the class", () => {
  const copy = Object.assign(new Error("x"), { name: "ApiError", code: 404, reason: "NotFound" });
  expect(isApiError(copy)).toBe(true);
  expect(isApiError(new UnreachableError("https://a", { code: "ECONNRESET", message: "lost" }))).toBe(false);
  expect([isApiError(undefined), isApiError("ApiError"), isApiError({})]).toEqual([false, false, false]);
});

test("isUnreachable recognises only UnreachableError", () => {
  expect(isUnreachable(new UnreachableError("https://a", { code: "ECONNRESET", message: "lost" }))).toBe(true);
  expect(isUnreachable(failed(503))).toBe(false);
});

test.each([["soon"], [-1], [{}], ["5"], [null]])(
  "ApiError takes %p seconds in a body for none",
  (retryAfterSeconds) => {
    const details = { retryAfterSeconds } as never;
    const error = new ApiError({ method: "GET", path: "/api/v1/pods", code: 429, status: { details } });
    expect(error.retryAfter).toBeUndefined();
  },
);
