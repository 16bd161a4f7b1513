import { type ApiClient, createClient } from '../api/client.js';
import { PricelakeError } from '../io/errors.js';
import type { Io } from '../io/io.js';
import type { Deadline } from '../run/open/deadline.js';

/** Creates a deadline `ms` milliseconds from now. Messages quote `text`, which is the duration as the user wrote it. */
export function setDeadline(ms: number, text: string, io: Io): Deadline {
  const end = io.now().getTime() + ms;
  const refuse = (): never => {
    throw new PricelakeError('deadline', `the deadline of ${text} has passed; landed data is kept`, {
      hint: 'Run the same command again to continue where this run stopped.',
    });
  };
  const hasPassed = () => io.now().getTime() >= end;
  const check = () => {
    if (hasPassed()) refuse();
  };
  /**
   * Makes a function check the deadline before each call. A run that stops between two calls loses no finished work.
   */
  const first =
    <A extends unknown[], R>(call: (...args: A) => Promise<R>) =>
    async (...args: A): Promise<R> => {
      check();
      return call(...args);
    };
  return {
    hasPassed,
    check,
    limitIo: (world) => ({
      ...world,
      sleep: async (wait, signal) => (world.now().getTime() + wait > end ? refuse() : world.sleep(wait, signal)),
    }),
    connect: (options, world) => {
      const client = createClient(options, world);
      return {
        ...client,
        json: first(client.json) as ApiClient['json'],
        bytes: first(client.bytes),
        stream: first(client.stream),
      };
    },
  };
}
