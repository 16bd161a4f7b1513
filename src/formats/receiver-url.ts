import { LOOPBACK } from './find-proxy.js';

/**
 * Explains why messages may not be sent to an address; undefined for https, and for http to this machine. Never quotes
 * the address, because whoever knows it can post there.
 */
export function findReceiverFault(text: string): string | undefined {
  if (!URL.canParse(text)) return 'must be an address such as https://hooks.example/…';
  const { protocol, hostname, username, password } = new URL(text);
  const isSafe = protocol === 'https:' || (protocol === 'http:' && LOOPBACK.test(hostname));
  if (!isSafe) return 'must begin with https://, except for an address on this machine';
  return username + password === '' ? undefined : 'must be an address without a user and a password';
}
