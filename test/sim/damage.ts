/** Damages a file of a lake behind its back: one flipped bit, a cut, zeros, or the file is gone. */
import { readdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Seeded } from '../seeded.js';

/** Kinds of files, and the names that they have in a lake. */
const KINDS = {
  'data file': /^\w+\/[^/]+\.parquet$/,
  'log entry': /_delta_log\/\d+\.json$/,
  checkpoint: /_delta_log\/\d+\.checkpoint\.parquet$/,
  'last checkpoint': /_delta_log\/_last_checkpoint$/,
  'lake.json': /^lake\.json$/,
  'catalog.sql': /^catalog\.sql$/,
  'ATTRIBUTION.md': /^ATTRIBUTION\.md$/,
  'format.json': /^_pricelake\/format\.json$/,
  memory: /^_pricelake\/memory\.ndjson$/,
  journal: /^_pricelake\/landing\/[^/]+\/journal\.ndjson$/,
  'landed bytes': /^_pricelake\/landing\/[^/]+\/.+$/,
} as const;
export type FileKind = keyof typeof KINDS;

const FAULTS = ['flip', 'flip', 'flip', 'cut', 'zeros', 'gone'] as const;
export type Fault = (typeof FAULTS)[number];

export interface Damage {
  kind: FileKind;
  fault: Fault;
  /** Relative to the lake. */
  file: string;
  /** What was done, and where, for people. */
  what: string;
}

/** Each kind of file is equally likely, and of it each file. Files that no kind names are left alone. */
export function damageLake(lakePath: string, random: Seeded): Damage {
  const files = new Map<FileKind, string[]>();
  for (const file of (readdirSync(lakePath, { recursive: true }) as string[]).sort()) {
    if (!statSync(path.join(lakePath, file)).isFile()) continue;
    const kind = (Object.keys(KINDS) as FileKind[]).find((one) => KINDS[one].test(file));
    if (kind !== undefined) files.set(kind, [...(files.get(kind) ?? []), file]);
  }
  const kind = random.pick([...files.keys()]);
  const file = random.pick(files.get(kind) as string[]);
  const fault = random.pick(FAULTS);
  return { kind, fault, file, what: `${fault} of ${file}${damageFile(path.join(lakePath, file), fault, random)}` };
}

function damageFile(file: string, fault: Fault, random: Seeded): string {
  const bytes = readFileSync(file);
  const at = random.integer(bytes.length);
  if (fault === 'gone') rmSync(file);
  else if (fault === 'cut') truncateSync(file, at);
  else if (fault === 'zeros') writeFileSync(file, Buffer.alloc(bytes.length));
  else {
    bytes[at] = (bytes[at] ?? 0) ^ (1 << random.integer(8));
    writeFileSync(file, bytes);
  }
  return fault === 'flip' || fault === 'cut' ? ` at byte ${at} of ${bytes.length}` : '';
}
