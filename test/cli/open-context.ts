import type { CommandContext } from '../../src/cli/run-command.js';
import { PLAIN } from '../../src/cli/style.js';
import { createCliIo } from '../../src/cli/terminal-io.js';
import { MemoryOutput } from './memory-output.js';
import { MemoryStream } from './memory-stream.js';

/** What a command's action works with; what it writes is kept. */
export function openContext(json = false) {
  const output = new MemoryOutput();
  const stderr = new MemoryStream();
  const io = createCliIo({ stream: stderr, env: {} });
  const { signal } = new AbortController();
  const say = async (text: string) => {
    if (!json) await output.write(text);
  };
  return { output, stderr, io, json, signal, style: PLAIN, say } satisfies CommandContext & { stderr: MemoryStream };
}
