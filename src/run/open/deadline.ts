import { createClient } from '../../api/client.js';
import type { Io } from '../../io/io.js';

/** A time after which a run begins no further work. */
export interface Deadline {
  /** False while there is time left. */
  hasPassed(): boolean;
  /** Throws `deadline` if the time has passed. Called at points where stopping loses nothing. */
  check(): void;
  /** Returns an Io whose `sleep` throws `deadline` at once for a wait beyond the deadline. */
  limitIo(io: Io): Io;
  /** Creates a client that begins no call after the deadline. Responses to running calls are still used. */
  connect: typeof createClient;
}

/** A deadline that never passes. */
export const NO_DEADLINE: Deadline = {
  hasPassed: () => false,
  check: () => {},
  limitIo: (io) => io,
  connect: createClient,
};
