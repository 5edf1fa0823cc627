/** The Go types of the built-in kinds, which say how these are decoded and encoded: OpenAPI does not. */
import { spawnSync } from "node:child_process";
import { join } from "node:path";

export interface GoField {
  readonly name: string;
  /** The type, such as `*int32`. */
  readonly type: string;
  readonly omitEmpty?: boolean;
  readonly omitZero?: boolean;
}

export interface GoType {
  readonly name: string;
  readonly fields: readonly GoField[];
  /** Whether it decodes itself. */
  readonly own?: boolean;
}

/** Returns the types by schema name, such as `io.k8s.api.apps.v1.Deployment`. This needs Go. */
export function goTypes(): ReadonlyMap<string, GoType> {
  const run = spawnSync("go", ["run", "-trimpath", "./gotypes"], {
    cwd: join(import.meta.dirname, "../../../scripts/controlplane"),
    env: { ...process.env, CGO_ENABLED: "0" },
    maxBuffer: 64 << 20,
    encoding: "utf8",
  });
  if (run.status !== 0) throw new Error(`go run ./gotypes failed: ${run.error?.message ?? run.stderr}`);
  return new Map(Object.entries(JSON.parse(run.stdout) as Record<string, GoType>));
}
