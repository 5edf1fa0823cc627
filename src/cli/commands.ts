/** The commands. The file of each is imported only when it runs, so that no command delays the start of another. */
import type { Command } from "./command.ts";

export interface CommandEntry {
  readonly name: string;
  /** The positional arguments, as help shows them. */
  readonly usage?: string;
  readonly describe: string;
  readonly load: () => Promise<Command>;
}

export const commands: readonly CommandEntry[] = [
  {
    name: "run",
    describe: "Run the controllers of a folder against a cluster",
    load: async () => (await import("./run.ts")).runCommand,
  },
  {
    name: "dev",
    describe: "Run the controllers of a folder on a cluster of their own, and again whenever files change",
    load: async () => (await import("./dev.ts")).devCommand,
  },
  {
    name: "check",
    describe: "Load and type-check the modules without a cluster; show controllers, watches and permissions",
    load: async () => (await import("./check.ts")).checkCommand,
  },
  {
    name: "test",
    usage: "[folder] [filter..]",
    describe: "Run the tests of a folder's modules, each on a cluster of its own",
    load: async () => (await import("./test.ts")).testCommand,
  },
  {
    name: "init",
    usage: "[folder]",
    describe: "Make a folder with a first controller, its test and what editors need",
    load: async () => (await import("./init.ts")).initCommand,
  },
  {
    name: "new",
    usage: "[what] [name]",
    describe: `Write a module to begin with: controller, key-controller, resource, webhook or plugin`,
    load: async () => (await import("./new.ts")).newCommand,
  },
  {
    name: "types",
    usage: "[what..]",
    describe: "Write TypeScript types for the kinds of CustomResourceDefinitions, from files or from a cluster",
    load: async () => (await import("./types.ts")).typesCommand,
  },
  {
    name: "manifests",
    usage: "[what]",
    describe: "Print YAML for kubectl apply: crds, rbac, webhooks, monitoring or deploy",
    load: async () => (await import("./manifests.ts")).manifestsCommand,
  },
  {
    name: "build",
    describe: "Build an executable or an image of the controllers",
    load: async () => (await import("./build.ts")).buildCommand,
  },
  {
    name: "migrate",
    usage: "[kind]",
    describe: "Rewrite the stored objects of a kind in its present storage version",
    load: async () => (await import("./migrate.ts")).migrateCommand,
  },
  {
    name: "uninstall",
    usage: "[module..]",
    describe:
      "Take modules off a cluster: finalize their objects, and remove webhooks, deployment, permissions and kinds",
    load: async () => (await import("./uninstall.ts")).uninstallCommand,
  },
  {
    name: "why",
    usage: "<kind> <name>",
    describe: "Tell why an object was reconciled, what each run did, and what comes next",
    load: async () => (await import("./insight/why.ts")).whyCommand,
  },
  {
    name: "top",
    describe: "Show the load of a running process: queues, rates, latencies, informers, memory",
    load: async () => (await import("./insight/top.ts")).topCommand,
  },
  {
    name: "keys",
    usage: "[match]",
    describe: "List keys that are queued, running, failing or parked, with the reasons",
    load: async () => (await import("./insight/keys.ts")).keysCommand,
  },
  {
    name: "retry",
    usage: "[key..]",
    describe: "Run keys again now, parked ones too",
    load: async () => (await import("./insight/retry.ts")).retryCommand,
  },
  {
    name: "pause",
    usage: "[module]",
    describe: "Pause a module, or all modules: no run begins until you resume",
    load: async () => (await import("./insight/pause.ts")).pauseCommand,
  },
  {
    name: "resume",
    usage: "[module]",
    describe: "Resume a paused module, or all modules",
    load: async () => (await import("./insight/pause.ts")).resumeCommand,
  },
  {
    name: "log-level",
    usage: "[module] [level]",
    describe: "Show or change the log level of a running process, or of one of its modules",
    load: async () => (await import("./insight/log-level.ts")).logLevelCommand,
  },
  {
    name: "profile",
    describe: "Take a CPU profile and a heap snapshot of a running process, for Chrome DevTools",
    load: async () => (await import("./insight/profile.ts")).profileCommand,
  },
  {
    name: "dashboard",
    describe: "Open the dashboard of a running process in the browser",
    load: async () => (await import("./insight/dashboard.ts")).dashboardCommand,
  },
  {
    name: "apiserver",
    describe: "Serve the Kubernetes API, in memory or from a folder",
    load: async () => (await import("./apiserver.ts")).apiserverCommand,
  },
  {
    name: "envtest",
    usage: "[folder]",
    describe: "Write a folder for KUBEBUILDER_ASSETS, so that Go tests with envtest run on this API server",
    load: async () => (await import("./envtest.ts")).envtestCommand,
  },
  {
    name: "completion",
    usage: "[shell]",
    describe: "Print a completion script for $SHELL, or for the shell that is named",
    load: async () => (await import("./completion.ts")).completionCommand,
  },
  {
    name: "version",
    describe: "Print the version",
    load: async () => (await import("./version.ts")).versionCommand,
  },
];

/**
 * Finds the command in a command line, which may have flags before it.
 *
 * @returns its index; -1 when there are only flags.
 */
export function commandIndex(args: readonly string[]): number {
  return args[0]?.startsWith("-") ? args.findIndex((argument) => commands.some(({ name }) => name === argument)) : 0;
}
