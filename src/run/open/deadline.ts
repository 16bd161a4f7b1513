import { createClient } from '../../api/client.js';
import type { Io } from '../../io/io.js';

/** A time after which a run starts no further work. */
export interface Deadline {
  /** True once the deadline has passed. */
  hasPassed(): boolean;
  /** Throws `deadline` if the deadline has passed. A run calls this at points where stopping loses no work. */
  check(): void;
  /** Returns an Io whose `sleep` throws `deadline` at once if the wait would end after the deadline. */
  limitIo(io: Io): Io;
  /** Creates a client that makes no calls after the deadline, but still uses the responses of earlier calls. */
  connect: typeof createClient;
}

/** A deadline that never passes. */
export const NO_DEADLINE: Deadline = {
  hasPassed: () => false,
  check: () => {},
  limitIo: (io) => io,
  connect: createClient,
};
