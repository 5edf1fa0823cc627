import { expect, test } from "bun:test";
import { describeRequest } from "./request-target.ts";

test.each([
  ["GET", "/api/v1/pods", "list", "pods"],
  ["GET", "/api/v1/namespaces/a/pods", "list", "pods in a"],
  ["GET", "/api/v1/namespaces/a/pods/b", "get", "pods a/b"],
  ["DELETE", "/api/v1/namespaces/a/pods", "deletecollection", "pods in a"],
  ["DELETE", "/api/v1/namespaces/a/pods/b", "delete", "pods a/b"],
  ["POST", "/apis/apps/v1/namespaces/a/deployments", "create", "deployments.apps in a"],
  ["PATCH", "/apis/apps/v1/namespaces/a/deployments/b/status", "patch", "deployments.apps/status a/b"],
  ["GET", "/api/v1/namespaces", "list", "namespaces"],
  ["GET", "/api/v1/namespaces/a", "get", "namespaces a"],
  ["PUT", "/api/v1/namespaces/a/finalize", "update", "namespaces/finalize a"],
  ["GET", "/apis/g.io/v1/clusterthings/a%3Ab", "get", "clusterthings.g.io a:b"],
  ["GET", "/version", "get", "/version"],
  ["GET", "/apis/apps/v1", "get", "/apis/apps/v1"],
])("describeRequest %s %s is %s %s", (method, path, verb, what) => {
  expect(describeRequest(method, path)).toMatchObject({ verb, what });
});

test("describeRequest of a watch is watch", () => {
  expect(describeRequest("GET", "/api/v1/pods", true).verb).toBe("watch");
});
