/** Makes environment variables that this process may not read appear unset. */

/**
 * With `--allow-env` for some variables only, reading any other one throws, and programs and packages read many that
 * are not set anyway.
 */
export function readOnlyPermittedVariables(): void {
  const all = process.env;
  const permitted = <T>(read: () => T, otherwise: T): T => {
    try {
      return read();
    } catch {
      return otherwise;
    }
  };
  // The target of the proxy is empty, because the runtime compares the results of traps with the target.
  process.env = new Proxy(
    {},
    {
      get: (_, name) => permitted(() => Reflect.get(all, name) as string | undefined, undefined),
      set: (_, name, value) => Reflect.set(all, name, value),
      deleteProperty: (_, name) => Reflect.deleteProperty(all, name),
      has: (_, name) => permitted(() => Reflect.has(all, name), false),
      ownKeys: () => permitted(() => Reflect.ownKeys(all), []),
      getOwnPropertyDescriptor: (_, name) => {
        const descriptor = permitted(() => Reflect.getOwnPropertyDescriptor(all, name), undefined);
        return descriptor && { ...descriptor, configurable: true };
      },
    },
  );
}
