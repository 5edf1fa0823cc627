import { expect, test } from "bun:test";
import { ApiError } from "../kube/errors/api-error.ts";
import { ClusterRoleBinding, Pod, Secret } from "../resource/builtin/index.ts";
import { Permissions } from "./permissions.ts";
import { explained, type ApiCall } from "./undeclared-call.ts";

const permissions = new Permissions();
permissions.allow(Secret, ["get"]);
permissions.allow(Pod, ["get"], { subresource: "exec" });

function told(call: ApiCall, said = 'User "x" cannot do it'): string {
  const status = { kind: "Status", code: 403, reason: "Forbidden", message: said } as const;
  const error = new ApiError({ method: "POST", path: "/api/v1/secrets", status });
  return explained(error, { permissions, manager: "tenant" }, call).message;
}

test("explained names the line that is missing, and only where one is", () => {
  expect(told({ resource: Secret, verbs: ["list"] })).toEndWith(
    "; controller 'tenant' does not declare it: add `uses: [allow(Secret, \"list\")]`",
  );
  expect(told({ resource: Pod, verbs: ["get", "create"], subresource: "exec" })).toEndWith(
    '`uses: [allow(Pod, "exec/create")]`',
  );
  expect(told({ resource: Secret, verbs: ["get"] })).not.toContain("does not declare");
  const notFound = new ApiError({ method: "GET", path: "/api/v1/secrets/a", status: { code: 404 } });
  const call = { resource: Secret, verbs: ["list"] };
  expect(explained(notFound, { permissions, manager: "tenant" }, call).message).not.toContain("does not declare");
});

test("explained names the verbs that let a controller give what it has not", () => {
  const call = { resource: ClusterRoleBinding, verbs: ["create"] };
  const declared = new Permissions();
  declared.allow(ClusterRoleBinding, ["create"]);
  const said = 'user "x" (groups=["y"]) is attempting to grant RBAC permissions not currently held:\n{Verbs:["get"]}';
  const error = new ApiError({ method: "POST", path: "/x", status: { code: 403, message: said } });
  expect(explained(error, { permissions: declared, manager: "tenant" }, call).message).toContain(
    'add `uses: [allow(ClusterRole, "bind", { names: […] })]`',
  );
});

test("explained names whom a controller acts as", () => {
  const headers = { "Impersonate-User": "ann", "Impersonate-Group": ["dev"] };
  const call = { resource: Secret, verbs: ["list"], headers };
  expect(
    told(call, 'secrets is forbidden: User "x" cannot impersonate-on:user-info:list resource "secrets"'),
  ).toEndWith('`uses: [allow(resource("v1", "User"), "impersonate"), allow(resource("v1", "Group"), "impersonate")]`');
  expect(told(call, 'User "ann" cannot list resource "secrets"')).not.toContain("does not declare");
});
