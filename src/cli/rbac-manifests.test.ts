import { expect, test } from "bun:test";
import { declarationsOf } from "../controller/declarations.ts";
import { watch } from "../controller/watch.ts";
import { ConfigMap, Secret } from "../resource/builtin/index.ts";
import { rbacManifests } from "./rbac-manifests.ts";

const account = { namespace: "system", name: "binnacle" };

interface Role {
  readonly kind: string;
  readonly metadata: { readonly namespace?: string };
  readonly rules?: readonly { readonly resources: readonly string[]; readonly verbs: readonly string[] }[];
}

test("rbacManifests grants what is watched in selected namespaces everywhere, with the namespaces themselves", () => {
  const { permissions } = declarationsOf({
    for: ConfigMap,
    reads: [watch(Secret, { namespaces: { labels: "team=a" } })],
    reconcile: async () => {},
  });
  const granted = (namespaces: readonly string[]) =>
    (rbacManifests([permissions], { account, namespaces }) as readonly Role[])
      .filter(({ kind }) => kind.endsWith("Role"))
      .map(
        ({ kind, metadata, rules }) =>
          `${kind} ${metadata.namespace}: ${rules!.flatMap((rule) => rule.resources).join()}`,
      );
  expect(granted([])[0]).toBe(
    "ClusterRole undefined: configmaps,namespaces,secrets,configmaps/finalizers,configmaps/status,events",
  );
  expect(granted(["one"])).toEqual([
    "ClusterRole undefined: namespaces,secrets",
    "Role one: configmaps,configmaps/finalizers,configmaps/status,events",
  ]);
});
