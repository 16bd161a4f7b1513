import { PricelakeError } from '../io/errors.js';
import type { ApiClient } from './client.js';

/** Creates a client for commands that must not call the service. Each request throws PricelakeError `offline`. */
export function createOfflineClient(purpose: string): ApiClient {
  const refuse = async (path: string): Promise<never> => {
    throw new PricelakeError(
      'offline',
      `${purpose} doesn't call the service, but the run's downloads contain no response from ${path}`,
      { hint: 'Run `pricelake sync` without other options to fetch the missing response.' },
    );
  };
  return {
    json: refuse,
    bytes: refuse,
    stream: refuse,
    setRate: () => {},
    setCallLimit: () => {},
    calls: () => 0,
    refusedCalls: () => 0,
    serviceTime: () => undefined,
    close: async () => {},
  };
}
