/** `binnacle manifests crds|rbac|webhooks|deploy` */
import { basename } from "node:path";
import { permissionsOf } from "../module/module-definitions.ts";
import { shardLeaseNames } from "../election/shard-leases.ts";
import { leaseName } from "../election/lease-name.ts";
import type { LoadedModule } from "../module/loaded-module.ts";
import { crdOf } from "../resource/crd.ts";
import { groupKind, type Resource } from "../resource/handle.ts";
import { type Command, command } from "./command.ts";
import { configMapFiles } from "./config-map-files.ts";
import { deployManifests } from "./deploy-manifests.ts";
import { loadModules } from "./loaded-modules.ts";
import { namespaceManifest, rbacManifests, type ServiceAccount } from "../module/rbac-manifests.ts";
import { metricsReader, reviewRules } from "../module/metrics-rules.ts";
import { installRules } from "../module/rbac-rules.ts";
import { seatsOf } from "./election-options.ts";
import { controllersOption, namespaceOption } from "./shared-options.ts";
import { commentedYaml } from "./rule-comments.ts";
import { UsageError, UserError } from "./usage-error.ts";
import { conversionNeeded, needsConversion, withConversion } from "../resource/crd-conversion.ts";
import { PROCESS } from "../manager/elections.ts";
import { CONVERSION_PATH } from "../webhook/conversion/conversion-endpoint.ts";
import { printedWebhooks, webhookManifests } from "./webhook-manifests.ts";
import { webhookAddress, webhookHostOption, webhookServiceOption } from "./webhook-address.ts";

export const manifestsCommand: Command = command({
  options: [
    {
      name: "what",
      type: "string",
      positional: true,
      choices: ["crds", "rbac", "webhooks", "deploy"],
      describe: "crds, rbac, webhooks or deploy",
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
      describe: "deploy from a ConfigMap: image that holds the binary and runs it",
    },
    {
      name: "install-crds",
      type: "boolean",
      default: false,
      describe: "deploy and rbac: the process applies the CustomResourceDefinitions itself, and has the right to",
    },
    {
      name: "replicas",
      type: "number",
      default: 2,
      describe: "deploy: pods of the Deployment; one leads and the others stand by, unless --shards divides the work",
    },
    {
      name: "leader-elect",
      type: "string",
      default: "process",
      bare: "process",
      choices: ["false", "true", "process", "module"],
      describe: "deploy and rbac: elect one leader for all modules, or with `module` one for each; false for none",
    },
    {
      name: "metrics-secure",
      type: "boolean",
      default: false,
      describe: "deploy and rbac: serve /metrics over TLS on port 8443, to those whom the API server lets read it",
    },
    {
      name: "shards",
      type: "string",
      describe:
        "deploy and rbac: divide the keys among so many replicas, or auto for all, instead of electing a leader",
    },
    webhookHostOption,
    { ...webhookServiceOption, describe: `${webhookServiceOption.describe}; that of --service-account when left out` },
    {
      name: "inject-ca-from",
      type: "string",
      describe: "webhooks: namespace/name of the Certificate of cert-manager whose authority is to be trusted",
    },
  ],
  async run(values, host) {
    if (values.what === undefined)
      throw new UsageError("Say what to print: `binnacle manifests crds`, `rbac`, `webhooks` or `deploy`");
    const { controllers, namespace: namespaces = [], image, "base-image": baseImage } = values;
    const holder = image ?? baseImage;
    if (values.what === "deploy" && holder === undefined) {
      throw new UsageError(
        "Say which image to run: --base-image of one that holds the binary, with the modules in a ConfigMap, or --image of one that " +
          "holds both",
      );
    }
    const { modules, problems } = await loadModules(controllers, host);
    if (problems.length > 0) throw new UserError(problems.join("\n"));
    const account = serviceAccount(values["service-account"]);
    const permissions = modules.flatMap(({ definitions }) => permissionsOf(definitions));
    const resources = kinds(modules);
    const { shards } = values;
    if (shards !== undefined && values["leader-elect"] === "module") {
      throw new UsageError(
        "--shards and --leader-elect=module exclude each other: each replica works a part of all modules, or some of them; leave one out",
      );
    }
    const elects = shards === undefined ? electing(values["leader-elect"]) : undefined;
    const seats = shards === undefined ? 0 : seatsOf(shards);
    const { replicas } = values;
    if (elects === undefined && shards === undefined && replicas > 1 && values.what === "deploy") {
      throw new UsageError(
        `--replicas is ${replicas} with --leader-elect=false: they would reconcile the same objects; leave one of the two out`,
      );
    }
    const webhooks = webhookManifests({ modules, account, reach: values, certificate: values["inject-ca-from"] });
    // In the image and below the mount, all modules are in one folder, so no folder is part of their names.
    const modulesOf = modules.map(({ name }) => (values.what === "deploy" ? basename(name) : name));
    const names =
      elects === undefined
        ? shardLeaseNames(account.name, seats)
        : elects === "process"
          ? [account.name]
          : [...modulesOf, ...(webhooks.rules.length > 0 ? [PROCESS] : [])].map((name) =>
              leaseName(account.name, name),
            );
    const leases = { namespace: account.namespace, names, areListed: shards !== undefined };
    const installs = values["install-crds"];
    const secure = values["metrics-secure"];
    const more = [...(installs ? installRules(resources) : []), ...(secure ? reviewRules : []), ...webhooks.rules];
    const rbac = [
      ...rbacManifests(permissions, { account, namespaces, more, leases, local: webhooks.local }),
      ...(secure ? [metricsReader(account)] : []),
    ];
    const conversion =
      webhookAddress(values, CONVERSION_PATH) ?? (values.what === "deploy" ? webhooks.conversion : undefined);
    const printsCrds = values.what === "crds" || (values.what === "deploy" && !installs);
    const unconverted = printsCrds && conversion === undefined ? resources.find(needsConversion) : undefined;
    if (unconverted !== undefined) {
      throw new UserError(
        `Cannot print the CustomResourceDefinition of ${unconverted.kind}: ${conversionNeeded(unconverted)}`,
      );
    }
    const crds = resources.map((resource) => {
      const crd = crdOf(resource);
      return conversion === undefined ? crd : withConversion(crd, conversion);
    });
    const files =
      holder === image ? undefined : configMapFiles(controllers, Object.keys(await host.embedded.offered()));
    const documents =
      values.what === "crds"
        ? crds
        : values.what === "rbac"
          ? [...namespaceManifest(account.namespace), ...rbac]
          : values.what === "webhooks"
            ? printedWebhooks(webhooks)
            : deployManifests({
                account,
                namespaces,
                rbac,
                crds,
                installs,
                image: holder!,
                files,
                replicas,
                elects,
                secure,
                shards,
                webhooks,
              });
    host.out(documents.map((one) => `---\n${commentedYaml(one)}`).join(""));
    return 0;
  },
});

function electing(value: string): "process" | "module" | undefined {
  if (value === "false") return undefined;
  return value === "module" ? "module" : "process";
}

/** The kinds that the modules define, each once. */
function kinds(modules: readonly LoadedModule[]): readonly Resource[] {
  const byKind = new Map<string, Resource>();
  for (const { definitions } of modules) {
    for (const resource of definitions.resources) byKind.set(groupKind(resource), resource);
  }
  return [...byKind].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, resource]) => resource);
}

function serviceAccount(text: string): ServiceAccount {
  const match = /^([a-z0-9]([-a-z0-9]*[a-z0-9])?)\/([a-z0-9]([-a-z0-9.]*[a-z0-9])?)$/.exec(text);
  if (match === null) throw new UsageError(`--service-account is '${text}': expected namespace/name`);
  return { namespace: match[1]!, name: match[3]! };
}
