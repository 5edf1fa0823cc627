/** Guards the functions of Bun that modules must not call. */
import type { Refuse } from "../refused.ts";

/**
 * One of the runtime's plugins offers the packages of the binary to modules; `Bun.plugin` itself cannot be replaced.
 */
export function guardRuntime(refuse: Refuse): void {
  refuse(Bun.plugin, { name: "clearAll", call: "Bun.plugin.clearAll", deed: "remove the plugins of the process" });
}
