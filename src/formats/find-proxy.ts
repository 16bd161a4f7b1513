import { PricelakeError } from '../io/errors.js';

/** Matches the host names of this machine, in the form in which a `URL` contains them. */
export const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/;

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Finds the proxy for a URL in the environment variables that curl and Node use. Lowercase names take precedence.
 * HTTP_PROXY also applies to HTTPS if HTTPS_PROXY isn't set. Returns undefined if no proxy is set, for hosts in
 * NO_PROXY, and for this machine.
 * @throws PricelakeError `config` if the proxy isn't an http or https URL
 */
export function findProxy(url: string, env: Environment = process.env): URL | undefined {
  const { protocol, hostname, port } = new URL(url);
  if (LOOPBACK.test(hostname)) return undefined;
  const proxy = (protocol === 'https:' ? readProxy('HTTPS_PROXY', env) : undefined) ?? readProxy('HTTP_PROXY', env);
  if (proxy === undefined) return undefined;
  const direct = env.no_proxy || env.NO_PROXY || '';
  const isDirect = direct.split(/[,\s]+/).some((entry) => isNamed(entry, hostname, port || defaultPort(protocol)));
  return isDirect ? undefined : proxy;
}

/** True if the environment sets a proxy for any host. */
export function hasProxy(env: Environment = process.env): boolean {
  return ['HTTPS_PROXY', 'HTTP_PROXY'].some((name) => readProxy(name, env) !== undefined);
}

const defaultPort = (protocol: string): string => (protocol === 'https:' ? '443' : '80');

/** True if the entry of NO_PROXY is `*`, the host or a parent domain. If the entry has a port, the port must match. */
function isNamed(entry: string, hostname: string, port: string): boolean {
  if (entry === '*') return true;
  const [, name = '', only] = /^(?:\*?\.)?(.*?)(?::(\d+))?$/.exec(entry.toLowerCase()) ?? [];
  if (name === '' || (only !== undefined && only !== port)) return false;
  return hostname === name || hostname.endsWith(`.${name}`);
}

/**
 * Reads an environment variable for a proxy. An address without a scheme means http, as in curl. Errors don't quote the
 * value, because it may contain a password.
 */
function readProxy(name: string, env: Environment): URL | undefined {
  const given = env[name.toLowerCase()] || env[name];
  if (given === undefined || given === '') return undefined;
  const text = given.includes('://') ? given : `http://${given}`;
  if (URL.canParse(text) && ['http:', 'https:'].includes(new URL(text).protocol)) return new URL(text);
  throw new PricelakeError('config', `${name} is not an http or https URL`, {
    hint: `Set ${name} to an address such as http://proxy.example:3128.`,
  });
}
