import { PricelakeError } from '../errors.js';
import type { ApiClient } from './client.js';

/**
 * The client of work that needs the service for nothing: a call that is asked for all the same is refused as
 * `lake_invalid`, because the landing lacks what `purpose` takes from it.
 */
export function createOfflineClient(purpose: string): ApiClient {
  const refuse = async (path: string): Promise<never> => {
    throw new PricelakeError('lake_invalid', `${purpose} makes no call, but the landing lacks the answer of ${path}`, {
      hint: 'Run `pricelake sync` without it: what is missing is fetched.',
    });
  };
  return {
    json: refuse,
    bytes: refuse,
    stream: refuse,
    setRate: () => {},
    setCallLimit: () => {},
    calls: () => 0,
    close: async () => {},
  };
}
