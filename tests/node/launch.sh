#!/usr/bin/env bash
# Enters the cgroups of a node and starts its first process in namespaces of its own: launch.sh DIR ASSETS. When this process
# is killed, the kernel ends every process of the node.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
while read -r group; do echo $$ > "$group/cgroup.procs"; done < "$1/cgroups"
exec unshare --mount --pid --net --uts --ipc --cgroup --fork --kill-child --propagation private "$here/init.sh" "$1" "$2"
