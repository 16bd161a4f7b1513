import { LOOPBACK } from '../formats/find-proxy.js';
import { PricelakeError } from '../io/errors.js';

/** The prefix of every API path (API §9). */
const API_ROOT = '/api/v1';

type QueryValue = string | number | bigint | boolean | Date;

/**
 * Query parameters. Undefined values are omitted. Times are Dates, because the service may not accept microseconds. A
 * Date is rounded down to milliseconds, so that no item is missed.
 */
export type Query = Record<string, QueryValue | undefined> & { changedSince?: Date | undefined };

/** The parsed `source.baseUrl`. */
export interface BaseUrl {
  /** The scheme, host and port. The key is never sent to another origin. */
  origin: string;
  /** The host and port as `host:port`, for messages. */
  host: string;
  /** The path before `/api/v1`, without a trailing slash; usually empty. */
  prefix: string;
  /** True if the key would be sent over a network without encryption. */
  cleartext: boolean;
}

/**
 * Parses `source.baseUrl`.
 * @throws PricelakeError `config` if it isn't an http(s) URL, or has credentials, a query or a fragment
 */
export function parseBaseUrl(text: string): BaseUrl {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !['http:', 'https:'].includes(url.protocol)) {
    throw refuse('is not an http or https URL', "Use the service's address, such as https://api.example.com.");
  }
  if (url.username !== '' || url.password !== '') {
    throw refuse('contains credentials', 'Remove them, and put the key in source.apiKey.');
  }
  if (url.search !== '' || url.hash !== '')
    throw refuse('has a query or a fragment', 'Remove the first ? or # and everything after it.');
  const prefix = url.pathname.replace(/\/+$/, '');
  if (prefix.endsWith(API_ROOT)) throw refuse(`ends with ${API_ROOT}`, `Remove ${API_ROOT}; pricelake adds it.`);
  const port = url.port || (url.protocol === 'https:' ? '443' : '80');
  const cleartext = url.protocol === 'http:' && !LOOPBACK.test(url.hostname);
  return { origin: url.origin, host: `${url.hostname}:${port}`, prefix, cleartext };
}

/** Returns an error that doesn't quote the URL, because a mistyped URL may contain a secret. */
function refuse(what: string, hint: string): PricelakeError {
  return new PricelakeError('config', `source.baseUrl ${what}`, { hint });
}

/**
 * Returns a path that starts with `/api/v1`. Adds this prefix if `path` lacks it. Percent-encodes the characters that a
 * path can't contain. Keeps characters that are already encoded.
 * @throws PricelakeError `usage` if the path has a `.` or `..` segment
 */
export function resolvePath(path: string): string {
  const full = path.startsWith(`${API_ROOT}/`) ? path : `${API_ROOT}${path.startsWith('/') ? '' : '/'}${path}`;
  if (full.split('/').some((part) => /^(?:\.|%2e){1,2}$/i.test(part))) {
    throw new PricelakeError('usage', `the path ${JSON.stringify(path)} contains a . or .. segment`);
  }
  return full.replace(/%(?![0-9a-f]{2})|[^\w\-.~!$&'()*+,;=:@/%]+/gi, encodeValue);
}

/** Builds the query string with its `?`. Returns an empty string if there are no values. */
export function buildQuery(query: Query): string {
  const pairs = Object.entries(query)
    .filter((pair): pair is [string, QueryValue] => pair[1] !== undefined)
    .map(([name, value]) => `${encodeValue(name)}=${encodeValue(value instanceof Date ? value.toISOString() : value)}`);
  return pairs.length === 0 ? '' : `?${pairs.join('&')}`;
}

/** Percent-encodes a value. Replaces a lone surrogate with U+FFFD, because encodeURIComponent would throw. */
function encodeValue(value: string | number | bigint | boolean): string {
  return encodeURIComponent(Buffer.from(String(value)).toString());
}
