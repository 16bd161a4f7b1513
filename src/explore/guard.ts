import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { LOOPBACK_NAMES } from '../io/own-request.js';

/** Checks whether a request may be answered. */
export interface Guard {
  /** The secret in the address. Anyone who has it can read the lake. */
  readonly token: string;
  /** True if the text is the token. Compares in constant time. */
  knows(given: string | undefined): boolean;
  /** True if the `Host` header names this server. Pages of other sites that use DNS rebinding send another host. */
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
  // The host names of a server that listens on all addresses are unknown. It accepts any IP address but no unknown
  // name, because DNS rebinding needs a name.
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
