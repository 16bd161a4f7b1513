export type ReadHeader = (name: string) => string | undefined;

/** Host names that always stand for this machine. */
export const LOOPBACK_NAMES: readonly string[] = ['127.0.0.1', 'localhost', '[::1]'];

/**
 * True if the `Host` header names this machine, on any port. A request with another name may come from a page of a
 * malicious site whose DNS name resolves to this machine.
 */
export function isLoopbackHost(host: string | undefined): boolean {
  return LOOPBACK_NAMES.includes(host?.toLowerCase().replace(/:\d+$/u, '') ?? '');
}

/**
 * False if the browser's headers show that a page of another origin has sent the request. This includes pages on other
 * ports of this machine, which receive this server's cookies. Links on other pages are accepted, because opening a page
 * changes nothing. Requests of programs are accepted, because programs don't send these headers.
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

/** Returns the host of an `Origin` header; undefined for `null`, which browsers send to hide a page's origin. */
function readHost(origin: string): string | undefined {
  return URL.canParse(origin) ? new URL(origin).host : undefined;
}
