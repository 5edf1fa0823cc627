/** Checks the names of a kind that others define as the API server does. */
import { isDnsSubdomain } from "../resource/label-name.ts";
import { UserError } from "./usage-error.ts";

const LABEL = /^[a-z](?:[-a-z0-9]{0,61}[a-z0-9])?$/;

export interface KindNames {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
}

/** @throws UserError naming what no API server accepts; neither is it safe as the name of a file, nor in source that is generated. */
export function checkKindNames({ group, version, kind, plural }: KindNames): void {
  const names = { kind: kind.toLowerCase(), plural, version };
  const wrong = Object.entries(names).find(([, name]) => !LABEL.test(name))?.[0] as keyof typeof names | undefined;
  if (wrong !== undefined) {
    const value = JSON.stringify({ kind, plural, version }[wrong].slice(0, 100));
    throw new UserError(
      `Cannot write types: no API server accepts the ${wrong} ${value}, because it has other characters than letters, digits and '-', ` +
        "or more than 63",
    );
  }
  if (!isDnsSubdomain(group) || !group.includes(".")) {
    const value = JSON.stringify(group.slice(0, 100));
    throw new UserError(
      `Cannot write types for ${kind}: no API server accepts the group ${value}, which is no DNS name with a dot`,
    );
  }
}
