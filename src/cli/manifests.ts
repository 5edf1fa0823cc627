/** `binnacle manifests crds|rbac|deploy` */
import { stringify } from "yaml";
import { declarationsOf } from "../controller/declarations.ts";
import type { LoadedModule } from "../module/loaded-module.ts";
import { crdOf } from "../resource/crd.ts";
import { groupKind } from "../resource/handle.ts";
import { type Command, command } from "./command.ts";
import { deployManifests } from "./deploy-manifests.ts";
import { loadModules } from "./loaded-modules.ts";
import { namespaceManifest, rbacManifests, type ServiceAccount } from "./rbac-manifests.ts";
import { controllersOption, namespaceOption } from "./shared-options.ts";
import { UsageError, UserError } from "./usage-error.ts";

export const manifestsCommand: Command = command({
  options: [
    {
      name: "what",
      type: "string",
      positional: true,
      choices: ["crds", "rbac", "deploy"],
      describe: "crds, rbac or deploy",
    },
    controllersOption,
    { ...namespaceOption, describe: "Namespace to work in; repeatable; a Role in each instead of a ClusterRole" },
    {
      name: "service-account",
      type: "string",
      default: "binnacle-system/binnacle",
      describe: "Namespace and name of the service account, and of what else is deployed",
    },
    {
      name: "image",
      type: "string",
      describe: "deploy: image that holds the binary and, in /controllers, the modules; else a ConfigMap holds them",
    },
    {
      name: "base-image",
      type: "string",
      describe: "deploy from a ConfigMap: image that holds the binary [default: binnacle:<version>]",
    },
  ],
  async run(values, host) {
    if (values.what === undefined)
      throw new UsageError("Say what to print: `binnacle manifests crds`, `rbac` or `deploy`");
    const { controllers, namespace: namespaces = [], image } = values;
    const { modules, problems } = await loadModules(controllers, host);
    if (problems.length > 0) throw new UserError(problems.join("\n"));
    const account = serviceAccount(values["service-account"]);
    const permissions = modules.flatMap(({ definitions }) =>
      definitions.controllers.map((one) => declarationsOf(one).permissions),
    );
    const rbac = rbacManifests(permissions, { account, namespaces });
    const [version = ""] = host.embedded.version.split("+");
    const baseImage = values["base-image"] ?? `binnacle:${version}`;
    const documents =
      values.what === "crds"
        ? crds(modules)
        : values.what === "rbac"
          ? [...namespaceManifest(account.namespace), ...rbac]
          : deployManifests({ account, namespaces, rbac, controllers, image, baseImage });
    host.out(documents.map((one) => `---\n${yaml(one)}`).join(""));
    return 0;
  },
});

/** Texts that YAML 1.1, which Kubernetes reads, would take for something else are quoted. */
function yaml(document: object): string {
  return stringify(document, { version: "1.1", lineWidth: 0, aliasDuplicateObjects: false });
}

function crds(modules: readonly LoadedModule[]): readonly object[] {
  const byKind = new Map<string, object>();
  for (const { definitions } of modules) {
    for (const resource of definitions.resources) byKind.set(groupKind(resource), crdOf(resource));
  }
  return [...byKind].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, crd]) => crd);
}

function serviceAccount(text: string): ServiceAccount {
  const match = /^([a-z0-9]([-a-z0-9]*[a-z0-9])?)\/([a-z0-9]([-a-z0-9.]*[a-z0-9])?)$/.exec(text);
  if (match === null) throw new UsageError(`--service-account is '${text}': expected namespace/name`);
  return { namespace: match[1]!, name: match[3]! };
}
