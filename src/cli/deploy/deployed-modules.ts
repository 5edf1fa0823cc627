/** The needs of modules in a cluster: kinds, permissions, webhooks. */
import { basename } from "node:path";
import { leaseName } from "../../election/lease-name.ts";
import { shardLeaseNames } from "../../election/shard-leases.ts";
import { PROCESS } from "../../manager/elections.ts";
import type { LoadedModule } from "../../module/loaded-module.ts";
import { metricsReader, reviewRules, tokenRules } from "../../module/process-rules.ts";
import { permissionsOf } from "../../module/module-definitions.ts";
import { rbacManifests, type ServiceAccount } from "../../module/rbac-manifests.ts";
import { installRules } from "../../module/rbac-rules.ts";
import { conversionNeeded, needsConversion, replacingOther, withConversion } from "../../resource/crd-conversion.ts";
import { crdOf } from "../../resource/crd.ts";
import { groupKind, type Resource } from "../../resource/handle.ts";
import { CONVERSION_PATH } from "../../webhook/conversion/conversion-endpoint.ts";
import { seatsOf } from "../election-options.ts";
import type { ManifestsValues } from "../manifests-options.ts";
import { UserError } from "../usage-error.ts";
import { webhookAddress } from "../webhook-address.ts";
import { type WebhookManifests, webhookManifests } from "../webhook-manifests.ts";

export interface DeployedModules {
  readonly account: ServiceAccount;
  /** The namespaces of the command line, in which controllers work; empty for all. */
  readonly namespaces: readonly string[];
  /** The value of `--leader-elect`; `undefined` for none. */
  readonly elects: "process" | "module" | undefined;
  readonly webhooks: WebhookManifests;
  readonly rbacFor: (namespaces: readonly string[]) => readonly object[];
  /**
   * Returns the definitions.
   *
   * @throws UserError when a kind needs a conversion webhook and no option has its address.
   */
  readonly crds: () => readonly object[];
}

export interface DeployedOptions {
  readonly values: ManifestsValues;
  readonly account: ServiceAccount;
}

/** Collects the needs of the modules. @throws UsageError naming an option that cannot be used. */
export function modulesOf(modules: readonly LoadedModule[], { values, account }: DeployedOptions): DeployedModules {
  const { shards, what } = values;
  const isDeployed = what === "deploy";
  const permissions = modules.flatMap(({ definitions }) => permissionsOf(definitions));
  const resources = kinds(modules);
  const elects = shards === undefined ? electing(values["leader-elect"]) : undefined;
  const webhooks = webhookManifests({
    modules,
    account,
    reach: values,
    certificate: values["inject-ca-from"],
    areDeployed: isDeployed,
  });
  // In the image and below the mount, all modules are in one folder, so their names contain no folder.
  const names = modules.map(({ name }) => (isDeployed ? basename(name) : name));
  const leaseNames =
    elects === undefined
      ? shardLeaseNames(account.name, shards === undefined ? 0 : seatsOf(shards))
      : elects === "process"
        ? [account.name]
        : [...names, ...(webhooks.rules.length > 0 ? [PROCESS] : [])].map((name) => leaseName(account.name, name));
  const leases = { namespace: account.namespace, names: leaseNames, areListed: shards !== undefined };
  const secure = values["metrics-secure"];
  const installs = values["install-crds"] ? installRules(resources) : [];
  const reviews = secure ? reviewRules : values.debug ? tokenRules : [];
  const more = [...installs, ...reviews, ...webhooks.rules];
  return {
    account,
    namespaces: values.namespace ?? [],
    elects,
    webhooks,
    rbacFor: (namespaces) => [
      ...rbacManifests(permissions, { account, namespaces, more, leases, local: webhooks.local }),
      ...(secure ? [metricsReader(account)] : []),
    ],
    crds: () =>
      definitions(resources, webhookAddress(values, CONVERSION_PATH) ?? (isDeployed ? webhooks.conversion : undefined)),
  };
}

function definitions(resources: readonly Resource[], conversion: WebhookManifests["conversion"]): readonly object[] {
  const unconverted = conversion === undefined ? resources.find(needsConversion) : undefined;
  if (unconverted !== undefined) {
    throw new UserError(
      `Cannot print the CustomResourceDefinition of ${unconverted.kind}: ${conversionNeeded(unconverted)}`,
    );
  }
  return resources.map((resource) => {
    const crd = crdOf(resource);
    return conversion === undefined ? crd : withConversion(crd, replacingOther(conversion));
  });
}

function electing(value: string): "process" | "module" | undefined {
  if (value === "false") return undefined;
  return value === "module" ? "module" : "process";
}

/** Returns the kinds that the modules define, each once. */
function kinds(modules: readonly LoadedModule[]): readonly Resource[] {
  const byKind = new Map<string, Resource>();
  for (const { definitions } of modules) {
    for (const resource of definitions.resources) byKind.set(groupKind(resource), resource);
  }
  return [...byKind].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, resource]) => resource);
}
