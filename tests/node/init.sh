#!/usr/bin/env bash
# The first process of a node's namespaces; launch.sh starts it: init.sh DIR ASSETS. It makes the node's file system, starts
# the programs, starts each of them again when it ends, and reaps orphans.
set -euo pipefail

main() {
  local dir=$1 assets=$2 pid
  read -r pid _ < /proc/self/stat # its number on the machine, because /proc is still the machine's
  make_root "$dir" "$assets"
  echo "$NODE" > /proc/sys/kernel/hostname
  # The node's address is on its loopback, and processes of the node reach Services through it.
  ip link set lo up
  ip address add "$ADDRESS/32" dev lo
  ip route add 10.96.0.0/16 dev lo src "$ADDRESS"
  echo 1 > /proc/sys/net/ipv4/ip_forward
  echo "$pid" > /var/init.pid.new
  mv /var/init.pid.new /var/init.pid
  export PATH=/opt/node/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root
  start_programs
  trap 'exit 0' TERM
  while :; do wait || true; sleep 1; done
}

# The machine's programs and those of the node are read-only, /etc and /var are DIR's, and everything else is new.
make_root() {
  local dir=$1 assets=$2 path name
  mount -t tmpfs -o mode=755 node "$dir/root"
  cd "$dir/root"
  mkdir -p usr opt/node etc var run tmp root proc sys dev mnt home old
  for path in bin sbin lib lib32 lib64; do
    if [ -L "/$path" ]; then cp -P "/$path" .
    elif [ -d "/$path" ]; then mkdir "$path"; mount --bind "/$path" "$path"; mount -o remount,bind,ro "$path"; fi
  done
  mount --rbind /usr usr; mount -o remount,bind,ro usr
  mount --bind "$assets" opt/node; mount -o remount,bind,ro opt/node
  mount --bind "$dir/etc" etc
  mount --bind "$dir/var" var
  mount -t tmpfs -o mode=755 run run
  mount -t tmpfs -o mode=1777 tmp tmp
  mount -t proc proc proc
  mount -t sysfs -o ro sys sys
  mount -t tmpfs -o mode=755 dev dev
  mkdir dev/pts dev/shm dev/mqueue
  mount -t devpts -o newinstance,ptmxmode=0666,mode=620 devpts dev/pts
  ln -s pts/ptmx dev/ptmx
  mount -t tmpfs shm dev/shm
  mount -t mqueue mqueue dev/mqueue
  while read -r name major minor; do mknod -m 666 "dev/$name" c "$major" "$minor"; done <<< $'null 1 3\nzero 1 5\nfull 1 7\nrandom 1 8\nurandom 1 9\ntty 5 0\nkmsg 1 11'
  ln -s /proc/self/fd dev/fd; ln -s fd/0 dev/stdin; ln -s fd/1 dev/stdout; ln -s fd/2 dev/stderr
  make_cgroups
  # kubelet sets these for the whole machine: the node has files in their place that hold what it wants already.
  for path in vm/overcommit_memory=1 vm/panic_on_oom=0 kernel/panic=10 kernel/panic_on_oops=1 \
    kernel/keys/root_maxkeys=1000000 kernel/keys/root_maxbytes=25000000; do
    mkdir -p "run/sysctl/$(dirname "$path")"
    echo "${path#*=}" > "run/sysctl/${path%=*}"
    mount --bind "run/sysctl/${path%=*}" "proc/sys/${path%=*}"
  done
  pivot_root . old
  cd /
  umount -l /old
  rmdir /old
  mount --make-rshared / # pods may ask for mounts that propagate
}

# Mounted inside the cgroup namespace, so that the node's own group looks like the root of each hierarchy.
make_cgroups() {
  local mount type options names
  mount -t tmpfs -o mode=755 cgroup sys/fs/cgroup
  while read -r _ mount type options _; do
    [ "$type" = cgroup ] || continue
    names=$(tr , '\n' <<< "$options" | grep -vxE 'rw|ro|nosuid|nodev|noexec|relatime|clone_children|xattr|release_agent=.*' | paste -sd,)
    mkdir -p ".$mount"
    case $names in name=*) names=none,$names ;; esac
    mount -t cgroup -o "$names" cgroup ".$mount"
  done < <(grep -E '^[^ ]+ /sys/fs/cgroup/' /proc/mounts)
}

start_programs() {
  local k=/etc/kubernetes pki=/etc/kubernetes/pki
  keep etcd --data-dir /var/lib/etcd --unsafe-no-fsync --log-level warn \
    --listen-client-urls http://127.0.0.1:2379 --advertise-client-urls http://127.0.0.1:2379 \
    --listen-peer-urls http://127.0.0.1:2380 --initial-advertise-peer-urls http://127.0.0.1:2380 \
    --initial-cluster default=http://127.0.0.1:2380
  keep kube-apiserver --etcd-servers http://127.0.0.1:2379 --advertise-address "$ADDRESS" --secure-port 6443 \
    --service-cluster-ip-range 10.96.0.0/16 --client-ca-file $pki/ca.crt \
    --tls-cert-file $pki/apiserver.crt --tls-private-key-file $pki/apiserver.key \
    --kubelet-client-certificate $pki/apiserver-kubelet-client.crt --kubelet-client-key $pki/apiserver-kubelet-client.key \
    --kubelet-preferred-address-types InternalIP --service-account-issuer https://kubernetes.default.svc.cluster.local \
    --service-account-key-file $pki/sa.key --service-account-signing-key-file $pki/sa.key \
    --authorization-mode Node,RBAC --enable-admission-plugins NodeRestriction --allow-privileged=true $APISERVER_FLAGS
  keep containerd --config /etc/containerd/config.toml
  for image in pause busybox agnhost; do
    until ctr -n k8s.io images import "/opt/node/images/$image.tar"; do sleep 0.3; done
  done > /var/log/images.log 2>&1
  keep kubelet --config $k/kubelet.yaml --kubeconfig $k/kubelet.conf --hostname-override "$NODE" --node-ip "$ADDRESS"
  until curl -sk "https://$ADDRESS:6443/readyz" | grep -qx ok; do sleep 0.2; done
  keep kube-controller-manager --kubeconfig $k/kube-controller-manager.conf --bind-address 127.0.0.1 \
    --authentication-kubeconfig $k/kube-controller-manager.conf --authorization-kubeconfig $k/kube-controller-manager.conf \
    --service-account-private-key-file $pki/sa.key --root-ca-file $pki/ca.crt --cluster-signing-cert-file $pki/ca.crt \
    --cluster-signing-key-file $pki/ca.key --use-service-account-credentials=true --leader-elect=false
  keep kube-scheduler --kubeconfig $k/kube-scheduler.conf --authentication-kubeconfig $k/kube-scheduler.conf \
    --authorization-kubeconfig $k/kube-scheduler.conf --bind-address 127.0.0.1 --leader-elect=false
  keep kube-proxy --config $k/kube-proxy.yaml
  keep coredns -conf $k/Corefile
}

# keep PROGRAM ARGUMENT...: in the background, and again whenever it ends.
keep() {
  local name=$1
  while :; do
    "$@" >> "/var/log/$name.log" 2>&1 || true
    echo "init: $name ended" | tee -a "/var/log/$name.log"
    sleep 1
  done &
}

main "$@"
