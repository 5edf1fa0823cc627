/** What a check found, and how it is told: where, what, and the rule behind it. */

export interface Finding {
  /** Relative to the project. */
  readonly file: string;
  readonly line: number;
  readonly what: string;
  readonly rule: string;
}

/** Looks at the project in `root` and names what breaks one rule. */
export type Check = (root: string) => Promise<Finding[]>;

export function format({ file, line, what, rule }: Finding): string {
  return `${file}:${line}: ${what}\n    ${rule}`;
}
