import { PricelakeError } from '../../io/errors.js';

/** Runs `work` with a time limit of `ms` milliseconds. @throws PricelakeError `unavailable` if it takes longer */
export async function limitTime<T>(what: string, ms: number, work: () => Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new PricelakeError('unavailable', `${what} in ${ms / 1000} seconds`)), ms);
  });
  try {
    return await Promise.race([work(), late]);
  } finally {
    clearTimeout(timer);
  }
}
