/** `/version`, health and the list of paths. */
import type { Fields } from "../hooks.ts";
import { answerObject } from "../request/answer.ts";

const version = {
  major: "1",
  minor: "36",
  emulationMajor: "1",
  emulationMinor: "36",
  minCompatibilityMajor: "1",
  minCompatibilityMinor: "35",
  gitVersion: "v1.36.3",
  gitCommit: "$Format:%H$",
  gitTreeState: "",
  buildDate: "1970-01-01T00:00:00Z",
  goVersion: "go1.26.8",
  compiler: "gc",
  platform: `${process.platform}/${process.arch === "x64" ? "amd64" : process.arch}`,
};

const checks = ["ping", "log", "etcd"];

/** Answers these paths; `undefined` for any other. */
export function health(request: Request, url: URL, paths: () => readonly string[]): Response | undefined {
  const path = url.pathname.replace(/(.)\/$/, "$1");
  if (path === "/version") return answerObject(request, version satisfies Fields);
  if (path === "/") return answerObject(request, { paths: paths() });
  const [, name = "", check, ...more] = path.split("/");
  if (!["healthz", "livez", "readyz"].includes(name) || more.length > 0) return undefined;
  if (check !== undefined && !checks.includes(check)) return undefined;
  return text(check === undefined && url.searchParams.has("verbose") ? verbose(name) : "ok");
}

function verbose(name: string): string {
  return `${checks.map((check) => `[+]${check} ok\n`).join("")}${name} check passed\n`;
}

function text(body: string): Response {
  const headers = { "content-type": "text/plain; charset=utf-8", "x-content-type-options": "nosniff" };
  return new Response(body, { headers: { ...headers, "cache-control": "no-cache, private" } });
}
