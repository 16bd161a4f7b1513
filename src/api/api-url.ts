import { LOOPBACK } from '../formats/find-proxy.js';
import { PricelakeError } from '../io/errors.js';

/** The prefix of every path (section 9). */
const API_ROOT = '/api/v1';

type QueryValue = string | number | bigint | boolean | Date;

/**
 * Undefined values are left out. A time is a Date, which cuts it to milliseconds, because a service may parse no more.
 * The cut loses nothing: "after this time" then begins slightly earlier.
 */
export type Query = Record<string, QueryValue | undefined> & { changedSince?: Date | undefined };

/** `source.baseUrl`, parsed once. */
export interface BaseUrl {
  /** Scheme, host and port. The key is never sent to any other origin. */
  origin: string;
  /** `host:port`, for messages. */
  host: string;
  /** The path before `/api/v1`, without a closing slash; usually empty. */
  prefix: string;
  /** True if the key would be sent unencrypted over a network. */
  cleartext: boolean;
}

/**
 * Parses `source.baseUrl`.
 * @throws PricelakeError `config` unless it is an http(s) URL without credentials, query and fragment
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
    throw refuse('has a query or a fragment', 'Remove everything from ? or # on.');
  const prefix = url.pathname.replace(/\/+$/, '');
  if (prefix.endsWith(API_ROOT)) throw refuse(`ends with ${API_ROOT}`, `Remove ${API_ROOT}; pricelake adds it.`);
  const port = url.port || (url.protocol === 'https:' ? '443' : '80');
  const cleartext = url.protocol === 'http:' && !LOOPBACK.test(url.hostname);
  return { origin: url.origin, host: `${url.hostname}:${port}`, prefix, cleartext };
}

/** Makes an error that does not quote the text, because a mistyped address may contain a secret. */
function refuse(what: string, hint: string): PricelakeError {
  return new PricelakeError('config', `source.baseUrl ${what}`, { hint });
}

/**
 * Resolves a path as the API document writes it: `/items` and `/api/v1/items` are the same. Characters that a path
 * can't contain are percent-encoded; encoded ones stay as they are.
 *
 * @throws PricelakeError `usage` for a path that would leave the API (`..`).
 */
export function resolvePath(path: string): string {
  const full = path.startsWith(`${API_ROOT}/`) ? path : `${API_ROOT}${path.startsWith('/') ? '' : '/'}${path}`;
  if (full.split('/').some((part) => /^(?:\.|%2e){1,2}$/i.test(part))) {
    throw new PricelakeError('usage', `the path ${JSON.stringify(path)} has a segment that leads to another folder`);
  }
  return full.replace(/%(?![0-9a-f]{2})|[^\w\-.~!$&'()*+,;=:@/%]+/gi, encodeValue);
}

/** Writes the query with its `?`; empty without values. */
export function buildQuery(query: Query): string {
  const pairs = Object.entries(query)
    .filter((pair): pair is [string, QueryValue] => pair[1] !== undefined)
    .map(([name, value]) => `${encodeValue(name)}=${encodeValue(value instanceof Date ? value.toISOString() : value)}`);
  return pairs.length === 0 ? '' : `?${pairs.join('&')}`;
}

/** Encodes a value. Half of a surrogate pair becomes U+FFFD, because encodeURIComponent would throw. */
function encodeValue(value: string | number | bigint | boolean): string {
  return encodeURIComponent(Buffer.from(String(value)).toString());
}
