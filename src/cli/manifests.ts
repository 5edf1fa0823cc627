/** `binnacle manifests crds|rbac|webhooks|monitoring|deploy` */
import { namespaceManifest } from "../module/rbac-manifests.ts";
import { type Command, command, type Host } from "./command.ts";
import { deployFiles, printedDeployment } from "./deploy/deploy-output.ts";
import { deployLimits } from "./deploy/deploy-limits.ts";
import { sourcesOf } from "./config-messages.ts";
import { type LoadedModules, loadModules } from "./loaded-modules.ts";
import { MOST_REPLICAS, manifestsOptions, type ManifestsValues } from "./manifests-options.ts";
import { type DeployedModules, modulesOf } from "./deploy/deployed-modules.ts";
import { operatorAccount } from "./operator-name.ts";
import { commentedYaml } from "./rule-comments.ts";
import { UsageError, UserError } from "./usage-error.ts";
import { printedWebhooks } from "./webhook-manifests.ts";

export const manifestsCommand: Command = command({
  options: manifestsOptions,
  async run(values, host) {
    checkUsage(values);
    if (values.what === "deploy") await checkImages(values);
    if (values.what === "monitoring") {
      const { monitoringManifests } = await import("./deploy/monitoring/monitoring.ts");
      const plan = { account: operatorAccount(values, host), secure: values["metrics-secure"] };
      host.out(printedYaml(monitoringManifests(plan)));
      return 0;
    }
    // The output depends on the flags alone, and not on the environment of whoever runs the command.
    const sources = await sourcesOf({ env: undefined, paths: values["module-config"] ?? [] });
    const loaded = await loadModules(values.controllers, host, { sources });
    const { modules } = loaded;
    const problems = [...loaded.problems, ...loaded.configFaults];
    if (problems.length > 0) throw new UserError(problems.join("\n"));
    if (values.what === "deploy") return await deploy(values, loaded, host);
    const documents = printed(values, modulesOf(modules, { values, account: operatorAccount(values, host) }));
    host.out(printedYaml(documents));
    return 0;
  },
});

function printedYaml(documents: readonly object[]): string {
  return documents.map((one) => `---\n${commentedYaml(one)}`).join("");
}

function printed({ what }: ManifestsValues, deployed: DeployedModules): readonly object[] {
  if (what === "crds") return deployed.crds();
  if (what === "webhooks") return printedWebhooks(deployed.webhooks);
  return [...namespaceManifest(deployed.account.namespace), ...deployed.rbacFor(deployed.namespaces)];
}

async function deploy(values: ManifestsValues, loaded: LoadedModules, host: Host): Promise<number> {
  const { kustomize, helm } = values;
  const folder = kustomize ?? helm;
  if (folder === undefined) host.out(await printedDeployment(values, { loaded, host }));
  else await deployFiles(values, { loaded, host, folder });
  return 0;
}

/** @throws UsageError before anything is loaded. */
function checkUsage(values: ManifestsValues): void {
  const { what, image, "base-image": baseImage, shards, replicas, "leader-elect": elects } = values;
  if (what === undefined) {
    throw new UsageError("Say what to print: `binnacle manifests crds`, `rbac`, `webhooks`, `monitoring` or `deploy`");
  }
  for (const flag of ["kustomize", "helm", "former"] as const) {
    if (values[flag] !== undefined && what !== "deploy")
      throw new UsageError(`--${flag} is for \`binnacle manifests deploy\` alone`);
  }
  if (what === "deploy" && image === undefined && baseImage === undefined) {
    throw new UsageError(
      "Say which image to run: --base-image of one that holds the binary, with the modules in a ConfigMap, or --image of one that " +
        "holds both",
    );
  }
  const misnamed = values.namespace?.find((one) => !/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/.test(one));
  if (misnamed !== undefined) {
    throw new UsageError(`--namespace is '${misnamed}': expected lower-case letters, digits and '-', at most 63`);
  }
  if (shards !== undefined && elects === "module") {
    throw new UsageError(
      "--shards and --leader-elect=module exclude each other: each replica works a part of all modules, or some of them; leave one out",
    );
  }
  if (replicas > MOST_REPLICAS) throw new UsageError(`--replicas is ${replicas}: expected at most ${MOST_REPLICAS}`);
  if (elects === "false" && shards === undefined && replicas > 1 && what === "deploy") {
    throw new UsageError(
      `--replicas is ${replicas} with --leader-elect=false: they would reconcile the same objects; leave one of the two out`,
    );
  }
  if (values.kustomize !== undefined && values.helm !== undefined) {
    throw new UsageError("--kustomize and --helm are both given: write one at a time");
  }
  if (what === "deploy") deployLimits(values);
}

/** @throws UsageError for the name of an image that no registry can have. */
async function checkImages(values: ManifestsValues): Promise<void> {
  const { parseReference } = await import("../build/index.ts");
  for (const flag of ["image", "base-image"] as const) {
    const why = values[flag] === undefined ? undefined : parseReference(values[flag]);
    if (typeof why === "string") throw new UsageError(`--${flag} is '${values[flag]}': ${why}`);
  }
}
