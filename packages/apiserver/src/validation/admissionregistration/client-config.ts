/** Validates how a webhook is reached, for admission and for conversion. */
import type { Field } from "../field.ts";
import { dnsSubdomain } from "../formats.ts";

/** Requires exactly one of a URL and a service. */
export function clientConfig(config: Field): void {
  const [url, service] = [config.at("url"), config.at("service")];
  if (url.present === service.present) return config.required("exactly one of url or service is required");
  if (url.present) return webhookUrl(url);
  // The real server swaps the two conditions.
  if (service.at("namespace").text === "") service.at("name").required();
  if (service.at("name").text === "") service.at("namespace").required();
  const port = service.at("port");
  if (port.present && (port.number < 1 || port.number > 65535))
    port.invalid("port is not valid: must be between 1 and 65535, inclusive");
  const path = service.at("path");
  if (path.present && path.text !== "" && path.text !== "/") servicePath(path);
}

function servicePath(path: Field): void {
  if (!path.text.startsWith("/")) path.invalid("must start with a '/'");
  if (path.text === "//") return path.invalid("segment[0] may not be empty");
  const text = path.text.slice(1).replace(/\/$/, "");
  for (const [index, segment] of text.split("/").entries()) {
    if (segment === "") path.invalid(`segment[${index}] may not be empty`);
    else for (const detail of dnsSubdomain(segment)) path.invalid(`segment[${index}]: ${detail}`);
  }
}

const urlForm = "; desired format: https://host[/path]";

function webhookUrl(field: Field): void {
  const [, scheme = "", rest = ""] = /^(?:([a-z][a-z0-9+.-]*):)?(.*)$/i.exec(field.text) ?? [];
  const host = /^\/\/([^/?#]*)/.exec(rest)?.[1] ?? "";
  if (scheme !== "https") field.invalid(`'https' is the only allowed URL scheme${urlForm}`, scheme);
  if (host === "") field.invalid(`host must be specified${urlForm}`, host);
  // User information in front of the host has an error of its own.
  if (host.includes("@")) field.invalid("user information is not permitted in the URL", host.split("@")[0]);
  const [before = "", fragment = ""] = rest.split("#", 2);
  if (fragment !== "") field.invalid("fragments are not permitted in the URL", fragment);
  const query = before.slice(before.indexOf("?") + 1);
  if (before.includes("?") && query !== "") field.invalid("query parameters are not permitted in the URL", query);
}
