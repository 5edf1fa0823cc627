/** The version of Kubernetes whose API the server has. */
export const kubernetesVersion = "v1.36.3";
