/** The result of a check: where, what, and the rule behind it. */

export interface Finding {
  /** Relative to the project. */
  readonly file: string;
  readonly line: number;
  readonly what: string;
  readonly rule: string;
}

/** Examines the project in `root` and returns what breaks one rule. */
export type Check = (root: string) => Promise<Finding[]>;

export function format({ file, line, what, rule }: Finding): string {
  return `${file}:${line}: ${what}\n    ${rule}`;
}
