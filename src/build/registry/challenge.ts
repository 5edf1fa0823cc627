/** How a registry says that it wants to know who asks: the `WWW-Authenticate` header. */

export interface Challenge {
  /** In lower case: `bearer` or `basic`. */
  readonly scheme: string;
  readonly parameters: ReadonlyMap<string, string>;
}

/** The challenges of a header, in its order; what cannot be read is left out. */
export function parseChallenges(header: string): readonly Challenge[] {
  const challenges: { scheme: string; parameters: Map<string, string> }[] = [];
  const pattern = /([A-Za-z][\w-]*)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s,"]+))|([A-Za-z][\w-]*)/g;
  for (const [, key, quoted, plain, scheme] of header.matchAll(pattern)) {
    if (scheme !== undefined) challenges.push({ scheme: scheme.toLowerCase(), parameters: new Map() });
    else challenges.at(-1)?.parameters.set(key!.toLowerCase(), quoted?.replaceAll(/\\(.)/g, "$1") ?? plain ?? "");
  }
  return challenges;
}
