/** A real etcd and kube-apiserver for tests. Where there is neither Go nor KUBEBUILDER_ASSETS, tests that need one are skipped. */
export { lendPlane } from "./lent-planes.ts";
export { assets, type ControlPlane, startControlPlane } from "../../scripts/controlplane/controlplane.ts";
