/** Names of images, as Docker and Kubernetes read them. */

export interface Reference {
  /** Host and port of the registry, such as `ghcr.io` or `localhost:5000`. */
  readonly registry: string;
  /** The repository, such as `library/debian`. */
  readonly repository: string;
  /** The tag; `latest` when the name has neither a tag nor a digest. */
  readonly tag: string | undefined;
  readonly digest: string | undefined;
}

const DOCKER_HUB = "docker.io";
const component = "[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*";
const repositoryPattern = new RegExp(`^${component}(?:/${component})*$`);
const hostPattern =
  /^(?:[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?(?:\.[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?)*|\[[0-9a-fA-F:]+\])(?::\d{1,5})?$/;
const LONGEST_REPOSITORY = 255;

/** Parses a name. @returns the reason, as a text, when no registry would accept it. */
export function parseReference(text: string): Reference | string {
  const [named = "", digest, ...more] = text.split("@");
  if (more.length > 0) return "it has more than one digest";
  if (digest !== undefined && !/^sha256:[0-9a-f]{64}$/.test(digest)) {
    return `its digest '${digest}' is not sha256: and 64 hexadecimal digits`;
  }
  const slash = named.indexOf("/");
  const first = slash < 0 ? "" : named.slice(0, slash);
  const hasRegistry = /[.:]/.test(first) || first === "localhost" || first !== first.toLowerCase();
  const registry = hasRegistry ? first : DOCKER_HUB;
  const rest = hasRegistry ? named.slice(slash + 1) : named;
  const colon = rest.lastIndexOf(":");
  const tag = colon < 0 ? undefined : rest.slice(colon + 1);
  const path = colon < 0 ? rest : rest.slice(0, colon);
  if (!hostPattern.test(registry)) return `'${registry}' is no host`;
  if (path !== path.toLowerCase()) return `'${path}' has capital letters, which no registry takes`;
  if (!repositoryPattern.test(path)) return `'${path}' is no repository: expected words such as team/guestbook`;
  if (path.length > LONGEST_REPOSITORY) return `'${path}' is longer than ${LONGEST_REPOSITORY} letters`;
  if (tag !== undefined && !/^\w[\w.-]{0,127}$/.test(tag))
    return `'${tag}' is no tag: expected letters, digits, '_', '.' and '-'`;
  const isOfficial = registry === DOCKER_HUB && !path.includes("/");
  return {
    registry: registry === "index.docker.io" ? DOCKER_HUB : registry,
    repository: isOfficial ? `library/${path}` : path,
    tag: tag ?? (digest === undefined ? "latest" : undefined),
    digest,
  };
}

/** Returns the name with the parts that a short one leaves out, as containerd stores it. */
export function fullName({ registry, repository, tag, digest }: Reference): string {
  return `${registry}/${repository}${tag === undefined ? "" : `:${tag}`}${digest === undefined ? "" : `@${digest}`}`;
}
