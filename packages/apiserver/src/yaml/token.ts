/** The tokens of a YAML text. */
import type { Mark } from "./cursor.ts";

export type TokenType =
  | "stream end"
  | "version directive"
  | "tag directive"
  | "document start"
  | "document end"
  | "block sequence start"
  | "block mapping start"
  | "block end"
  | "flow sequence start"
  | "flow sequence end"
  | "flow mapping start"
  | "flow mapping end"
  | "block entry"
  | "flow entry"
  | "key"
  | "value"
  | "alias"
  | "anchor"
  | "tag"
  | "scalar";

export interface Token {
  readonly type: TokenType;
  readonly mark: Mark;
  /** The text of a scalar, the name of an alias or anchor, the handle of a tag, or the first part of a directive. */
  readonly value: string;
  /** The suffix of a tag, or the second part of a directive. */
  readonly more: string;
  /** Whether it is a scalar that is neither quoted nor a block. */
  readonly isPlain: boolean;
}

export function token(type: TokenType, mark: Mark, parts: Partial<Token> = {}): Token {
  return { type, mark, value: "", more: "", isPlain: false, ...parts };
}
