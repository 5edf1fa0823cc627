/** `binnacle manifests deploy`: prints the manifests for kubectl, or writes them for kustomize and Helm. */
import type { ServiceAccount } from "../../module/rbac-manifests.ts";
import type { Host } from "../command.ts";
import type { LoadedModules } from "../loaded-modules.ts";
import type { ManifestsValues } from "../manifests-options.ts";
import { operatorAccount } from "../operator-name.ts";
import { commentedYaml } from "../rule-comments.ts";
import { addressBytes } from "../../kube/config/ip-address.ts";
import { UsageError, UserError } from "../usage-error.ts";
import { configMapFiles } from "./config-map-files.ts";
import { deployLimits } from "./deploy-limits.ts";
import { type DeployPart, deployParts } from "./deploy-parts.ts";
import type { DeployedField, DeployPlan } from "./deploy-plan.ts";
import { configKey, configObjectName, deployedConfig, lackingFields, secretAdvice } from "./deployed-config.ts";
import { modulesOf } from "./deployed-modules.ts";
import { readFormer, removals } from "./former.ts";
import { writeGenerated } from "./generated-folder.ts";
import { stringify } from "yaml";

/** Kubernetes allows 256 KiB of annotations; 1 KiB stays free. */
const MOST_ANNOTATED = 256 * 1024 - 1024;

export interface DeployContext {
  readonly loaded: Pick<LoadedModules, "modules" | "configs">;
  readonly host: Host;
}

/** Prints the YAML, and names the objects of an earlier version that this version no longer has. */
export async function printedDeployment(values: ManifestsValues, context: DeployContext): Promise<string> {
  const former = values.former === undefined ? undefined : readFormer(values.former);
  const plan = await planOf(values, { ...context, account: operatorAccount(values, context.host) });
  const lacking = lackingFields(plan.config);
  if (lacking.length > 0) {
    throw new UserError(
      `Cannot deploy modules without their configuration: give ${named(lacking)} in a file that --module-config names`,
    );
  }
  const documents = deployParts(plan).flatMap((part) => part.documents);
  const gone = former === undefined ? [] : removals(former, documents);
  if (gone.length > 0) {
    context.host.err(`No longer part of the manifests; kubectl apply leaves it in the cluster. To remove it:\n`);
    for (const command of gone) context.host.err(`  ${command}\n`);
  }
  tellLarge(documents, context.host);
  tellSecret(plan, context.host);
  return documents.map((one) => `---\n${commentedYaml(one)}`).join("");
}

/** Warns of manifests that are too large for the copy that client-side `kubectl apply` keeps in an annotation. */
function tellLarge(documents: readonly object[], { err }: Host): void {
  for (const one of documents as readonly { readonly kind: string; readonly metadata: { readonly name: string } }[]) {
    const bytes = Buffer.byteLength(JSON.stringify(one));
    if (bytes <= MOST_ANNOTATED) continue;
    err(
      `The ${one.kind} ${one.metadata.name} takes ${bytes} bytes: apply the manifests with kubectl apply --server-side\n`,
    );
  }
}

function named(fields: readonly DeployedField[]): string {
  return fields.map((field) => `'${configKey(field)}'`).join(", ");
}

function tellSecret({ account, config }: DeployPlan, { err }: Host): void {
  const advice = secretAdvice(config, { secret: configObjectName(account), namespace: account.namespace });
  if (advice !== undefined) err(advice);
}

/** Writes into the folder that `--kustomize` or `--helm` names, and says which earlier files it removed. */
export async function deployFiles(
  values: ManifestsValues,
  { folder, ...context }: DeployContext & { readonly folder: string },
): Promise<void> {
  const { helm, former } = values;
  const flag = helm === undefined ? "--kustomize" : "--helm";
  if (former !== undefined) {
    throw new UsageError(
      `--former is given with ${flag}: leave it out; files that are no longer part of the folder are named anyway`,
    );
  }
  const files = helm === undefined ? await kustomizeFiles(values, context) : await chartFiles(values, context);
  const { removed } = writeGenerated(folder, files, flag);
  const { out } = context.host;
  out(`Wrote ${Object.keys(files).length} files into ${folder}\n`);
  for (const file of removed) out(`Removed ${file}, which is no longer part of it\n`);
}

async function kustomizeFiles(
  values: ManifestsValues,
  context: DeployContext,
): Promise<Readonly<Record<string, string>>> {
  const plan = await planOf(values, { ...context, account: operatorAccount(values, context.host) });
  const parts = deployParts(plan);
  tellLarge(
    parts.flatMap((part) => part.documents),
    context.host,
  );
  tellSecret(plan, context.host);
  const lacking = lackingFields(plan.config);
  if (lacking.length > 0) {
    const where = `the ConfigMap ${configObjectName(plan.account)} in ${plan.account.namespace}`;
    context.host.err(`An overlay has to give ${named(lacking)} to ${where}: without, no pod starts\n`);
  }
  return kustomization(parts);
}

async function chartFiles(values: ManifestsValues, context: DeployContext): Promise<Readonly<Record<string, string>>> {
  const [{ helmChart }, { RELEASE }] = await Promise.all([import("./helm/chart.ts"), import("./helm/slots.ts")]);
  const version = values["chart-version"];
  if (!/^\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?$/.test(version)) {
    throw new UsageError(`--chart-version is '${version}': expected a version such as 1.2.3`);
  }
  const { name } = operatorAccount(values, context.host);
  // The values decide about the listener when the chart is installed.
  const plan = {
    ...(await planOf({ ...values, debug: false }, { ...context, account: RELEASE })),
    debug: values.debug,
  };
  const advice = secretAdvice(plan.config, { secret: "RELEASE-config", namespace: "NAMESPACE" });
  if (advice !== undefined) context.host.err(advice);
  return helmChart(plan, { name, version, appVersion: context.host.embedded.version });
}

/** @throws UsageError for an invalid range of addresses, and when no policy is printed that would contain it. */
function webhookClients(values: ManifestsValues): readonly string[] {
  const ranges = values["webhook-clients"] ?? [];
  if (ranges.length > 0 && !values["network-policy"]) {
    throw new UsageError("--webhook-clients is given without --network-policy, which is what names them: add it");
  }
  for (const range of ranges) {
    const [address = "", bits = "", ...more] = range.split("/");
    const bytes = addressBytes(address);
    if (bytes === undefined || more.length > 0 || !/^\d{1,3}$/.test(bits) || Number(bits) > 8 * bytes.length) {
      throw new UsageError(`--webhook-clients is '${range}': expected a range of addresses such as 10.0.0.0/28`);
    }
  }
  return ranges;
}

async function planOf(
  values: ManifestsValues,
  { loaded: { modules, configs }, host, account }: DeployContext & { readonly account: ServiceAccount },
): Promise<DeployPlan> {
  const { image, replicas, shards, "install-crds": installs } = values;
  const deployed = modulesOf(modules, { values, account });
  const offered = Object.keys(await host.embedded.offered());
  return {
    account,
    namespaces: deployed.namespaces,
    rbacFor: deployed.rbacFor,
    crds: installs ? [] : deployed.crds(),
    installs,
    image: image ?? values["base-image"]!,
    replicas,
    elects: deployed.elects,
    shards,
    secure: values["metrics-secure"],
    limits: deployLimits(values),
    networkPolicy: values["network-policy"],
    webhookClients: webhookClients(values),
    metricsService: values["metrics-service"],
    serviceMonitor: values["service-monitor"],
    monitoring: values.monitoring,
    debug: values.debug,
    webhooks: deployed.webhooks,
    config: deployedConfig(configs.values(), account),
    areInside: values.controllers.length === 0,
    files:
      image === undefined && values.controllers.length > 0
        ? await configMapFiles(values.controllers, offered, configs)
        : undefined,
  };
}

const HEAD =
  "# Written by `binnacle manifests deploy --kustomize`, and written anew the next time: put changes into an overlay.\n";

/** Returns the files by name. @see https://kubectl.docs.kubernetes.io/references/kustomize/kustomization/ */
function kustomization(parts: readonly DeployPart[]): Readonly<Record<string, string>> {
  const files = Object.fromEntries(
    parts.map(({ name, documents }) => [
      `${name}.yaml`,
      HEAD + documents.map((one) => `---\n${commentedYaml(one)}`).join(""),
    ]),
  );
  const main = {
    apiVersion: "kustomize.config.k8s.io/v1beta1",
    kind: "Kustomization",
    // The listed order is kept: the default order would put webhooks before the pods that serve them.
    sortOptions: { order: "fifo" },
    resources: Object.keys(files),
  };
  return { ...files, "kustomization.yaml": HEAD + stringify(main) };
}
