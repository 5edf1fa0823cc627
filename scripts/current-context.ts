/** The cluster that kubectl would talk to now. */

import { existsSync, readFileSync } from "node:fs";
import { delimiter, join } from "node:path";

/** The first current context that $KUBECONFIG, or ~/.kube/config without it, names; undefined where there is none. */
export function currentContext(env: Readonly<Record<string, string | undefined>>): string | undefined {
  const home = join(env.HOME ?? "", ".kube", "config");
  const files = env.KUBECONFIG ? env.KUBECONFIG.split(delimiter) : [home];
  for (const file of files) {
    if (file === "" || !existsSync(file)) continue;
    const config = Bun.YAML.parse(readFileSync(file, "utf8")) as { "current-context"?: string } | null;
    if (config?.["current-context"]) return config["current-context"];
  }
  return undefined;
}
