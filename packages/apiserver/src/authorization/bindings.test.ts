import { expect, test } from "bun:test";
import { type Binding, Bindings } from "./bindings.ts";

function binding(name: string, username: string): Binding {
  return {
    apiVersion: "rbac.authorization.k8s.io/v1",
    kind: "ClusterRoleBinding",
    metadata: { name },
    roleRef: { kind: "ClusterRole", name: "view" },
    subjects: [{ kind: "User", name: username }],
  };
}

test("Bindings looks at nobody's but the user's own", () => {
  const bindings = new Bindings();
  let isQuiet = true;
  let looks = 0;
  const watched = (name: string): Binding =>
    new Proxy(binding(name, name), {
      get: (target, field, receiver) => {
        if (!isQuiet) looks += 1;
        return Reflect.get(target, field, receiver) as unknown;
      },
    });
  for (let index = 0; index < 10_000; index++) bindings.put(watched(`other-${index}`));
  for (const name of ["b", "a"]) bindings.put(binding(name, "one"));
  isQuiet = false;
  const found = bindings.of({ username: "one", groups: ["system:authenticated"] });
  expect(found.map(({ metadata }) => metadata.name)).toEqual(["a", "b"]);
  expect(looks).toBe(0);
});

test("Bindings forgets subjects that a change leaves out", () => {
  const bindings = new Bindings();
  bindings.put(binding("a", "one"));
  bindings.put(binding("a", "two"));
  expect(bindings.of({ username: "one", groups: [] })).toEqual([]);
  expect(bindings.of({ username: "two", groups: [] })).toHaveLength(1);
  bindings.remove("a");
  expect(bindings.of({ username: "two", groups: [] })).toEqual([]);
});
