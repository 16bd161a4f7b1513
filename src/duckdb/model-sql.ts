import { readFileSync } from 'node:fs';
import { packagePath } from '../io/package-path.js';
import type { Database } from './connection.js';

const texts = new Map<string, string>();

/** SQL text of `pipelines/models/<name>.sql`, without a closing semicolon. */
export function readModel(name: string): string {
  let text = texts.get(name);
  if (text === undefined) {
    text = readFileSync(packagePath(`pipelines/models/${name}.sql`), 'utf8')
      .trim()
      .replace(/;$/, '');
    texts.set(name, text);
  }
  return text;
}

/** Makes the macros that the models use. */
export async function createMacros(db: Database): Promise<void> {
  await db.run(readModel('macros'));
}
