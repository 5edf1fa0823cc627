/** Asks the registry of npm what is known against the packages that the executable consists of. */
import { spawn } from "node:child_process";
import { text } from "node:stream/consumers";

/**
 * Advisories that do not fail the check, by their names, such as `GHSA-xxxx-xxxx-xxxx`, each with the reason why what it describes cannot
 * happen here. An entry goes when the registry no longer names it, of which the check tells.
 */
const accepted: Readonly<Record<string, string>> = {};

/** Those that fail the check; others are told. */
const severe: readonly string[] = ["high", "critical"];

export interface Advisory {
  readonly url: string;
  readonly title: string;
  readonly severity: string;
}

export interface AdvisoryOptions {
  /** A project with a `bun.lock`. */
  readonly folder: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Milliseconds until the registry counts as out of reach. @default 8000 */
  readonly within?: number;
  /** @default those of this file */
  readonly accepted?: Readonly<Record<string, string>>;
}

export interface AdvisoryReport {
  /** `skipped` where nobody could be asked. */
  readonly outcome: "passed" | "failed" | "skipped";
  readonly lines: readonly string[];
}

/** Asks for advisories about what is installed for production. It fails for none but what an advisory says. */
export async function reportAdvisories(options: AdvisoryOptions): Promise<AdvisoryReport> {
  const answer = await ask(options);
  if (typeof answer === "string")
    return { outcome: "skipped", lines: [`Advisories could not be asked for: ${answer}`] };
  const reasons = options.accepted ?? accepted;
  const lines: string[] = [];
  const seen = new Set<string>();
  let outcome: "passed" | "failed" = "passed";
  for (const [name, { url, title, severity }] of answer) {
    const id = url.slice(url.lastIndexOf("/") + 1);
    seen.add(id);
    const reason = reasons[id];
    if (reason === undefined && severe.includes(severity)) outcome = "failed";
    lines.push(`${name}: ${severity}: ${title} (${url})${reason === undefined ? "" : `; accepted, because ${reason}`}`);
  }
  for (const id of Object.keys(reasons)) {
    if (!seen.has(id))
      lines.push(`The advisory ${id} is accepted and no longer named: remove it from scripts/advisories.ts`);
  }
  if (outcome === "failed")
    lines.push(
      "Install a version without it, or accept it in scripts/advisories.ts with the reason why it does no harm here",
    );
  return {
    outcome,
    lines: lines.length === 0 ? ["No advisory names a package that is installed for production"] : lines,
  };
}

/** @returns why nobody could be asked, as a text. */
async function ask({
  folder,
  env,
  within = 8000,
}: AdvisoryOptions): Promise<string | readonly (readonly [string, Advisory])[]> {
  const signal = AbortSignal.timeout(within);
  const child = spawn(process.execPath, ["audit", "--json", "--prod"], {
    cwd: folder,
    env: { ...env },
    stdio: ["ignore", "pipe", "pipe"],
    signal,
    killSignal: "SIGKILL",
  });
  const ended = new Promise((resolve) => child.once("error", resolve).once("exit", resolve));
  const [out, err] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
  if (signal.aborted) return `the registry has not answered within ${within / 1000} s`;
  const advisories = advisoriesIn(out);
  return (
    advisories ?? [...err.split("\n"), ...out.split("\n")].find((line) => line.trim() !== "") ?? "nothing was answered"
  );
}

/** @returns `undefined` for what is no answer of a registry. */
function advisoriesIn(out: string): readonly (readonly [string, Advisory])[] | undefined {
  try {
    const answer = JSON.parse(out) as Readonly<Record<string, readonly Advisory[]>>;
    return Object.entries(answer).flatMap(([name, all]) => all.map((one) => [name, one] as const));
  } catch {
    return undefined;
  }
}
