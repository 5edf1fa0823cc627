/** The labels of an image, which are the annotations of OCI. */
import { spawnSync } from "node:child_process";
import { dirname } from "node:path";
import { projectOf } from "../modules/installed-packages.ts";
import { fullName, type Reference } from "./reference.ts";

export interface LabelOptions {
  /** The name of the operator; without one, the image's name. */
  readonly title: string | undefined;
  /** The controllers folder; the project around it has the version and similar fields. `undefined` where there is none. */
  readonly folder: string | undefined;
  readonly reference: Reference;
  /** Milliseconds since the epoch. */
  readonly created: number;
  /** Labels as `key=value`, which take precedence over all others. */
  readonly flags: readonly string[];
  /** The reference of the base. */
  readonly base: Reference | undefined;
}

const PREFIX = "org.opencontainers.image.";

/** @see https://github.com/opencontainers/image-spec/blob/main/annotations.md */
export function labelsOf({
  title,
  folder,
  reference,
  created,
  flags: given,
  base,
}: LabelOptions): Readonly<Record<string, string>> {
  const project = (folder === undefined ? undefined : projectOf(dirname(folder))) ?? {};
  const text = (value: unknown): string | undefined => (typeof value === "string" && value !== "" ? value : undefined);
  const defaults: Readonly<Record<string, string | undefined>> = {
    title: title ?? reference.repository.slice(reference.repository.lastIndexOf("/") + 1),
    created: new Date(created).toISOString(),
    version: text(project["version"]) ?? reference.tag,
    description: text(project["description"]),
    licenses: text(project["license"]),
    url: withoutCredentials(text(project["homepage"])),
    source: repositoryOf(project["repository"]),
    revision: folder === undefined ? undefined : revisionOf(folder),
    "base.name": base && fullName(base),
  };
  const labels = Object.entries(defaults).flatMap(([key, value]) =>
    value === undefined ? [] : [[`${PREFIX}${key}`, value] as const],
  );
  const own = given.map((label): readonly [string, string] => {
    const at = label.indexOf("=");
    return [label.slice(0, at), label.slice(at + 1)];
  });
  return Object.fromEntries([...labels, ...own].toSorted(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)));
}

/** Returns the `repository` of package.json, as an address for browsers if possible. */
function repositoryOf(repository: unknown): string | undefined {
  const url =
    typeof repository === "object" && repository !== null && "url" in repository ? repository.url : repository;
  return typeof url === "string" ? withoutCredentials(url.replace(/^git\+/, "").replace(/\.git$/, "")) : undefined;
}

/** Takes the user and the password out of an address, because everybody who may pull the image sees it. */
function withoutCredentials(address: string | undefined): string | undefined {
  if (address === undefined) return undefined;
  // Two slashes are not needed for a browser to find a login, and neither is a scheme.
  const url = URL.parse(address.startsWith("//") ? `https:${address}` : address);
  if (url === null || url.host === "") {
    const colon = address.indexOf(":");
    const mayHaveLogin = address.includes("://") || (colon >= 0 && address.includes("@", colon));
    return mayHaveLogin && !isOfSsh(address) ? undefined : address; // nobody can tell where a password ends
  }
  if (url.username === "" && url.password === "") return address;
  url.username = url.password = "";
  return url.href;
}

/** Whether the address is `user@host:path`, the user of which is not a secret. */
function isOfSsh(address: string): boolean {
  return !address.includes("://") && address.indexOf("@") < address.indexOf(":");
}

/** The commit, with a mark where files of the folder have changed since; `undefined` outside of a repository. */
function revisionOf(folder: string): string | undefined {
  const git = (args: readonly string[]): string | undefined => {
    const { status, stdout } = spawnSync("git", ["-C", folder, ...args], {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    });
    return status === 0 ? stdout.trim() : undefined;
  };
  const commit = git(["rev-parse", "--verify", "HEAD"]);
  if (commit === undefined) return undefined;
  return git(["status", "--porcelain", "--", "."]) === "" ? commit : `${commit}-dirty`;
}
