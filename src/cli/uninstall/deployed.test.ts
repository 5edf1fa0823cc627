import { expect, test } from "bun:test";
import { type Deployment, mountedModules } from "./deployed.ts";

function deployment(configMap: object): Deployment {
  const volumes = [{ name: "controllers", configMap }];
  return {
    kind: "Deployment",
    metadata: { name: "binnacle", namespace: "binnacle-system", uid: "1", resourceVersion: "1" },
    spec: { selector: {}, template: { spec: { containers: [], volumes } } },
  };
}

test("the files of modules are those that the Deployment mounts by name; one that mounts all does not say which it runs", () => {
  const items = [
    { key: "a.ts__index.js", path: "a.ts/index.js" },
    { key: "b.ts", path: "b.ts" },
  ];
  expect(mountedModules(deployment({ name: "files", items }), ["a.ts"])).toEqual({
    configMap: "files",
    keys: ["a.ts__index.js"],
  });
  expect(mountedModules(deployment({ name: "files" }), ["a.ts"])).toBeUndefined();
});
