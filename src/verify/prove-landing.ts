import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { ignoreMissing, privatePath } from '../tables/layout.js';
import { checkLanding } from './check-landing.js';
import { type Proof, readApplied, type VerifyContext } from './proof.js';

const RUN = /^\d{6,}-/;

export const landingProof: Proof = {
  name: 'landing',
  claims:
    'What a rebuild relies on: the journal of every kept run is as it was written, and so is every byte that it names.',
  next: 'Of a run that is published, only `pricelake rebuild` would read these bytes: move its folder away. One that is not, `pricelake sync` continues, or says what to do.',
  async prove(context, report) {
    const names = await listRuns(context);
    const published = readApplied(context.tables.get('runs')).run ?? 0n;
    let files = 0n;
    for (const [index, name] of names.entries()) {
      context.signal.throwIfAborted();
      const found = await checkLanding(privatePath(context.lake, 'landing', name));
      const fail = (file: string, what: string) => report({ file: join('_pricelake', 'landing', name, file), what });
      for (const { file, what } of found.faults) fail(file, what);
      files += BigInt(found.files) + 1n;
      // Only the newest run may be under way. A cut between two lines shows in no other way.
      const isPublished = BigInt(Number.parseInt(name, 10)) <= published || index < names.length - 1;
      if (found.endedAt === undefined && isPublished && found.faults.length === 0) {
        fail(
          'journal.ndjson',
          'does not say that the run has ended, and it was published: its end is cut off, or a sync continues it',
        );
      }
    }
    return { count: files, of: 'files' };
  },
};

async function listRuns({ lake }: VerifyContext): Promise<string[]> {
  const names = (await readdir(privatePath(lake, 'landing')).catch(ignoreMissing)) ?? [];
  return names.filter((name) => RUN.test(name)).sort((a, b) => Number.parseInt(a, 10) - Number.parseInt(b, 10));
}
