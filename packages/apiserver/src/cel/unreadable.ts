/** Stands in a list for a value that does not have the type of its schema, so that only what reads it fails. */
export class Unreadable {
  /** What is wrong with the value, in the server's words. */
  readonly problem: string;

  constructor(problem: string) {
    this.problem = problem;
  }
}
