/** Rules of persistent volume claims, of their templates too. */
import type { Field } from "./field.ts";
import { dnsSubdomain } from "./formats.ts";
import { isNegative } from "./quantities.ts";
import { labelSelector } from "./selector-rules.ts";

export const accessModes: readonly string[] = ["ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"];

export function claimSpec(spec: Field): void {
  const modes = spec.at("accessModes");
  if (modes.empty) modes.required("at least 1 access mode is required");
  if (spec.at("selector").present) labelSelector(spec.at("selector"));
  for (const mode of modes.items) if (!accessModes.includes(mode.text)) modes.with(mode.text).oneOf(accessModes);
  const storage = spec.at("resources").at("requests").at("storage");
  const place = spec.at("resources").key("storage").with(storage.value);
  if (!storage.present) place.required();
  else if (String(storage.value) === "0" || isNegative(storage.value))
    place.invalid("must be greater than zero", String(storage.value));
  const storageClass = spec.at("storageClassName");
  if (storageClass.text !== "") storageClass.matches(dnsSubdomain);
  const mode = spec.at("volumeMode");
  if (mode.present) mode.oneOf(["Block", "Filesystem"]);
  for (const name of ["dataSource", "dataSourceRef"]) {
    const source = spec.at(name);
    if (source.empty) continue;
    source.at("name").require();
    source.at("kind").require();
    if (source.at("apiGroup").text === "" && source.at("kind").text !== "PersistentVolumeClaim") {
      source.invalid("must be 'PersistentVolumeClaim' when referencing the default apiGroup", source.value);
    }
  }
}
