/** Simulates actions of other processes between two file system calls. */
import fs from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { onTestFinished } from 'vitest';

/** Right before the next such call for a file of this name, something else happens. */
export function before(
  call: 'link' | 'readFile' | 'rm' | 'stat',
  name: RegExp,
  happen: (path: string) => Promise<void>,
): void {
  const real = fs[call] as (...args: unknown[]) => Promise<unknown>;
  const replace = (use: unknown) => {
    Object.assign(fs, { [call]: use });
    syncBuiltinESMExports();
  };
  onTestFinished(() => replace(real));
  replace(async (...args: unknown[]) => {
    const path = args.find((arg) => typeof arg === 'string' && name.test(arg));
    if (path !== undefined) {
      replace(real);
      await happen(String(path));
    }
    return real(...args);
  });
}
