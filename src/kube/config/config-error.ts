/** The error of wrong settings for reaching a cluster. */
import { messageOf } from "../../platform/error-message.ts";

/** A kubeconfig, certificate or credential that cannot be used; the message names it, its place, and the remedy. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
}

/** @returns true for a {@link ConfigError} of this or another copy of the class. */
export function isConfigError(error: unknown): error is ConfigError {
  return error instanceof Error && error.name === "ConfigError";
}

/** The reason a file could not be read, without the system call and path that Node puts around it. */
export function whyUnreadable(error: unknown): string {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  switch (code) {
    case "ENOENT":
      return "there is no such file";
    case "EACCES":
    case "EPERM":
      return "permission denied";
    case "EISDIR":
      return "it is a directory";
    default:
      return messageOf(error);
  }
}
