import type { Agent, Dispatcher } from 'undici';
import connect from 'undici/lib/api/api-connect.js';
import request from 'undici/lib/api/api-request.js';
import PlainAgent from 'undici/lib/dispatcher/agent.js';
import AnyDispatcher from 'undici/lib/dispatcher/dispatcher.js';
import ProxyAgent from 'undici/lib/dispatcher/proxy-agent.js';
import { findProxy } from '../formats/find-proxy.js';

// Adds two methods, which undici itself adds only if the whole package is loaded. Proxies and webhooks need them.
Object.assign(AnyDispatcher.prototype, { connect, request });

/**
 * Creates a dispatcher for connections to `origin`, direct or through a proxy. HTTPS goes through a tunnel, so that the
 * proxy sees neither the path nor the key.
 * @throws PricelakeError `config` if the proxy isn't an http or https URL
 */
export function createDispatcher(origin: string, options: Agent.Options): Dispatcher {
  const proxy = findProxy(origin);
  if (proxy === undefined) return new PlainAgent(options);
  const { connect: requestTls } = options;
  return new ProxyAgent({
    ...options,
    ...{ uri: proxy.href, proxyTunnel: false },
    ...(typeof requestTls === 'object' ? { requestTls, proxyTls: requestTls } : {}),
  });
}
