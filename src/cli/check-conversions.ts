/** The findings of `binnacle check` about kinds with several versions. */
import type { LoadedModule } from "../module/loaded-module.ts";
import { needsConversion } from "../resource/crd-conversion.ts";
import { definitionOf } from "../resource/definition.ts";
import type { Resource } from "../resource/handle.ts";

/** Describes the versions, such as `v1 (hub, stored)` and `v1beta1 (not served)`; empty for a kind with one version. */
export function shownVersions(resource: Resource): readonly string[] {
  const definition = definitionOf(resource);
  if (definition === undefined || !needsConversion(resource)) return [];
  const { hub, storage, versions } = definition;
  return versions.map(({ name, served }) => {
    const notes = [
      ...(name === hub ? ["hub"] : []),
      ...(name === storage ? ["stored"] : []),
      ...(served ? [] : ["not served"]),
    ];
    return notes.length === 0 ? name : `${name} (${notes.join(", ")})`;
  });
}

export interface CheckedConversions {
  /** Remarks that are not faults of the module. */
  readonly remarks: readonly string[];
  readonly problems: readonly string[];
}

/** Checks the conversions of a module's kinds. */
export async function checkConversions(
  { file, definitions, invoke }: LoadedModule,
  { isServed }: { /** The webhook has an address. */ readonly isServed: boolean },
): Promise<CheckedConversions> {
  const problems: string[] = [];
  const remarks: string[] = [];
  for (const resource of definitions.resources.filter(needsConversion)) {
    if (!isServed) remarks.push(`${file}: ${addressNeeded(resource)}`);
    const { findConversionLosses } = await import("../testing/conversions/conversion-losses.ts");
    const { losses, unknown } = invoke(() => findConversionLosses(resource));
    for (const version of unknown) {
      problems.push(
        `${file}: The conversions of ${resource.kind} cannot be checked: no generated object is valid in ${version}, because of ` +
          "patterns or rules that hardly any value satisfies",
      );
    }
    for (const { message } of losses) problems.push(`${file}: ${resource.kind} ${message}`);
    if (losses.some(({ reason }) => reason === "failed")) {
      problems.push(
        `${file}: A conversion of ${resource.kind} has to convert whatever the schema allows: narrow the schema, as with ` +
          "`.regex(…)`, or keep what has no other place in an annotation",
      );
    }
    if (losses.some(({ reason }) => reason !== "failed")) {
      problems.push(
        `${file}: Keep what another version has no field for in an annotation, or give it up with \`loses: ["spec.…"]\` on the ` +
          `version of ${resource.kind} that loses it`,
      );
    }
  }
  return { remarks, problems };
}

function addressNeeded({ kind }: Resource): string {
  return (
    `${kind} has several versions, so \`run --install-crds\` and \`manifests crds\` need --webhook-service NAMESPACE/NAME, or ` +
    "--webhook-host HOST outside the cluster; `dev`, tests and `manifests deploy` need nothing"
  );
}
