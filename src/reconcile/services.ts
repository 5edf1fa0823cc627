/** Services: objects that a plugin provides to the code of all modules of its process, by name. */
import { RetryError } from "./errors.ts";

declare const provided: unique symbol;

/** The name of a service, with the type of what stands behind it. */
export interface Service<out T extends object> {
  readonly name: string;
  readonly [provided]?: T;
}

/** What a plugin provides under a name. */
export interface Provided {
  readonly instance: object;
  /** Calls a function of the instance as a part of the module that provides it. */
  readonly call: <R>(work: () => R) => R;
}

const NAME = /^[a-z0-9]([-a-z0-9.]*[a-z0-9])?\/[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/;
/** The time after which a run is retried for want of a service, which may come with the next file that is saved. */
const RETRY_AFTER = "1s";

/**
 * Names a service of a plugin as `<plugin>/<service>`, and gives it its type. A plugin says with `provides` that it has
 * it; the code of every module gets it from its context, as `context.service(mailer)`. The value is a name alone: each
 * module may have its own copy.
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

/** Returns what stands behind the name of a service. */
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
   * Returns a stand-in for the service, which leads to whatever the plugin's running version provides when it is used.
   * Using it is a RetryError while none does.
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
        // A promise may resolve with the stand-in, which asks every object for it.
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

/** What `context.service` is where no plugins are. */
export const noServices: UseService = new Services().use;
