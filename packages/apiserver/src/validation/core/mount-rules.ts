/** Validates the mounts of containers. */
import type { Field } from "../field.ts";
import { descending } from "./volume-sources.ts";

export function mounts(container: Field, volumes: ReadonlySet<string>): void {
  const list = container.at("volumeMounts");
  const blocks = container.at("volumeDevices").items;
  const isPrivileged = container.at("securityContext").at("privileged").value === true;
  const paths = new Set<string>();
  for (const mount of list.items) {
    const [name, path] = [mount.at("name"), mount.at("mountPath")];
    name.require();
    if (!volumes.has(name.text)) name.notFound(name.text);
    path.require();
    if (paths.has(path.text)) path.invalid("must be unique", path.text);
    paths.add(path.text);
    if (blocks.some((device) => device.at("name").text === name.text))
      name.invalid("must not already exist in volumeDevices", name.text);
    if (blocks.some((device) => device.at("devicePath").text === path.text))
      path.invalid("must not already exist as a path in volumeDevices", path.text);
    const [sub, expression] = [mount.at("subPath"), mount.at("subPathExpr")];
    if (sub.text !== "") descending(list.at("subPath").with(sub.text));
    if (expression.text !== "") {
      if (sub.text !== "") expression.invalid("subPathExpr and subPath are mutually exclusive");
      descending(list.at("subPathExpr").with(expression.text));
    }
    propagation(list.at("mountPropagation").with(mount.fields["mountPropagation"]), isPrivileged);
    recursive(mount, list.at("recursiveReadOnly").with(mount.fields["recursiveReadOnly"]));
  }
}

function propagation(field: Field, isPrivileged: boolean): void {
  if (!field.present) return;
  field.oneOf(["Bidirectional", "HostToContainer", "None"]);
  if (field.text === "Bidirectional" && !isPrivileged)
    field.forbidden("Bidirectional mount propagation is available only to privileged containers");
}

function recursive(mount: Field, field: Field): void {
  if (!field.present || field.text === "Disabled") return;
  if (field.text !== "Enabled" && field.text !== "IfPossible") {
    field.oneOf(["Disabled", "Enabled", "IfPossible"]);
    return;
  }
  if (mount.at("readOnly").value !== true) field.forbidden("may only be specified when readOnly is true");
  const spread = mount.at("mountPropagation");
  if (spread.present && spread.text !== "None")
    field.forbidden("may only be specified when mountPropagation is None or not specified");
}

interface Scope {
  readonly volumes: ReadonlySet<string>;
  /** The volumes that may be block devices. */
  readonly volumeDevices: ReadonlySet<string>;
}

export function devices(container: Field, { volumes, volumeDevices }: Scope): void {
  const mounted = container.at("volumeMounts").items;
  const [paths, names] = [new Set<string>(), new Set<string>()];
  for (const device of container.at("volumeDevices").items) {
    const [name, path] = [device.at("name"), device.at("devicePath")];
    name.require();
    if (names.has(name.text)) name.invalid("must be unique", name.text);
    if (volumes.has(name.text) && !volumeDevices.has(name.text))
      name.invalid("can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode", name.text);
    if (!volumes.has(name.text)) name.notFound(name.text);
    path.require();
    if (paths.has(path.text)) path.invalid("must be unique", path.text);
    if (path.text.split("/").includes("..")) path.invalid("can not contain backsteps ('..')", path.text);
    else paths.add(path.text);
    if (mounted.some((mount) => mount.at("name").text === name.text))
      name.invalid("must not already exist in volumeMounts", name.text);
    if (mounted.some((mount) => mount.at("mountPath").text === path.text))
      path.invalid("must not already exist as a path in volumeMounts", path.text);
    if (name.text !== "") names.add(name.text);
  }
}
