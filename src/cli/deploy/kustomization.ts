/** The manifests as a base of kustomize, for overlays. */
import { stringify } from "yaml";
import { commentedYaml } from "../rule-comments.ts";
import type { DeployPart } from "./deploy-parts.ts";

const HEAD =
  "# Written by `binnacle manifests deploy --kustomize`, and written anew the next time: put changes into an overlay.\n";

/** Returns the files by name. @see https://kubectl.docs.kubernetes.io/references/kustomize/kustomization/ */
export function kustomization(parts: readonly DeployPart[]): Readonly<Record<string, string>> {
  const files = Object.fromEntries(
    parts.map(({ name, documents }) => [
      `${name}.yaml`,
      HEAD + documents.map((one) => `---\n${commentedYaml(one)}`).join(""),
    ]),
  );
  const main = {
    apiVersion: "kustomize.config.k8s.io/v1beta1",
    kind: "Kustomization",
    // The listed order is kept, because the default order would put webhooks before the pods that serve them.
    sortOptions: { order: "fifo" },
    resources: Object.keys(files),
  };
  return { ...files, "kustomization.yaml": HEAD + stringify(main) };
}
