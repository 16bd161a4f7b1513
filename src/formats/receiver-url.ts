import { LOOPBACK } from './find-proxy.js';

/**
 * Returns the reason why pricelake doesn't send messages to a URL. Returns undefined for https, and for http to this
 * machine, without credentials. Never quotes the URL, because everyone who knows it can send messages there.
 */
export function findReceiverFault(text: string): string | undefined {
  if (!URL.canParse(text)) return 'must be a URL such as https://hooks.example/…';
  const { protocol, hostname, username, password } = new URL(text);
  const isSafe = protocol === 'https:' || (protocol === 'http:' && LOOPBACK.test(hostname));
  if (!isSafe) return 'must start with https://, except for a URL on this machine';
  return username + password === '' ? undefined : 'must be a URL without a user name and password';
}
