/** Makes errors of a test's client point to the test, because the client's own calls do not matter there. */
import { ApiError } from "../kube/errors/api-error.ts";

/** The message contains these fields of an ApiError already, so they are not enumerable. */
const QUIET = ["status", "verb", "path", "target", "retryAfter", "auditId"] as const;

/** Returns the same object, except that errors with which its promises reject have the stack of the call. */
export function errorsAtCaller<T extends object>(object: T): T {
  return new Proxy(object, {
    get(_, name) {
      const member: unknown = Reflect.get(object, name, object);
      if (typeof member !== "function") return wrapped(member);
      return function call(...given: unknown[]): unknown {
        const answer: unknown = Reflect.apply(member, object, given);
        if (!(answer instanceof Promise)) return wrapped(answer);
        const stack = callersOf(call);
        return answer.catch((error: unknown) => {
          throw withStack(error, stack);
        });
      };
    },
  });
}

/** Wraps readers and writers that a client returns, such as `live`; a watch is an iterator and stays as it is. */
function wrapped(value: unknown): unknown {
  const isPart = typeof value === "object" && value !== null && !(Symbol.asyncIterator in value);
  return isPart ? errorsAtCaller(value) : value;
}

/** Returns the place of a call, as the lines of a stack. */
export function callersOf(called: (...given: never[]) => unknown): string {
  const here = { stack: "" };
  Error.captureStackTrace(here, called);
  return here.stack.replace(/^(?!\s+at ).*\n?/, "");
}

/** Returns the same error with another stack. */
export function withStack(error: unknown, lines: string): unknown {
  if (!(error instanceof Error)) return error;
  error.stack = `${error.name}: ${error.message}\n${lines}`;
  if (error instanceof ApiError) {
    for (const name of QUIET) Object.defineProperty(error, name, { enumerable: false });
  }
  return error;
}
