/** Scans anchors, tags and directives. */
import { type Cursor, isWord, type Mark, scanError } from "./cursor.ts";
import { token, type Token } from "./token.ts";

export function scanAnchor(cursor: Cursor): Token {
  const start = cursor.mark;
  const type = cursor.take() === "&" ? "anchor" : "alias";
  const value = takeWord(cursor);
  if (value === "" || !(cursor.isSpaceOrEnd() || /^[?:,\]}%@`]$/.test(cursor.at())))
    throw scanError(cursor, start, { why: "did not find expected alphabetic or numeric character" });
  return token(type, start, { value });
}

export function scanTag(cursor: Cursor): Token {
  const start = cursor.mark;
  const parts = cursor.at(1) === "<" ? verbatim(cursor, start) : shorthand(cursor, start);
  if (!cursor.isSpaceOrEnd()) throw scanError(cursor, start, { why: "did not find expected whitespace or line break" });
  return token("tag", start, parts);
}

function verbatim(cursor: Cursor, start: Mark): Partial<Token> {
  cursor.skip(2);
  const more = takeUri(cursor, start, { head: "" });
  if (cursor.at() !== ">") throw scanError(cursor, start, { why: "did not find the expected '>'" });
  cursor.skip();
  return { value: "", more };
}

function shorthand(cursor: Cursor, start: Mark): Partial<Token> {
  const handle = takeHandle(cursor, start);
  if (handle.length > 1 && handle.endsWith("!")) return { value: handle, more: takeUri(cursor, start, { head: "" }) };
  const more = takeUri(cursor, start, { head: handle });
  return more === "" ? { value: "", more: "!" } : { value: "!", more };
}

/** Scans `%YAML` or `%TAG` up to the end of its line. */
export function scanDirective(cursor: Cursor): Token {
  const start = cursor.mark;
  const fail = (why: string): Error => scanError(cursor, start, { why });
  cursor.skip();
  const name = takeWord(cursor);
  if (name === "") throw fail("could not find expected directive name");
  if (!cursor.isSpaceOrEnd()) throw fail("found unexpected non-alphabetical character");
  if (name !== "YAML" && name !== "TAG") throw fail("found unknown directive name");
  cursor.skipBlanks();
  const found = name === "YAML" ? version(cursor, start) : prefix(cursor, start);
  cursor.skipBlanks();
  cursor.skipComment();
  if (!cursor.isBreakOrEnd()) throw fail("did not find expected comment or line break");
  cursor.takeBreak();
  return found;
}

function version(cursor: Cursor, start: Mark): Token {
  const value = takeNumber(cursor, start);
  if (cursor.at() !== ".") throw scanError(cursor, start, { why: "did not find expected digit or '.' character" });
  cursor.skip();
  return token("version directive", start, { value, more: takeNumber(cursor, start) });
}

function takeNumber(cursor: Cursor, start: Mark): string {
  let digits = "";
  while (/^[0-9]$/.test(cursor.at())) {
    if (digits.length === 2) throw scanError(cursor, start, { why: "found extremely long version number" });
    digits += cursor.take();
  }
  if (digits === "") throw scanError(cursor, start, { why: "did not find expected version number" });
  return String(Number(digits));
}

function prefix(cursor: Cursor, start: Mark): Token {
  const value = takeHandle(cursor, start);
  if (value !== "!" && !value.endsWith("!")) throw scanError(cursor, start, { why: "did not find expected '!'" });
  if (!cursor.isBlank()) throw scanError(cursor, start, { why: "did not find expected whitespace" });
  cursor.skipBlanks();
  const more = takeUri(cursor, start, { head: "" });
  if (!cursor.isSpaceOrEnd()) throw scanError(cursor, start, { why: "did not find expected whitespace or line break" });
  return token("tag directive", start, { value, more });
}

function takeWord(cursor: Cursor): string {
  let word = "";
  while (isWord(cursor.at())) word += cursor.take();
  return word;
}

function takeHandle(cursor: Cursor, start: Mark): string {
  if (cursor.at() !== "!") throw scanError(cursor, start, { why: "did not find expected '!'" });
  const handle = cursor.take() + takeWord(cursor);
  return cursor.at() === "!" ? handle + cursor.take() : handle;
}

/** Scans a URI. @param head text that was taken for a handle and belongs to the tag */
function takeUri(cursor: Cursor, start: Mark, { head }: { readonly head: string }): string {
  let bytes = Buffer.from(head.slice(1));
  let isThere = head !== "";
  while (isWord(cursor.at()) || /^[;/?:@&=+$,.!~*'()[\]%]$/.test(cursor.at())) {
    bytes = Buffer.concat([bytes, cursor.at() === "%" ? takeOctet(cursor, start) : Buffer.from(cursor.take())]);
    isThere = true;
  }
  if (!isThere) throw scanError(cursor, start, { why: "did not find expected tag URI" });
  return bytes.toString();
}

function takeOctet(cursor: Cursor, start: Mark): Buffer {
  const digits = cursor.at(1) + cursor.at(2);
  if (!/^[0-9A-Fa-f]{2}$/.test(digits)) throw scanError(cursor, start, { why: "did not find URI escaped octet" });
  cursor.skip(3);
  return Buffer.from(digits, "hex");
}
