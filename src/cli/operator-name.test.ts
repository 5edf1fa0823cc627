import { afterAll, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { operatorAccount, projectName } from "./operator-name.ts";

const root = mkdtempSync(join(tmpdir(), "binnacle-names-"));
afterAll(() => rmSync(root, { recursive: true }));

/** Makes a folder in a project of its own. */
function folder(path: string, packages: Readonly<Record<string, object | string>> = {}): string {
  mkdirSync(join(root, path), { recursive: true });
  for (const [at, manifest] of Object.entries(packages)) {
    const text = typeof manifest === "string" ? manifest : JSON.stringify(manifest);
    writeFileSync(join(root, at, "package.json"), text);
  }
  return join(root, path);
}

test("projectName is that of the package.json in the folder or around it, else that of the folder", () => {
  expect(projectName(folder("a/hello"))).toBe("hello");
  expect(projectName(folder("b/shop/controllers"))).toBe("shop");
  expect(projectName(folder("c/shop/src/controllers"))).toBe("shop");
  expect(projectName(folder("d/x/controllers", { "d/x": { name: "@team/guestbook" } }))).toBe("guestbook");
  expect(projectName(folder("e/own/controllers", { "e/own/controllers": { name: "inner" }, "e/own": {} }))).toBe(
    "inner",
  );
  expect(projectName(folder("f/broken/controllers", { "f/broken": "{" }))).toBe("broken");
  expect(projectName("/controllers")).toBeUndefined();
});

test("projectName tells folders of one repository apart, whose package.json is further up", () => {
  folder("mono", { mono: { name: "mono" } });
  expect(projectName(folder("mono/operators/one"))).toBe("one");
  expect(projectName(folder("mono/operators/two/controllers"))).toBe("two");
});

const account = (values: Partial<Parameters<typeof operatorAccount>[0]>, operator?: { readonly name: string }) =>
  operatorAccount({ controllers: [folder("a/hello")], ...values }, { embedded: { operator } });

test("operatorAccount is the name, in a namespace of its own, in the spelling of Kubernetes", () => {
  expect(account({})).toEqual({ namespace: "hello-system", name: "hello" });
  expect(account({ name: "shop" })).toEqual({ namespace: "shop-system", name: "shop" });
  expect(account({ "service-account": "apps/shop" })).toEqual({ namespace: "apps", name: "shop" });
  expect(account({ controllers: [] }, { name: "My_Shop.v2" })).toEqual({
    namespace: "my-shop-v2-system",
    name: "my-shop-v2",
  });
  expect(account({ controllers: [folder(`g/${"long-".repeat(20)}`)] }).name).toBe("long-".repeat(10).slice(0, 49));
  expect(account({ controllers: [folder("h/2048 Games")] }).name).toBe("games");
});

const refused: readonly (readonly [Parameters<typeof account>[0], string])[] = [
  [{ name: "Shop" }, "--name is 'Shop': expected at most 50 lower-case letters, digits and '-', and a letter first"],
  [
    { name: "a".repeat(51) },
    `--name is '${"a".repeat(51)}': expected at most 50 lower-case letters, digits and '-', and a letter first`,
  ],
  [
    { name: "x", "service-account": "a/b" },
    "--name and --service-account are both given, and both name what is deployed: leave one out",
  ],
  [{ "service-account": "x" }, "--service-account is 'x': expected namespace/name"],
  [
    { "service-account": "x/cluster-admin" },
    "--service-account is 'x/cluster-admin': its ClusterRole would take the place of the one that every cluster has under this name, so " +
      "choose another name",
  ],
  [
    { name: "view" },
    "--name is 'view': its ClusterRole would take the place of the one that every cluster has under this name, so choose another name",
  ],
  [
    { controllers: ["/somewhere/edit"] },
    "The operator is called 'edit': its ClusterRole would take the place of the one that every cluster has under this name, so choose " +
      "another name",
  ],
  [
    { name: "kube" },
    "--name is 'kube': its namespace would be kube-system, which is that of the cluster itself, so choose another name",
  ],
  [
    { controllers: ["/controllers"] },
    "Cannot tell what the operator is called: neither a package.json nor its folder says so; give it a --name",
  ],
];

test.each(refused)("operatorAccount refuses %j", (values, message) => {
  expect(() => account(values)).toThrow(message);
});
