/** Errors of a test's client point to the test: what the client did to get its answer is nobody's question there. */
import { ApiError } from "../kube/errors/api-error.ts";

/** What an ApiError shows beside its message is in the message; who wants more can ask for it. */
const QUIET = ["status", "verb", "path", "target", "retryAfter", "auditId"] as const;

/** The same object, but an error that a promise of it is rejected with has the stack of the call. */
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

/** The readers and writers that a client gives, such as `live`; a watch is iterated and stays as it is. */
function wrapped(value: unknown): unknown {
  const isPart = typeof value === "object" && value !== null && !(Symbol.asyncIterator in value);
  return isPart ? errorsAtCaller(value) : value;
}

/** Where a function was called, as the lines of a stack. */
export function callersOf(called: (...given: never[]) => unknown): string {
  const here = { stack: "" };
  Error.captureStackTrace(here, called);
  return here.stack.replace(/^(?!\s+at ).*\n?/, "");
}

/** The same error with another stack. */
export function withStack(error: unknown, lines: string): unknown {
  if (!(error instanceof Error)) return error;
  error.stack = `${error.name}: ${error.message}\n${lines}`;
  if (error instanceof ApiError) {
    for (const name of QUIET) Object.defineProperty(error, name, { enumerable: false });
  }
  return error;
}
