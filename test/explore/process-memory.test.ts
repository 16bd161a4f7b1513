import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, test } from 'vitest';
import { readProcessMemory } from '../../src/explore/process-memory.js';

test.each(['linux', 'darwin'] as const)(
  'counts the memory of a process as %s does, and zero for one that has ended',
  async (platform) => {
    const script = 'const held = Buffer.alloc(200_000_000, 1); console.log(held.length); setInterval(() => {}, 1000)';
    const child = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'pipe', 'inherit'] });
    await once(child.stdout, 'data');
    const bytes = await readProcessMemory(child.pid ?? 0, platform);
    expect([bytes > 200_000_000, bytes < 600_000_000]).toEqual([true, true]);
    child.kill('SIGKILL');
    await once(child, 'close');
    expect(await readProcessMemory(child.pid ?? 0, platform)).toBe(0);
  },
);
