/** The name of this runtime. */

/** The runtime with its version, for people. */
export const runtimeName: string = `Bun ${Bun.version}`;
