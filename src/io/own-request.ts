export type ReadHeader = (name: string) => string | undefined;

/** Host names that always refer to this machine. */
export const LOOPBACK_NAMES: readonly string[] = ['127.0.0.1', 'localhost', '[::1]'];

/**
 * True if the `Host` header names this machine, on any port. Any other name may belong to a malicious site whose DNS
 * entry points to this machine.
 */
export function isLoopbackHost(host: string | undefined): boolean {
  return LOOPBACK_NAMES.includes(host?.toLowerCase().replace(/:\d+$/u, '') ?? '');
}

/**
 * False if the browser's headers show that a page of another origin sent the request. This includes pages on other
 * ports of this machine, which receive this server's cookies. Accepts links on other pages, because opening a page
 * changes nothing. Accepts requests from programs other than browsers, because they don't send these headers.
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

/** Returns the host of an `Origin` header, or undefined if the browser hides the origin by sending `null`. */
function readHost(origin: string): string | undefined {
  return URL.canParse(origin) ? new URL(origin).host : undefined;
}
