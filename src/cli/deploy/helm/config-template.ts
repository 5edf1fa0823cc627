/**
 * The configuration of modules in a chart: a section of the values for each module, and the ConfigMap that Helm makes
 * from them.
 */
import { describeField } from "../../config-messages.ts";
import { configKey, configMapOfConfig } from "../deployed-config.ts";
import type { DeployedConfig, DeployedField, DeployPlan } from "../deploy-plan.ts";
import type { JsonSchema } from "../../../module/config/fields.ts";
import type { Slots } from "./slots.ts";

/** The expression for the name of the Secret, which is not made by the chart. */
export const SECRET_NAME = 'default (printf "%s-config" $.Release.Name) $.Values.config.secretName | quote';

function publicFields({ fields }: DeployedConfig): readonly DeployedField[] {
  return fields.filter(({ isSecret }) => !isSecret);
}

/** Returns the ConfigMap, whose data follow from the values. */
export function configTemplate(plan: DeployPlan & { readonly config: DeployedConfig }, slots: Slots): string {
  const lines = publicFields(plan.config).flatMap((field) => {
    const path = [field.config, ...field.path].map((part) => JSON.stringify(part));
    const parents = path.slice(0, -1).join(" ");
    return [
      `{{- with dig ${parents} (dict) $.Values.config.values }}`,
      `{{- if hasKey . ${path.at(-1)} }}`,
      `{{- $value := index . ${path.at(-1)} }}`,
      `{{- $text := kindIs "string" $value | ternary $value (toJson $value) }}`,
      // A line break at the end is not read as part of the value, so a value that ends with one gets another.
      `${JSON.stringify(configKey(field))}: {{ hasSuffix "\\n" $text | ternary (printf "%s\\n" $text) $text | quote }}`,
      "{{- end }}",
      "{{- end }}",
    ];
  });
  return slots.render({ ...configMapOfConfig(plan), data: { values: slots.lines(...lines) } });
}

/** The configured values, by configuration. */
export function configValues(config: DeployedConfig): object {
  const values: Record<string, unknown> = {};
  for (const field of publicFields(config)) {
    const section = sectionOf(values, [field.config, ...field.path.slice(0, -1)]);
    if (field.value !== undefined) section[field.path.at(-1)!] = field.value;
  }
  return { config: { secretName: "", values } };
}

/** A line for each value, as a comment. */
export function configComment(config: DeployedConfig): string {
  const secrets = config.fields.filter(({ isSecret }) => isSecret);
  return [
    "Configuration of the modules. Pods read changes without a restart.",
    ...publicFields(config).map((field) => `  ${configKey(field)}: ${describeField(field)}`),
    ...(secrets.length === 0
      ? []
      : ["The Secret with the secret values, by default RELEASE-config, is not part of the chart:"]),
    ...secrets.map((field) => `  ${configKey(field)}: ${describeField(field)}`),
  ].join("\n# ");
}

function sectionOf(values: Record<string, unknown>, path: readonly string[]): Record<string, unknown> {
  let section = values;
  for (const part of path) section = (section[part] ??= {}) as Record<string, unknown>;
  return section;
}

interface ClosedObject {
  readonly type: "object";
  readonly additionalProperties: false;
  readonly properties: Record<string, unknown>;
  readonly required: string[];
}

function closedObject(): ClosedObject {
  return { type: "object", additionalProperties: false, properties: {}, required: [] };
}

/** The schema of the values: a required value that is not configured yet must come from the installation. */
export function configSchema(config: DeployedConfig): object {
  const values = closedObject();
  for (const field of publicFields(config)) {
    let section = values;
    for (const part of [field.config, ...field.path.slice(0, -1)]) {
      if (field.isRequired && !section.required.includes(part)) section.required.push(part);
      section = (section.properties[part] ??= closedObject()) as ClosedObject;
    }
    const property = field.path.at(-1)!;
    section.properties[property] = plainSchema(field.json);
    if (field.isRequired) section.required.push(property);
  }
  const required = values.required.length > 0 ? ["values"] : [];
  return {
    type: "object",
    additionalProperties: false,
    required,
    properties: { secretName: { type: "string" }, values },
  };
}

/**
 * Removes patterns and references: Helm's regular expressions differ from JavaScript's, and a reference would point
 * elsewhere. The process checks the values again.
 */
function plainSchema(json: JsonSchema): unknown {
  if (JSON.stringify(json).includes('"$ref"')) return {};
  return without(json, ["pattern", "format", "sensitive", "propertyNames"]);
}

function without(value: unknown, keywords: readonly string[]): unknown {
  if (Array.isArray(value)) return value.map((one) => without(one, keywords));
  if (typeof value !== "object" || value === null) return value;
  const remaining = Object.entries(value).filter(([keyword]) => !keywords.includes(keyword));
  return Object.fromEntries(
    remaining.map(([keyword, inner]) => [
      keyword,
      // Keys of `properties` are names of fields, not keywords.
      keyword === "properties"
        ? Object.fromEntries(Object.entries(inner as object).map(([name, one]) => [name, without(one, keywords)]))
        : keyword === "default" || keyword === "enum" || keyword === "const"
          ? inner
          : without(inner, keywords),
    ]),
  );
}
