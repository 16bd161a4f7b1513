import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { describeProposals, proposeAttributes, writeAttributes } from '../../analyze/attribute-proposals.js';
import { hasSystemCode, PricelakeError } from '../../io/errors.js';
import { packagePath } from '../../io/package-path.js';
import type { TableName } from '../../tables/table.js';
import type { Arguments, CommandContext } from '../command.js';
import type { init } from '../commands/copy.js';
import { PIPELINE_FILE } from '../find-pipeline.js';
import { toPlainLine } from '../plain-text.js';
import { readLake } from '../read-lake.js';
import type { Place } from './ask-source.js';

const TITLE = /^# .*\n/;
const LAKE_PATH = /^( {2}path: )\.\/lake$/m;
const ATTRIBUTES = /^( {2}attributes: \{ )/m;

/**
 * Writes a new pipeline file.
 * @throws PricelakeError `usage` if the file already exists, or if its folder doesn't exist
 */
export async function writePipeline(
  { file, lake }: Arguments<typeof init>,
  context: CommandContext,
  place: Place = { folder: '', env: process.env },
) {
  const { say, prompter } = context;
  // This is checked first, so that the user doesn't answer questions in vain.
  if (existsSync(file)) throw refuse(file, 'it already exists');
  if (!existsSync(dirname(file))) throw refuse(file, "its folder doesn't exist");
  const isSet =
    prompter !== undefined && (await import('./ask-source.js').then((m) => m.askSource(prompter, context, place)));
  const proposals = lake === undefined ? [] : await proposeForLake(lake, context);
  const shipped = await readFile(packagePath('pipelines/prices.yaml'), 'utf8');
  const titled = shipped.replace(TITLE, `# A pipeline of pricelake: pricelake sync ${file}\n`);
  // The path is written as a JSON string, which is valid YAML whatever characters it contains.
  const placed = lake === undefined ? titled : titled.replace(LAKE_PATH, (_line, key) => key + JSON.stringify(lake));
  const members = proposals.length === 0 ? '' : `${writeAttributes(proposals)}, `;
  const text = placed.replace(ATTRIBUTES, (_line, begin) => begin + members);
  await writeFile(file, text, { flag: 'wx' }).catch((cause: unknown) => {
    const reason = explain(cause);
    if (reason === undefined) throw cause;
    throw refuse(file, reason, cause);
  });
  await say(`Wrote ${file}. Comments explain every option.\n`);
  if (proposals.length > 0) {
    await say(
      `It maps these attributes of the lake: ${toPlainLine(describeProposals(proposals))}. Check that each fits its values.\n`,
    );
  }
  await say(nextSteps(file, isSet));
  return { file, lake: lake ?? './lake' };
}

/** Proposes attribute mappings that fit the data of an existing lake. Returns an empty array if there is no lake. */
async function proposeForLake(path: string, { signal }: CommandContext) {
  const tables = (): TableName[] => ['items', 'offer_rules'];
  try {
    return await readLake({ path, signal, tables }, ({ db }) => proposeAttributes(db, { isAnew: true }));
  } catch (error) {
    if (error instanceof PricelakeError && error.code === 'lake_invalid') return [];
    throw error;
  }
}

function refuse(file: string, reason: string, cause?: unknown): PricelakeError {
  return new PricelakeError(
    'usage',
    `can't write ${file}: ${reason}`,
    { hint: 'Choose another file name.' },
    { cause },
  );
}

function explain(cause: unknown): string | undefined {
  if (hasSystemCode(cause, 'EEXIST', 'EISDIR')) return 'it already exists';
  if (hasSystemCode(cause, 'ENOENT', 'ENOTDIR')) return "its folder doesn't exist";
  return hasSystemCode(cause, 'EACCES', 'EROFS') ? 'permission denied' : undefined;
}

function nextSteps(file: string, isSet: boolean): string {
  // If the file has the default name, commands find it without an argument.
  const named = file === PIPELINE_FILE ? '' : ` ${file}`;
  const variables = isSet
    ? ''
    : '  export PRICELAKE_BASE_URL=https://… PRICELAKE_API_KEY=…   # or the values that `pricelake sandbox` prints; pricelake also reads .env\n';
  return `Next:
${variables}  pricelake plan${named}      shows what the first run would cost
  pricelake sync${named}
`;
}
