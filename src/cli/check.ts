/** `binnacle check` */
import { needsDeclarations } from "#runtime/type-checker";
import type { Permissions } from "../client/permissions.ts";
import { declarationsOf, isObjectController } from "../controller/declarations.ts";
import type { AnyObjectController } from "../controller/definition.ts";
import type { KindWatch } from "../controller/watch.ts";
import { loadKubeconfig } from "../kube/config/kubeconfig.ts";
import { typeErrors } from "../loader/type-check.ts";
import type { LoadedModule } from "../module/loaded-module.ts";
import { permissionsOfPlugin } from "../module/plugin-client.ts";
import type { KeySource } from "../controller/source.ts";
import { printableLines } from "../observe/printable.ts";
import { parseDuration } from "../resource/duration.ts";
import { declaredWebhooks, type RegistrationRule, webhookName } from "../webhook/declared-webhook.ts";
import { leftOut } from "../webhook/registration/configurations.ts";
import { permissionsOfWebhook } from "../webhook/webhook-scope.ts";
import { type Command, command } from "./command.ts";
import { findTests } from "./find-tests.ts";
import { loadModules } from "./loaded-modules.ts";
import { type Rule, rulesOf } from "../module/rbac-rules.ts";
import { checkConversions, shownVersions } from "./check-conversions.ts";
import { checkCluster, type ClusterFindings } from "./dead-finalizers.ts";
import { giveBackLeft } from "./left-conversions.ts";
import { describeConfig, sourcesOf } from "./config-messages.ts";
import type { ModuleConfig } from "../module/config/config.ts";
import {
  contextOption,
  controllersOption,
  kubeconfigOption,
  moduleConfigOption,
  namespaceOption,
  webhookHostOption,
  webhookServiceOption,
} from "./shared-options.ts";
import { sdkFolder } from "./sdk-folder.ts";
import { CONVERSION_PATH } from "../webhook/conversion/conversion-endpoint.ts";
import { reachOf, webhookAddress } from "./webhook-address.ts";

export const checkCommand: Command = command({
  options: [
    controllersOption,
    moduleConfigOption,
    { name: "types", type: "boolean", default: true, describe: "Check the types of modules and their tests too" },
    {
      name: "cluster",
      type: "boolean",
      default: false,
      describe:
        "Look on the cluster for finalizers that none of the controllers would remove, and remove the registrations that crashed processes left",
    },
    kubeconfigOption,
    contextOption,
    { ...namespaceOption, describe: "With --cluster: the namespaces that `run` is given; all when left out" },
    webhookHostOption,
    webhookServiceOption,
  ],
  async run(values, host) {
    const { controllers, types, cluster, kubeconfig, context, namespace } = values;
    const isServed = webhookAddress(values, CONVERSION_PATH) !== undefined;
    const sources = await sourcesOf({ env: host.env, paths: values["module-config"] ?? [] });
    const loaded = await loadModules(controllers, host, { mayBeNone: cluster, sources });
    const { modules, problems: broken, files, configs } = loaded;
    const problems = [...broken, ...loaded.configFaults];
    for (const module of modules) {
      host.out(describeModule(module, configs.get(module.file) ?? []));
      const converted = await checkConversions(module, { isServed });
      for (const remark of [...converted.remarks, ...leftOutOf(module, values)]) host.out(`note: ${remark}\n`);
      problems.push(...converted.problems);
    }
    const sdk = types ? await sdkFolder(host) : undefined;
    const canCheck = sdk !== undefined || !needsDeclarations;
    if (types && !canCheck && controllers.length > 0)
      host.err("Types are not checked: this binnacle was built without them\n");
    const checked = [...files, ...controllers.flatMap(findTests)];
    const errors = types && canCheck && checked.length > 0 ? await typeErrors(checked, { sdk }) : "";
    const clusterFaults = cluster
      ? await lookAround(modules, {
          cluster: await loadKubeconfig({ kubeconfig, context, env: host.env }),
          namespaces: namespace,
        })
      : { notes: [], problems: [] };
    for (const note of clusterFaults.notes) host.out(`cluster ${printableLines(note)}\n`);
    for (const problem of [...problems, ...clusterFaults.problems]) host.err(`error: ${printableLines(problem)}\n`);
    if (errors !== "") host.err(`${errors}\n`);
    return problems.length + clusterFaults.problems.length > 0 || errors !== "" ? 1 : 0;
  },
});

async function lookAround(
  modules: readonly LoadedModule[],
  options: Parameters<typeof checkCluster>[1],
): Promise<ClusterFindings> {
  // Objects cannot be read while no process converts them.
  const left = await giveBackLeft(modules, options.cluster);
  const findings = await checkCluster(modules, options);
  return { notes: [...left.notes, ...findings.notes], problems: [...left.problems, ...findings.problems] };
}

/** Returns a remark for each webhook that is not called for objects in its Service's namespace. */
function leftOutOf({ definitions }: LoadedModule, values: Parameters<typeof reachOf>[0]): readonly string[] {
  const reach = reachOf(values);
  if (reach === undefined || !("service" in reach)) return [];
  const { namespace } = reach.service;
  return definitions.webhooks
    .filter((webhook) => declaredWebhooks(webhook).some((declared) => leftOut(declared, [namespace]).length > 0))
    .map(
      (webhook) => `webhook ${webhookName(webhook)} is not asked about objects in ${namespace}, where its Service is`,
    );
}

function describeModule({ file, definitions }: LoadedModule, configs: readonly ModuleConfig[]): string {
  const lines = [file];
  const row = (title: string, values: readonly string[]): void => {
    if (values.length > 0) lines.push(`    ${title.padEnd(11)} ${values.join(", ")}`);
  };
  const permitted = (permissions: Permissions): void =>
    permissionTexts(permissions).forEach((line, index) => row(index === 0 ? "permissions" : "", [line]));
  for (const config of configs) {
    lines.push(`  config ${config.name}`);
    for (const [name, text] of describeConfig(config)) row(name, [text]);
  }
  for (const resource of definitions.resources) {
    lines.push(`  resource ${resource.kind} (${resource.apiVersion})`);
    row("versions", shownVersions(resource));
  }
  for (const plugin of definitions.plugins) {
    lines.push(`  plugin ${plugin.name}`);
    row(
      "provides",
      (plugin.provides ?? []).map(({ name }) => name),
    );
    permitted(permissionsOfPlugin(plugin));
  }
  for (const webhook of definitions.webhooks) {
    lines.push(`  webhook ${webhookName(webhook)}`);
    for (const { type, path, rules } of declaredWebhooks(webhook))
      row(type, [`${path} [${rules.map(webhookRuleText).join("; ")}]`]);
    permitted(permissionsOfWebhook(webhook));
  }
  for (const controller of definitions.controllers) {
    const { name, for: primary, owns, watches, reads, sources, finalizers, permissions } = declarationsOf(controller);
    lines.push(`  controller ${name}`);
    row("for", primary === undefined ? [] : [watchText(primary)]);
    row("owns", owns.map(watchText));
    row("watches", [...watches.map(watchText), ...sources.map(sourceText)]);
    row("daemons", isObjectController(controller) ? Object.keys(controller.daemons ?? {}) : []);
    row("every", isObjectController(controller) ? everyTexts(controller.every) : []);
    row("reads", reads.map(watchText));
    row("finalizer", finalizers);
    permitted(permissions);
  }
  return `${lines.join("\n")}\n`;
}

function webhookRuleText({ operations, resources }: RegistrationRule): string {
  return `${operations.join(" ")} of ${resources.join(" ")}`;
}

function watchText({ resource, options }: KindWatch): string {
  const narrowed = [
    namespacesText(options.namespaces),
    options.labels === undefined ? "" : `labels ${options.labels}`,
    options.fields === undefined ? "" : `fields ${options.fields}`,
    options.match === undefined ? "" : "match",
  ].filter((part) => part !== "");
  const kind = `${resource.kind} (${resource.apiVersion})`;
  return narrowed.length === 0 ? kind : `${kind} [${narrowed.join("; ")}]`;
}

function namespacesText(namespaces: KindWatch["options"]["namespaces"]): string {
  if (namespaces === undefined) return "";
  return "labels" in namespaces ? `namespaces with ${namespaces.labels}` : `namespaces ${namespaces.join(" ")}`;
}

function sourceText(source: KeySource): string {
  switch (source.source) {
    case "every":
      return `every ${source.interval / 1000} s`;
    case "cron":
      return `cron ${source.expression}`;
    case "named":
      return `source ${source.name}`;
    default:
      return "an iterable";
  }
}

function everyTexts(every: AnyObjectController["every"]): readonly string[] {
  if (every === undefined) return [];
  if (typeof every === "function") return ["as each object says"];
  return [`${parseDuration(every, "every") / 1000} s, for each object`];
}

/** Lists the permissions for the namespaces that the process watches, then those for other namespaces. */
function permissionTexts(permissions: Permissions): readonly string[] {
  const own = [...permissions].flatMap(({ namespaces }) => (namespaces === "all" ? [] : (namespaces ?? [])));
  const ruleLines = rulesOf([permissions]).map(ruleText);
  const where = new Map<string, string[]>();
  for (const namespace of [...new Set(own)].sort()) {
    for (const rule of rulesOf([permissions], { namespace }).map(ruleText)) {
      where.set(rule, [...(where.get(rule) ?? []), namespace]);
    }
  }
  for (const [rule, namespaces] of where) {
    ruleLines.push(`${rule} in namespace${namespaces.length === 1 ? "" : "s"} ${namespaces.join(" ")}`);
  }
  return ruleLines;
}

function ruleText({ apiGroup, resources, resourceNames, verbs }: Rule): string {
  const names = resources.map((resource) => (apiGroup === "" ? resource : `${resource}.${apiGroup}`));
  const which = resourceNames === undefined ? "" : ` [${resourceNames.join(" ")}]`;
  return `${names.join(" ")}${which}: ${verbs.join(" ")}`;
}
