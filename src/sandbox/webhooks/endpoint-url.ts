import { PricelakeError } from '../../errors/errors.js';

const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/;

/**
 * An endpoint's URL: http or https, on this machine unless any host is allowed.
 *
 * @throws PricelakeError `usage`
 */
export function checkEndpointUrl(text: string, anyHost: boolean): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw new PricelakeError('usage', `webhook endpoint "${text}" is not an http or https URL`);
  }
  if (url.username !== '' || url.password !== '') {
    throw new PricelakeError('usage', 'the URL of a webhook endpoint takes no user name or password');
  }
  if (anyHost || LOOPBACK.test(url.hostname)) return url.href;
  const hint = 'Start the sandbox with --webhook-any-host to send made-up data to other machines.';
  throw new PricelakeError('usage', `webhook endpoint "${url.hostname}" is not on this machine`, { hint });
}
