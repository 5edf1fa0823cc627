/**
 * Limits on what a server can make this process store or do. Each is above what a healthy cluster of 5,000 nodes sends,
 * and low enough that neither a server nor an impostor can fill the memory or stop the event loop.
 */

const KIB = 1024;
const MIB = 1024 * KIB;

/**
 * The header fields of one response, compressed or not. kube-apiserver sends less than 1 KiB and at most 4 KiB of
 * warnings; proxies add cookies of up to 4 KiB each. Our settings announce the limit to the server.
 */
export const MOST_HEADER_BYTES: number = 64 * KIB;
/** Frames of one field block. A server that has to split one fills frames of at least 16 KiB. */
export const MOST_HEADER_FRAMES = 8;
/**
 * Consecutive HTTP/2 frames that bring no response nearer: pings, settings, window updates, empty bodies, unknown
 * types. A server sends two window updates for each of the 360 requests that may be in flight, and pings twice a
 * minute.
 */
export const MOST_IDLE_FRAMES = 10_000;
/**
 * Acknowledgements of PING and SETTINGS frames that the server does not read. Servers send one frame and wait for its
 * acknowledgement.
 */
export const MOST_UNREAD_ACKS = 1_000;
/** Consecutive bytes of cancelled responses. What is in flight when a watch ends fits into its window of 16 MiB. */
export const MOST_UNWANTED_BYTES: number = 64 * MIB;

/**
 * One watch event. kube-apiserver accepts no request above 3 MiB, and etcd by default none above 1.5 MiB; an object of
 * that size takes 18 MiB as JSON if each of its characters is escaped.
 */
export const MOST_EVENT_BYTES: number = 20 * MIB;
/** The response to a short request: an object, or an OpenAPI document, which takes 10 MiB with 1,000 kinds. */
export const MOST_ANSWER_BYTES: number = 32 * MIB;
/**
 * A page of a list, after decompression. Requested pages have as many items as take about 16 MiB; if their items turn
 * out to be larger than earlier ones, smaller pages are requested.
 */
export const MOST_PAGE_BYTES: number = 32 * MIB;
/**
 * A collection that is received as a whole before it is processed: as one page, which is requested when reading its
 * pages took longer than the server keeps them, or as a stream of whole objects. A larger stream is given up in favour
 * of pages.
 */
export const MOST_COLLECTION_BYTES: number = 64 * MIB;
/** Items of such a collection when only metadata is listed; Kubernetes supports at most 150,000 pods. */
export const MOST_PAGE_ITEMS = 1_000_000;
/**
 * Values in one JSON text: each takes at least 80 bytes when parsed. Real texts have at most one value for every 10
 * bytes, so a page of 32 MiB has about 3 million.
 */
export const MOST_VALUES = 4_000_000;
/** The body of a refusal: a `Status` quotes at most the object that was sent. The rest is not read. */
export const MOST_REFUSAL_BYTES: number = MIB;

/** Pages of a list. etcd holds 8 GiB, which is less than 10 million objects. */
export const MOST_PAGES = 20_000;
/** The continue token: the resource version and the last key, in base64. A URL could not hold a longer one. */
export const MOST_TOKEN_CHARACTERS: number = 8 * KIB;
/** Consecutive pages without items: the server fills pages even if a selector excludes most objects. */
export const MOST_EMPTY_PAGES = 10;

/** A message of `exec` or `attach` in all its frames: the kubelet passes on what it reads, 32 KiB at a time. */
export const MOST_MESSAGE_BYTES: number = 4 * MIB;
/** Frames of one message. No server splits messages of 32 KiB into many frames. */
export const MOST_MESSAGE_FRAMES = 1_000;
/** The header section of a response over HTTP/1.1, which Node limits too. */
export const MOST_HEAD_BYTES: number = 64 * KIB;
/**
 * Unread bytes of a container's log, or of a watch that an author reads, in addition to the 16 MiB that fit into the
 * window of the stream. The server waits until they are read.
 */
export const MOST_UNREAD_BYTES: number = MIB;
/**
 * Unread output of a command. More of it ends the command: the reader may read one stream and ignore the other, so the
 * server could otherwise wait for ever.
 */
export const MOST_UNREAD_OUTPUT_BYTES: number = 64 * MIB;
/** A line of a container's log. The container runtime splits lines at 16 KiB, and the kubelet joins them again. */
export const MOST_LOG_LINE_BYTES: number = 16 * MIB;
/**
 * Different warnings that are logged in a minute, and that are remembered so that none is logged twice. A healthy
 * server has a few.
 */
export const MOST_WARNINGS = 100;
/** The text of one warning; kube-apiserver itself truncates at 256 characters. */
export const MOST_WARNING_CHARACTERS = 1_024;
