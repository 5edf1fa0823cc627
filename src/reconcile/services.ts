/** Services: objects that a plugin provides to the code of all modules of its process, by name. */
import { RetryError } from "./errors.ts";

declare const provided: unique symbol;

/** The name of a service, with the type of its functions. */
export interface Service<out T extends object> {
  readonly name: string;
  readonly [provided]?: T;
}

/** The service of a plugin with a name. */
export interface Provided {
  readonly instance: object;
  /** Calls a function of the instance as a part of the module that provides it. */
  readonly call: <R>(work: () => R) => R;
}

const NAME = /^[a-z0-9]([-a-z0-9.]*[a-z0-9])?\/[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/;
/** The time after which a run is retried when a service is missing, which may come with the next saved file. */
const RETRY_AFTER = "1s";

/**
 * Names a service of a plugin as `<plugin>/<service>`, and gives it its type. A plugin declares it with `provides`; the
 * code of every module gets it from its context, as `context.service(mailer)`. The value is a name alone: each module
 * may have its own copy.
 *
 * @throws TypeError for another name.
 * @example
 * export const mailer = service<Mailer>("mail/mailer");
 */
export function service<T extends object>(name: string): Service<T> {
  if (typeof name !== "string" || !NAME.test(name)) {
    throw new TypeError(
      `Cannot name the service ${JSON.stringify(name)}: expected the names of a plugin and of a service of it, such as 'mail/mailer'`,
    );
  }
  return Object.freeze({ name });
}

/** Returns the service of a name. */
export type UseService = <T extends object>(service: Service<T>) => T;

/** The services of a process. */
export class Services {
  #provided: ReadonlyMap<string, Provided> = new Map();
  readonly #standIns = new Map<string, object>();

  /** Replaces all services. */
  set(provided: ReadonlyMap<string, Provided>): void {
    this.#provided = provided;
  }

  /**
   * Returns a stand-in for the service, which calls the service of the plugin's running version. While there is none,
   * its use throws a RetryError.
   */
  readonly use: UseService = <T extends object>({ name }: Service<T>) => {
    let standIn = this.#standIns.get(name);
    if (standIn === undefined) {
      standIn = new Proxy({}, this.#handlerOf(name));
      this.#standIns.set(name, standIn);
    }
    return standIn as T;
  };

  #handlerOf(name: string): ProxyHandler<object> {
    const current = (): Provided => {
      const provided = this.#provided.get(name);
      if (provided !== undefined) return provided;
      throw new RetryError(
        `Cannot use the service '${name}': no module that runs provides it; add the module with plugin '${name.split("/")[0]}'`,
        { after: RETRY_AFTER },
      );
    };
    return {
      get: (_, property) => {
        // A promise may resolve with the stand-in; it checks every object for `then`.
        if (property === "then") return undefined;
        const { instance, call } = current();
        const value: unknown = Reflect.get(instance, property, instance);
        if (typeof value !== "function") return value;
        return (...args: readonly unknown[]) => call(() => Reflect.apply(value, instance, args) as unknown);
      },
      has: (_, property) => Reflect.has(current().instance, property),
      set: () => {
        throw new TypeError(`Cannot change the service '${name}': call a method of it`);
      },
    };
  }
}

/** The `context.service` of a process without plugins. */
export const noServices: UseService = new Services().use;
