/** Makes variables of the environment that this process may not read look as if they were not set. */

/**
 * With `--allow-env` for some variables only, reading any other one throws, and programs and packages ask for many
 * that are not there anyway.
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
  // The object that stands for it is empty, because the runtime compares what it is told with the object itself.
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
