/**
 * The configuration of the modules in a cluster: a ConfigMap for public values, and a Secret that somebody else
 * creates.
 */
import type { ModuleConfig } from "../../module/config/config.ts";
import { hasPassword } from "../../module/config/resolve.ts";
import type { ServiceAccount } from "../../module/rbac-manifests.ts";
import { UserError } from "../usage-error.ts";
import { type DeployedConfig, type DeployedField, type DeployPlan, labelsOf } from "./deploy-plan.ts";

/** The folder where the ConfigMap and the Secret are mounted together. */
const MOUNT = "/etc/binnacle/config";
const VOLUME = "module-config";

/** The name of the ConfigMap, and the default name of the Secret. */
export function configObjectName({ name }: ServiceAccount): string {
  return `${name}-config`;
}

/**
 * Returns the part of the configurations that is deployed; `undefined` when modules have none.
 *
 * @throws UserError for a name that cannot be a key, and for a value that seems to hold a password.
 */
export function deployedConfig(
  configs: Iterable<readonly ModuleConfig[]>,
  account: ServiceAccount,
): DeployedConfig | undefined {
  const fields = new Map<string, DeployedField>();
  for (const { name, fields: own, provisions } of [...configs].flat()) {
    for (const field of own) {
      const key = `${name}.${field.key}`;
      if (!/^[-._a-zA-Z0-9]{1,253}$/.test(key)) {
        throw new UserError(
          `Cannot deploy the configuration of '${name}': '${key}' cannot be a key of a ConfigMap, which has letters, digits, '-', '_' and '.'`,
        );
      }
      const value = provisions.get(field.key)?.value;
      if (!field.isSecret && hasPassword(value)) {
        throw new UserError(
          `Cannot deploy the configuration of '${name}': the value of '${key}' holds a password, and a ConfigMap is no place for one; ` +
            "mark the field as secret with .meta({ sensitive: true })",
        );
      }
      const before = fields.get(key);
      fields.set(key, {
        ...field,
        config: name,
        isSecret: field.isSecret || before?.isSecret === true,
        isRequired: field.isRequired || before?.isRequired === true,
        value: field.isSecret || before?.isSecret === true ? undefined : value,
      });
    }
  }
  return fields.size === 0 ? undefined : { fields: [...fields.values()], secret: configObjectName(account) };
}

/** `guestbook.replicas`: the key of a field. */
export function configKey({ config, key }: DeployedField): string {
  return `${config}.${key}`;
}

/** Returns the required fields that have no value and are not secret. */
export function lackingFields(config: DeployedConfig | undefined): readonly DeployedField[] {
  return (config?.fields ?? []).filter((one) => one.isRequired && !one.isSecret && one.value === undefined);
}

function secretFields(config: DeployedConfig | undefined): readonly DeployedField[] {
  return (config?.fields ?? []).filter(({ isSecret }) => isSecret);
}

/** Whether there are public fields, for the ConfigMap. */
export function hasPublicFields(config: DeployedConfig | undefined): boolean {
  return config?.fields.some(({ isSecret }) => !isSecret) === true;
}

/** Returns the ConfigMap. It has the configured values, but not the defaults, which the code contains. */
export function configMapOfConfig({ account, config }: Pick<DeployPlan, "account" | "config">): object {
  const fields = (config?.fields ?? []).filter(({ value }) => value !== undefined && value !== null);
  return {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: configObjectName(account), namespace: account.namespace, labels: labelsOf(account.name) },
    data: Object.fromEntries(fields.map((one) => [configKey(one), textOf(one.value)])),
  };
}

/** A line break at the end is not read as part of the value, so a value that ends with one gets another. */
function textOf(value: unknown): string {
  if (typeof value !== "string") return JSON.stringify(value);
  return value.endsWith("\n") ? `${value}\n` : value;
}

/**
 * Returns the pod's volume, its mount and the flag. One volume holds both objects, so that a change of either takes
 * effect as a whole. While a required Secret is missing, no pod starts, and the pod's events say why.
 */
export function configInPod({ account, config }: Pick<DeployPlan, "account" | "config">): {
  readonly volumes: readonly object[];
  readonly mounts: readonly object[];
  readonly args: readonly string[];
} {
  if (config === undefined) return { volumes: [], mounts: [], args: [] };
  const secrets = secretFields(config);
  const isOptional = !secrets.some(({ isRequired }) => isRequired);
  const sources = [
    ...(hasPublicFields(config) ? [{ configMap: { name: configObjectName(account) } }] : []),
    ...(secrets.length > 0 ? [{ secret: { name: config.secret, ...(isOptional && { optional: true }) } }] : []),
  ];
  return {
    volumes: [{ name: VOLUME, projected: { sources } }],
    mounts: [{ name: VOLUME, mountPath: MOUNT, readOnly: true }],
    args: [`--module-config=${MOUNT}`],
  };
}

/** Says which Secret has to be made, and how. @param namespace as a shell takes it. */
export function secretAdvice(
  config: DeployedConfig | undefined,
  { secret, namespace }: { readonly secret: string; readonly namespace: string },
): string | undefined {
  const secrets = secretFields(config);
  if (secrets.length === 0) return undefined;
  const keys = secrets.map((one) => `${configKey(one)}${one.isRequired ? "" : " (optional)"}`).join(", ");
  const files = secrets.map((one) => `--from-file=${configKey(one)}=FILE`).join(" ");
  return (
    `Secret values are not part of the manifests. The pods take them from the Secret ${secret}, with the keys ${keys}:\n` +
    `  kubectl create secret generic ${secret} --namespace ${namespace} ${files}\n`
  );
}
