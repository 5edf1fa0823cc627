/** The program, which the entry of each runtime starts: the only file that knows the embedded files. */
import { cli } from "./cli/cli.ts";
import type { Embedded } from "./cli/command.ts";
import { writeToStandardError, writeToStandardOutput } from "./observe/standard-streams.ts";
import type { OfferedPackages } from "./platform/module-host.ts";
import project from "../package.json" with { type: "json" };

/** Returns the packages that modules may import from inside the binary, by exact names. */
export async function offered(): Promise<OfferedPackages> {
  const [binnacle, cache, resources, zod, hono] = await Promise.all([
    import("./index.ts"),
    import("./cache/index.ts"),
    import("./resource/builtin/index.ts"),
    import("zod"),
    import("hono"),
  ]);
  return {
    binnacle,
    "binnacle/cache": cache,
    "binnacle/resources": resources,
    // Few modules have fields of built-in types, and their schemas are large.
    "binnacle/schemas": () => import("./resource/builtin/schemas.ts"),
    // The package contains an API server and a cluster, which only tests need, so controllers do not load it.
    "binnacle/testing": () => import("./testing/index.ts"),
    zod,
    hono,
    // Few modules make pages, so this package is loaded with the first that does. Each is imported by another name:
    // without a bundle, its own name would lead back to this offer once it is made.
    "hono/jsx": () => import("#hono/jsx"),
    "hono/jsx/jsx-runtime": () => import("#hono/jsx/jsx-runtime"),
    "hono/jsx/jsx-dev-runtime": () => import("#hono/jsx/jsx-dev-runtime"),
  };
}

/** The facts that only an entry knows of the program. */
export interface Entry extends Pick<Embedded, "sdk" | "source" | "operator"> {
  /** The arguments of the command line. */
  readonly args: readonly string[];
  /** The version that the build has given the program. @default that of the sources */
  readonly version: string | undefined;
  /** The folder of the entry, as a URL that ends with a slash. */
  readonly folder: string;
}

/** Runs the command line, and ends the process. */
export async function start({ args, version, folder, ...embedded }: Entry): Promise<void> {
  const status = await cli(args, {
    embedded: {
      version: version ?? project.version,
      dependencies: project.dependencies,
      offered,
      stallThread: new URL("manager/stall-thread.ts", folder).href,
      ...embedded,
    },
    env: process.env,
    out: writeToStandardOutput,
    err: writeToStandardError,
  });
  // A module's open handles must not keep the process alive, but its output must be written first.
  process.stdout.write("", () => process.exit(status));
}
