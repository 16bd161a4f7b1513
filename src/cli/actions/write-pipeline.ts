import { readFile, writeFile } from 'node:fs/promises';
import { describeProposals, proposeAttributes, writeAttributes } from '../../analyze/attribute-proposals.js';
import { PIPELINE_FILE } from '../../config/find-pipeline.js';
import { hasSystemCode, PricelakeError } from '../../io/errors.js';
import { packagePath } from '../../io/package-path.js';
import type { TableName } from '../../tables/table.js';
import type { Arguments, CommandContext } from '../command.js';
import type { init } from '../commands/copy.js';
import { toPlainLine } from '../plain-text.js';
import { readLake } from '../read-lake.js';
import type { Place } from './ask-source.js';

const TITLE = /^# .*\n/;
const LAKE_PATH = /^( {2}path: )\.\/lake$/m;
const ATTRIBUTES = /^( {2}attributes: \{ )/m;

/** @throws PricelakeError `usage` if the file exists already, or the folder is missing */
export async function writePipeline(
  { file, lake }: Arguments<typeof init>,
  context: CommandContext,
  place: Place = { folder: '', env: process.env },
) {
  const { say, prompter } = context;
  const proposals = lake === undefined ? [] : await proposeForLake(lake, context);
  const shipped = await readFile(packagePath('pipelines/prices.yaml'), 'utf8');
  const titled = shipped.replace(TITLE, `# A pipeline of pricelake: pricelake sync ${file}\n`);
  // JSON is YAML, so the path may have any characters.
  const placed = lake === undefined ? titled : titled.replace(LAKE_PATH, (_line, key) => key + JSON.stringify(lake));
  const members = proposals.length === 0 ? '' : `${writeAttributes(proposals)}, `;
  const text = placed.replace(ATTRIBUTES, (_line, begin) => begin + members);
  await writeFile(file, text, { flag: 'wx' }).catch((cause: unknown) => {
    const reason = explain(cause);
    if (reason === undefined) throw cause;
    const hint = 'Name another file.';
    throw new PricelakeError('usage', `${file}: ${reason}; it was left as it is`, { hint }, { cause });
  });
  await say(`${file} is written, every option explained in it.\n`);
  if (proposals.length > 0) {
    await say(
      `Attributes of the lake are mapped in it: ${toPlainLine(describeProposals(proposals))}. Look whether they mean so.\n`,
    );
  }
  const isSet =
    prompter !== undefined && (await import('./ask-source.js').then((m) => m.askSource(prompter, context, place)));
  await say(nextSteps(file, isSet));
  return { file, lake: lake ?? './lake' };
}

/** A lake that is there has attributes by which a mapping can be proposed. */
async function proposeForLake(path: string, { signal }: CommandContext) {
  const tables = (): TableName[] => ['items', 'offer_rules'];
  try {
    return await readLake({ path, signal, tables }, ({ db }) => proposeAttributes(db, { isAnew: true }));
  } catch (error) {
    if (error instanceof PricelakeError && error.code === 'lake_invalid') return [];
    throw error;
  }
}

function explain(cause: unknown): string | undefined {
  if (hasSystemCode(cause, 'EEXIST', 'EISDIR')) return 'the file exists already';
  if (hasSystemCode(cause, 'ENOENT', 'ENOTDIR')) return 'its folder does not exist';
  return hasSystemCode(cause, 'EACCES', 'EROFS') ? 'it may not be written' : undefined;
}

function nextSteps(file: string, isSet: boolean): string {
  // Commands find a file of this name by themselves.
  const named = file === PIPELINE_FILE ? '' : ` ${file}`;
  const variables = isSet
    ? ''
    : '  export PRICELAKE_BASE_URL=https://… PRICELAKE_API_KEY=…   # or what `pricelake sandbox` prints; .env is read as well\n';
  return `Next:
${variables}  pricelake plan${named}      what the first run would take
  pricelake sync${named}
`;
}
