/** A network and process namespace for one suite: its fixed ports disturb no other, and its processes end with it. */

import { spawnSync } from "node:child_process";

/** kube-apiserver refuses to start without a default route, so there is one that leads nowhere. */
const SET_UP = [
  "ip link set lo up",
  "ip link add e0 type veth peer name e1",
  "ip addr add 10.99.0.2/24 dev e0",
  "ip link set e0 up",
  "ip link set e1 up",
  "ip route add default via 10.99.0.1",
].join(" && ");

const NAMESPACES = ["--net", "--pid", "--fork", "--kill-child", "sh", "-c"];

let isAllowed: boolean | undefined;

/** Whether this machine lets this user make such namespaces. */
export function hasOwnNetworks(): boolean {
  if (process.platform !== "linux") return false;
  return (isAllowed ??= spawnSync("unshare", [...NAMESPACES, SET_UP], { stdio: "ignore" }).status === 0);
}

/** The command that runs a command in namespaces of its own; the command itself where that is not allowed. */
export function inOwnNetwork(command: readonly string[]): readonly string[] {
  return hasOwnNetworks() ? ["unshare", ...NAMESPACES, `${SET_UP} && exec "$@"`, "sh", ...command] : command;
}
