/**
 * What a server may make this process hold or do. Each number is above what a healthy cluster of 5,000 nodes sends, and
 * low enough that a server, or whoever stands in its place, can neither fill the memory nor stop the event loop.
 */

const KIB = 1024;
const MIB = 1024 * KIB;

/**
 * Of the headers of one answer, compressed or not. kube-apiserver sends less than 1 KiB beside at most 4 KiB of warnings;
 * proxies add cookies, of which browsers take 4 KiB each. The server is told so in its settings.
 */
export const MOST_HEADER_BYTES: number = 64 * KIB;
/** Frames that a block of headers comes in. Whoever has to cut one fills frames of at least 16 KiB. */
export const MOST_HEADER_FRAMES = 8;
/**
 * Frames of HTTP/2 in a row that bring no answer nearer: pings, settings, windows, empty bodies, kinds that are unknown.
 * A server opens two windows for each of the 360 requests that may be under way, and pings twice a minute.
 */
export const MOST_IDLE_FRAMES = 10_000;
/** Answers to pings and settings that wait because the server does not read. Servers send one and wait for its answer. */
export const MOST_UNREAD_ACKS = 1_000;
/** Bytes in a row of answers that nobody wants any more. What is under way when a watch ends fits into its window, 16 MiB. */
export const MOST_UNWANTED_BYTES: number = 64 * MIB;

/**
 * One event of a watch. kube-apiserver takes no request above 3 MiB and etcd by default none above 1.5; an object of that
 * size has 18 MiB as JSON when each of its characters is escaped.
 */
export const MOST_EVENT_BYTES: number = 20 * MIB;
/** The answer to a short request: an object, or a document of OpenAPI, which takes 10 MiB where there are 1,000 kinds. */
export const MOST_ANSWER_BYTES: number = 32 * MIB;
/**
 * A page of a list, after decompression. Pages are asked for with as many items as have about 16 MiB; where they are
 * larger than those before, smaller pages are asked for.
 */
export const MOST_PAGE_BYTES: number = 32 * MIB;
/**
 * A collection that is held as a whole before anything is done with it: on one page, which is asked for when its pages took
 * longer than the server keeps them, or as a stream of whole objects. A larger stream is given up for pages.
 */
export const MOST_COLLECTION_BYTES: number = 64 * MIB;
/** Items of such a collection whose metadata alone is listed; 150,000 pods are the most that Kubernetes is made for. */
export const MOST_PAGE_ITEMS = 1_000_000;
/**
 * Values in one text of JSON: as objects they take 80 bytes each, whatever they hold. Real ones have one for each 10 bytes
 * or more, so that a page of 32 MiB has 3 million.
 */
export const MOST_VALUES = 4_000_000;
/** A refusal: `Status` objects quote at most the object that was sent. The rest is not read. */
export const MOST_REFUSAL_BYTES: number = MIB;

/** Pages of a list. etcd holds 8 GiB, which is less than 10 million objects. */
export const MOST_PAGES = 20_000;
/** Of the token that asks for the next page: the version and the last key, in base64. A URL takes no more than that. */
export const MOST_TOKEN_CHARACTERS: number = 8 * KIB;
/** Pages without items in a row: the server fills pages up also where a selector leaves most objects out. */
export const MOST_EMPTY_PAGES = 10;

/** A message of `exec` or `attach`, whatever frames it comes in: the kubelet passes on what it reads, 32 KiB at a time. */
export const MOST_MESSAGE_BYTES: number = 4 * MIB;
/** Frames of one message. Nobody cuts messages of 32 KiB into frames. */
export const MOST_MESSAGE_FRAMES = 1_000;
/** The head of an answer over HTTP/1.1, as Node limits it too, and generously. */
export const MOST_HEAD_BYTES: number = 64 * KIB;
/**
 * What has arrived of a container's log, or of a watch that an author reads, and nobody has read yet, beside what fits into the
 * window of its stream, 16 MiB. The server waits until it is read.
 */
export const MOST_UNREAD_BYTES: number = MIB;
/**
 * The output of a command that nobody has read. It ends the command: one stream may be read while nobody reads the other, so
 * that a server that waits could wait for ever.
 */
export const MOST_UNREAD_OUTPUT_BYTES: number = 64 * MIB;
/** A line of a container's log. The container runtime cuts at 16 KiB; what it cut is put together again. */
export const MOST_LOG_LINE_BYTES: number = 16 * MIB;
/** Different warnings that are logged in a minute, and remembered so that none is logged twice. A healthy server has a few. */
export const MOST_WARNINGS = 100;
/** Text of one warning of the server; kube-apiserver itself cuts at 256 characters. */
export const MOST_WARNING_CHARACTERS = 1_024;
