import { type ApiClient, createClient } from '../../api/client.js';
import { PricelakeError } from '../../io/errors.js';
import type { Io } from '../../io/io.js';

/** A moment after which a run begins no further work. */
export interface Deadline {
  /** False while there is time left. */
  hasPassed(): boolean;
  /** Throws `deadline` if the moment has passed. Called at points where stopping loses nothing. */
  check(): void;
  /** An Io in which a wait beyond the deadline throws `deadline` at once. */
  limitIo(io: Io): Io;
  /** Creates a client that begins no call after the deadline. Answers of running calls are still taken. */
  connect: typeof createClient;
}

/** Never passes. */
export const NO_DEADLINE: Deadline = {
  hasPassed: () => false,
  check: () => {},
  limitIo: (io) => io,
  connect: createClient,
};

/** A deadline `ms` milliseconds from now; `text` is what the user typed. */
export function setDeadline(ms: number, text: string, io: Io): Deadline {
  const end = io.now().getTime() + ms;
  const refuse = (): never => {
    throw new PricelakeError('deadline', `the deadline of ${text} has passed; landed data is kept`, {
      hint: 'Run the same command again: it continues where this run stopped.',
    });
  };
  const hasPassed = () => io.now().getTime() >= end;
  const check = () => {
    if (hasPassed()) refuse();
  };
  /** A call begins only when everything before it is journaled, or will be. */
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
