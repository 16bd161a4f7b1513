import { PricelakeError } from '../errors/errors.js';
import type { Cleaner } from './clean-text.js';

export const MAX_REDIRECTS = 3;

const REDIRECTS = new Set([301, 302, 303, 307, 308]);

export function isRedirect(status: number): boolean {
  return REDIRECTS.has(status);
}

/**
 * Path and query that a redirect leads to. The document knows no redirects; one within the same origin
 * is harmless and followed, any other would hand the key to somebody else.
 *
 * @throws PricelakeError `contract` for another scheme, host or port, and for no usable `Location`.
 */
export function resolveRedirect(
  where: string,
  origin: string,
  from: string,
  location: string | undefined,
  cleaner: Cleaner,
): string {
  const base = `${origin}${from}`;
  const target = location !== undefined && URL.canParse(location, base) ? new URL(location, base) : undefined;
  if (target === undefined) {
    throw new PricelakeError('contract', `${where}: a redirect names no address`, { hint: 'Check source.baseUrl.' });
  }
  if (target.origin !== origin) {
    const place = cleaner.text(`${target.protocol}//${target.host}`);
    throw new PricelakeError(
      'contract',
      `${where}: a redirect leads to ${place}, and the key is sent only to ${origin}`,
      {
        hint: `If ${place} is the service, set source.baseUrl to it.`,
      },
    );
  }
  return target.pathname + target.search;
}
