/** How the runtime runs tests. */

export interface TestRun {
  /** The paths of the files. */
  readonly files: readonly string[];
  /** The file that is loaded before the tests. */
  readonly program: string;
  /** Milliseconds for each test. */
  readonly timeout: number;
  /** A regular expression that names of tests match. */
  readonly pattern: string | undefined;
  readonly bail: boolean;
  readonly coverage: boolean;
  readonly updateSnapshots: boolean;
  readonly watch: boolean;
  readonly settings: TestSettings;
}

/** Files with settings, by their absolute paths. */
export interface TestSettings {
  readonly bunfig: string;
  readonly tsconfig: string;
  readonly environment: readonly string[];
}

/** How the runner is called. */
export interface RunnerCall {
  readonly args: readonly string[];
  /** Variables to set in addition to the environment. */
  readonly env: Readonly<Record<string, string>>;
  /** Called once when the runner has ended: whether there was no test. @default the runner's output shows it */
  readonly ranNothing?: (() => boolean) | undefined;
}
