/** What this runtime is. */

/** The runtime with its version, for people. */
export const runtimeName: string = `Bun ${Bun.version}`;
