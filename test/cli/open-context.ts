import { Writable } from 'node:stream';
import type { CommandContext, CommandReport } from '../../src/cli/command.js';
import type { Output } from '../../src/cli/output/output.js';
import { PLAIN } from '../../src/cli/style.js';
import { createCliIo } from '../../src/cli/terminal-io.js';

/** The context of a command's action, which records its output. */
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

type Action<R> = (request: R, context: CommandContext) => Promise<CommandReport | undefined>;

/** Runs an action, and returns its report and its output. */
export async function act<R>(action: Action<R>, request: NoInfer<R>, context = openContext()) {
  const report = await action(request, context);
  const { text, chunks } = context.output;
  return { report, text, bytes: Buffer.concat(chunks), stderr: context.stderr.text };
}

/** Runs an action with `--json` whose rows go into the line, and returns what that says. */
export async function actJson<R>(action: Action<R>, request: NoInfer<R>, context = openContext(true)) {
  const { text } = await act(action, request, context);
  return JSON.parse(text) as { rows: Record<string, unknown>[]; [member: string]: unknown };
}

/** Records the output; after `most` writes it behaves like a closed reader. */
export class MemoryOutput implements Output {
  readonly chunks: Buffer[] = [];
  readonly columns: number | undefined;
  readonly #most: number;

  constructor(columns?: number, most = Number.POSITIVE_INFINITY) {
    this.columns = columns;
    this.#most = most;
  }

  async write(chunk: string | Uint8Array): Promise<boolean> {
    if (this.chunks.length >= this.#most) return false;
    this.chunks.push(Buffer.from(chunk));
    return true;
  }

  get text(): string {
    return Buffer.concat(this.chunks).toString();
  }
}

/** stderr in memory; a terminal when `isTTY`. */
export class MemoryStream extends Writable {
  text = '';
  readonly isTTY: boolean;

  constructor(isTTY = false) {
    super();
    this.isTTY = isTTY;
  }

  override _write(chunk: Buffer | string, _encoding: string, done: () => void): void {
    this.text += chunk.toString();
    done();
  }
}
