export type ReadHeader = (name: string) => string | undefined;

/** Names of this machine that no other machine can take over. */
export const LOOPBACK_NAMES: readonly string[] = ['127.0.0.1', 'localhost', '[::1]'];

/**
 * True for a `Host` that names this machine, on any port. Any other name comes from a page of a site that resolves to
 * this machine.
 */
export function isLoopbackHost(host: string | undefined): boolean {
  return LOOPBACK_NAMES.includes(host?.toLowerCase().replace(/:\d+$/u, '') ?? '');
}

/**
 * False if a browser says that a page of another origin sent the request: a page on another port of this machine
 * receives this one's cookies. Such a page may still link here, because opening a page changes nothing. Programs send
 * none of these headers.
 */
export function isOwnRequest(method: string, header: ReadHeader): boolean {
  const site = header('sec-fetch-site') ?? 'same-origin';
  if (method === 'GET' || method === 'HEAD') {
    const isLink = header('sec-fetch-mode') === 'navigate' && header('sec-fetch-dest') === 'document';
    return site === 'same-origin' || site === 'none' || isLink;
  }
  const origin = header('origin');
  return site === 'same-origin' && (origin === undefined || readHost(origin) === header('host')?.toLowerCase());
}

/** The host of an `Origin`; undefined for `null`, which browsers send for pages that hide their origin. */
function readHost(origin: string): string | undefined {
  return URL.canParse(origin) ? new URL(origin).host : undefined;
}
