/** The program that black-box tests drive. */
import { binary } from "../../scripts/build.ts";

/** `BINNACLE_PROGRAM` names another one than the executable of these sources, such as the program on Deno. */
export const program: string = process.env["BINNACLE_PROGRAM"] || binary;

/** What the program runs on. Black-box tests may ask, because what one of them cannot do is skipped there. */
export const isOnDeno: boolean = process.env["BINNACLE_PROGRAM"]?.endsWith("binnacle-deno") === true;
