/** Finds the kinds that a request names: by kind, plural or singular, with or without the group. */
import type { KindAnswer } from "../../server/debug/answers.ts";

interface NamedKind extends KindAnswer {
  readonly plural?: string | undefined;
}

export function kindAnswer({ group, version, kind }: KindAnswer): KindAnswer {
  return { group, version, kind };
}

/** Whether a text such as `Deployment`, `deployments`, `deployment.apps` or `Deployment.v1.apps` names the kind. */
export function isNamed(text: string, { group, version, kind, plural }: NamedKind): boolean {
  const [name = "", ...rest] = text.toLowerCase().split(".");
  const single = kind.toLowerCase();
  if (name !== single && name !== `${single}s` && name !== plural) return false;
  const named = rest.join(".");
  return rest.length === 0 || named === group || named === `${version}.${group}` || (group === "" && named === version);
}
