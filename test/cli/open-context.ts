import type { CommandContext } from '../../src/cli/run-command.js';
import { createCliIo } from '../../src/cli/terminal-io.js';
import { MemoryOutput } from './memory-output.js';
import { MemoryStream } from './memory-stream.js';

/** What a command's action works with; what it writes is kept. */
export function openContext(json = false) {
  const output = new MemoryOutput();
  const stderr = new MemoryStream();
  const io = createCliIo({ stream: stderr, env: {} });
  const { signal } = new AbortController();
  return { output, stderr, io, json, signal } satisfies CommandContext & { stderr: MemoryStream };
}
