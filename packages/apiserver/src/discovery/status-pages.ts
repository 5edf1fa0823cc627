/** Serves `/statusz` and `/flagz`, as text and as objects. @see https://kubernetes.io/docs/reference/instrumentation/zpages/ */
import type { Fields } from "../hooks.ts";
import { preferred } from "../request/accept.ts";
import { answerObject } from "../request/answer.ts";
import { StatusError } from "../status.ts";
import { version } from "./health.ts";

const media = ["application/json", "application/yaml", "text/plain"];
const group = "config.k8s.io";
const versions = ["v1beta1", "v1alpha1"];

const warning = `
Warning: This endpoint is not meant to be machine parseable, has no formatting compatibility guarantees and is for debugging purposes only.
`;

const paths = ["/flagz", "/healthz", "/livez", "/metrics", "/readyz", "/statusz", "/version"];

/** Responds to both paths, whatever the method; `undefined` for any other path. @throws StatusError 406 */
export function statusPage(request: Request, path: string): Response | undefined {
  if (path !== "/statusz" && path !== "/flagz") return undefined;
  const kind = path === "/statusz" ? "Statusz" : "Flagz";
  const form = formOf(request.headers.get("accept") ?? "", kind);
  if (form === undefined) {
    const message = `only the following media types are accepted: ${media.join(", ")}`;
    throw new StatusError(406, "NotAcceptable", { message });
  }
  const content = kind === "Statusz" ? status() : { flags: {} };
  if (form === "text") return page(kind, content);
  const object = { kind, apiVersion: `${group}/${form.version}`, metadata: { name: "apiserver" }, ...content };
  const type = `application/${form.media};g=${group};v=${form.version};as=${kind}`;
  const old = `This version of the ${kind.toLowerCase()} endpoint is deprecated. Please use a newer version.`;
  const warnings = form.version === "v1alpha1" ? [old] : [];
  return answerObject(request, object, { media: form.media, headers: { "content-type": type }, warnings });
}

interface Structured {
  readonly media: "json" | "yaml";
  readonly version: string;
}

/** Chooses text for clients that accept anything; the object form has to be requested by name. */
function formOf(header: string, kind: string): "text" | Structured | undefined {
  if (header === "") return "text";
  for (const clause of preferred(header.split(","))) {
    const [type = "", ...parameters] = clause.split(";").map((part) => part.trim());
    const parameter = (name: string): string | undefined =>
      parameters.find((one) => one.startsWith(`${name}=`))?.slice(name.length + 1);
    const asked = parameter("as");
    if (asked === undefined && (type === "text/plain" || type === "text/*" || type === "*/*")) return "text";
    const [of, wanted = ""] = [parameter("g"), parameter("v")];
    if (asked !== kind || of !== group || !versions.includes(wanted)) continue;
    if (type === "application/json" || type === "application/*" || type === "*/*")
      return { media: "json", version: wanted };
    if (type === "application/yaml") return { media: "yaml", version: wanted };
  }
  return undefined;
}

function status(): Fields {
  return {
    startTime: `${new Date(Date.now() - process.uptime() * 1000).toISOString().slice(0, 19)}Z`,
    uptimeSeconds: Math.floor(process.uptime()),
    goVersion: version.goVersion,
    binaryVersion: version.gitVersion.slice(1),
    emulationVersion: `${version.major}.${version.minor}`,
    paths,
  };
}

function page(kind: string, content: Fields): Response {
  const lines =
    kind === "Flagz"
      ? []
      : [
          "",
          `Started: ${unixDate(new Date(String(content["startTime"])))}`,
          `Up: ${uptime(Number(content["uptimeSeconds"]))}`,
          `Go version: ${String(content["goVersion"])}`,
          `Binary version: ${String(content["binaryVersion"])}`,
          `Emulation version: ${String(content["emulationVersion"])}`,
          `Paths: ${paths.join(" ")}`,
        ];
  const text = `\napiserver ${kind.toLowerCase()}${warning}${lines.map((line) => `${line}\n`).join("")}`;
  const headers = { "content-type": "text/plain; charset=utf-8", "cache-control": "no-cache, private" };
  return new Response(text, { headers });
}

/** Formats a date such as `Sun Nov 22 16:13:49 UTC 2026`. */
function unixDate(date: Date): string {
  const [day = "", number = "", month = "", year = "", time = ""] = date.toUTCString().replace(",", "").split(" ");
  return `${day} ${month} ${String(Number(number)).padStart(2, " ")} ${time} UTC ${year}`;
}

function uptime(seconds: number): string {
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor((seconds % 3600) / 60)];
  const two = (part: number): string => String(part).padStart(2, "0");
  return `${hours} hr ${two(minutes)} min ${two(seconds % 60)} sec`;
}
