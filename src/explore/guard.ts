import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { LOOPBACK_NAMES } from '../io/own-request.js';

/** Decides which requests are answered. */
export interface Guard {
  /** Whoever knows it can read the lake. */
  readonly token: string;
  /** True for the token. Compares in constant time. */
  knows(given: string | undefined): boolean;
  /** True for a `Host` header that names this server. Any other comes from a page of another site (DNS rebinding). */
  isOwnHost(header: string | undefined): boolean;
}

const TOKEN_BYTES = 24;

export function createGuard(host: string, port: number): Guard {
  const token = randomBytes(TOKEN_BYTES).toString('base64url');
  const expected = hash(token);
  const names =
    LOOPBACK_NAMES.includes(host) || host === '::1'
      ? LOOPBACK_NAMES
      : [...LOOPBACK_NAMES, host.includes(':') ? `[${host}]` : host];
  // A server that listens on all addresses can't know its own names. It accepts any address but no name, because
  // rebinding needs a name.
  const takesAddresses = host === '0.0.0.0' || host === '::';
  const own = new Set(names.map((name) => `${name}:${port}`));
  return {
    token,
    knows: (given) => given !== undefined && timingSafeEqual(hash(given), expected),
    isOwnHost: (header) => {
      if (header === undefined) return false;
      if (own.has(header.toLowerCase())) return true;
      return takesAddresses && (/^\d{1,3}(\.\d{1,3}){3}:\d+$/u.test(header) || /^\[[0-9a-f:]+\]:\d+$/iu.test(header));
    },
  };
}

const hash = (text: string) => createHash('sha256').update(text).digest();
