import { createClient } from '../../api/client.js';
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
