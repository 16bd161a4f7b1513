import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ignoreMissing } from '../io/errors.js';
import { privatePath } from '../tables/layout.js';
import { checkLanding, listSums, SUM } from './check-landing.js';
import { type Proof, readApplied } from './proof.js';

const MEMORY = 'memory.ndjson';

export const landingProof: Proof = {
  name: 'landing',
  claims:
    "The journals of all kept runs, the files that they list, and the lake's saved state are unchanged since they were written.",
  next: 'If the run is published, move its folder away, because only `pricelake lake rebuild` reads it. Otherwise, run `pricelake sync`, which continues the run or explains what to do.',
  async prove(context, report) {
    const kept = (await readdir(privatePath(context.lake, 'landing')).catch(ignoreMissing)) ?? [];
    const names = kept
      .filter((name) => /^\d{6,}-/.test(name))
      .sort((a, b) => Number.parseInt(a, 10) - Number.parseInt(b, 10));
    const published = readApplied(context.tables.get('runs')).run ?? 0n;
    let files = 0n;
    const memory = await readFile(privatePath(context.lake, MEMORY), 'utf8').catch(ignoreMissing);
    for (const what of checkMemory(memory ?? '', published > 0n)) report({ file: join('_pricelake', MEMORY), what });
    for (const [index, name] of names.entries()) {
      context.signal.throwIfAborted();
      const found = await checkLanding(privatePath(context.lake, 'landing', name));
      const fail = (file: string, what: string) => report({ file: join('_pricelake', 'landing', name, file), what });
      for (const { file, what } of found.faults) fail(file, what);
      files += BigInt(found.files) + 1n;
      // A published run's journal must record the run's end. Otherwise, the end of the journal is missing.
      const isPublished = BigInt(Number.parseInt(name, 10)) <= published || index < names.length - 1;
      if (found.endedAt === undefined && isPublished && found.faults.length === 0) {
        fail(
          'journal.ndjson',
          "doesn't record that the run has ended, but the run was published: the journal is cut off, or a sync is continuing the run",
        );
      }
    }
    return { count: files, of: 'files' };
  },
};

/** Checks the lines of the lake's saved state, each of which has its own checksum. Each published run leaves a line. */
function* checkMemory(text: string, isPublished: boolean): Generator<string> {
  if (text === '' && isPublished) yield 'is missing or empty';
  if (text === '') return;
  const lines = text.split('\n');
  if (lines.pop() !== '') yield 'its last line is cut short';
  for (const [index, whole] of lines.entries()) {
    const [tail, claimed] = SUM.exec(whole) ?? [];
    if (claimed === undefined || tail === undefined) yield `line ${index + 1} has no checksum`;
    else if (!listSums('', `${whole.slice(0, -tail.length)}}`).includes(claimed))
      yield `line ${index + 1} has changed since it was written: its checksum differs`;
  }
}
