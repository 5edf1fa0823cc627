/** The Go modules whose suites judge the API server, each at one version and with the hash of its content. */

export interface GoModule {
  readonly path: string;
  readonly version: string;
  /** What `go.sum` says of the module: another content is refused. */
  readonly sum: string;
  /** The packages whose tests run. */
  readonly packages: readonly string[];
}

/** The library that envtest comes from, with every package of it whose tests start a server or plan to. */
export const controllerRuntime: GoModule = {
  path: "sigs.k8s.io/controller-runtime",
  version: "v0.25.2",
  sum: "h1:bEkK3PVOIVK9X8QWLGVhJgmFc++47vfT6wakSzAOLsQ=",
  packages: [
    "pkg/builder",
    "pkg/cache",
    "pkg/client",
    "pkg/client/apiutil",
    "pkg/cluster",
    "pkg/controller",
    "pkg/controller/controllerutil",
    "pkg/envtest",
    "pkg/handler",
    "pkg/internal/controller",
    "pkg/internal/recorder",
    "pkg/internal/testing/controlplane",
    "pkg/manager",
    "pkg/manager/internal/integration",
    "pkg/metrics/filters",
    "pkg/reconcile",
    "pkg/source",
    "pkg/webhook",
  ],
};

/** Operators whose modules have their envtest suites and definitions: Jobs, StatefulSets, revisions, webhooks. */
export const operators: readonly GoModule[] = [
  {
    path: "sigs.k8s.io/jobset",
    version: "v0.10.1",
    sum: "h1:u8QKifNsrWVrlRFe6w2ofYTqFT9ma2DRHxfeB2m9xyU=",
    packages: ["test/integration/controller", "test/integration/webhook"],
  },
  {
    path: "sigs.k8s.io/lws",
    version: "v0.7.0",
    sum: "h1:qWfzX8+UBak+Hq0+m/PuE3uO0mp/3dmm5q/h/7z31A8=",
    packages: ["test/integration/controllers", "test/integration/webhooks"],
  },
];

/** The program that most operators written in Go began with. */
export const kubebuilder: GoModule = {
  path: "sigs.k8s.io/kubebuilder/v4",
  version: "v4.15.0",
  sum: "h1:LiTS6XCCmhxS0P7OXwpVqcoywlvbF3yK8G+tZjZF62A=",
  packages: [],
};
