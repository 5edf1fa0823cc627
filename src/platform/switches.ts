/**
 * Optimizations that the environment can disable, to find out whether one of them causes a problem.
 * docs/troubleshooting.md names the variables.
 */

export interface Switches {
  /** Requests use HTTP/2. */
  readonly http2: boolean;
  /** Busy connections are read a few milliseconds later, so that several messages are read together. */
  readonly readPacing: boolean;
}

/** The variable that disables each optimization; client-go uses the first one too. */
const VARIABLES: Readonly<Record<keyof Switches, string>> = {
  http2: "DISABLE_HTTP2",
  readPacing: "DISABLE_READ_PACING",
};

type Environment = Readonly<Record<string, string | undefined>>;

/** Reads the switches. As in client-go, a variable with any value that is not empty disables the optimization. */
export function switchesOf(env: Environment = process.env): Switches {
  const isOn = (name: keyof Switches): boolean => !env[VARIABLES[name]];
  return { http2: isOn("http2"), readPacing: isOn("readPacing") };
}

/** Returns the variables that disable something. */
export function disabledBy(env: Environment): readonly string[] {
  return Object.values(VARIABLES).filter((name) => env[name]);
}
