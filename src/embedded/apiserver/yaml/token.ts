/** What the scanner makes of a YAML text. */
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
  /** Of a scalar its text, of an alias or anchor its name, of a tag its handle, of a directive its first part. */
  readonly value: string;
  /** Of a tag its suffix, of a directive its second part. */
  readonly more: string;
  /** Of a scalar: neither quoted nor a block. */
  readonly isPlain: boolean;
}

export function token(type: TokenType, mark: Mark, parts: Partial<Token> = {}): Token {
  return { type, mark, value: "", more: "", isPlain: false, ...parts };
}
