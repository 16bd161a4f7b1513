import type { Agent, Dispatcher } from 'undici';
import connect from 'undici/lib/api/api-connect.js';
import PlainAgent from 'undici/lib/dispatcher/agent.js';
import AnyDispatcher from 'undici/lib/dispatcher/dispatcher.js';
import EnvHttpProxyAgent from 'undici/lib/dispatcher/env-http-proxy-agent.js';
import { LOOPBACK } from '../formats/receiver-url.js';
import { PricelakeError } from '../io/errors.js';

// The whole package does this as it loads. Tunnels need it.
Object.assign(AnyDispatcher.prototype, { connect });

type Environment = Readonly<Record<string, string | undefined>>;

/** Whoever connects through a proxy, by the variables that curl and Node read; small letters take precedence. */
interface Proxies {
  httpProxy: string | undefined;
  httpsProxy: string | undefined;
  noProxy: string;
}

/**
 * Connections to `origin`: direct, or by the proxy that HTTPS_PROXY or HTTP_PROXY names, except for hosts of NO_PROXY and
 * this machine. A proxy tunnels https, so it sees neither the path nor the key.
 * @throws PricelakeError `config` for a proxy that is not an http or https URL
 */
export function createDispatcher(origin: string, options: Agent.Options, env: Environment = process.env): Dispatcher {
  const proxies = readProxies(env);
  const isProxied = proxies.httpProxy !== undefined || proxies.httpsProxy !== undefined;
  if (!isProxied || LOOPBACK.test(new URL(origin).hostname)) return new PlainAgent(options);
  // undici takes the environment's variables where one is undefined.
  const { httpProxy = '', httpsProxy = '', noProxy } = proxies;
  const { connect: requestTls } = options;
  return new EnvHttpProxyAgent({
    ...options,
    ...{ httpProxy, httpsProxy, noProxy, proxyTunnel: false },
    ...(typeof requestTls === 'object' ? { requestTls, proxyTls: requestTls } : {}),
  });
}

function readProxies(env: Environment): Proxies {
  const read = (name: string) => readProxy(name, env[name.toLowerCase()] || env[name]);
  const httpProxy = read('HTTP_PROXY');
  return { httpProxy, httpsProxy: read('HTTPS_PROXY'), noProxy: env.no_proxy || env.NO_PROXY || '' };
}

/** `proxy.example:3128` means http, as it does for curl. The message does not repeat the text: it may hold a password. */
function readProxy(name: string, given: string | undefined): string | undefined {
  if (given === undefined || given === '') return undefined;
  const text = given.includes('://') ? given : `http://${given}`;
  if (URL.canParse(text) && ['http:', 'https:'].includes(new URL(text).protocol)) return text;
  throw new PricelakeError('config', `${name} is not the http or https URL of a proxy`, {
    hint: `Set ${name} to an address such as http://proxy.example:3128.`,
  });
}
