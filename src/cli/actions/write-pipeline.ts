import { readFile, writeFile } from 'node:fs/promises';
import { PIPELINE_FILE } from '../../config/find-pipeline.js';
import { hasSystemCode, PricelakeError } from '../../io/errors.js';
import { packagePath } from '../../io/package-path.js';
import type { Arguments, CommandContext } from '../command.js';
import type { init } from '../commands/copy.js';
import type { Place } from './ask-source.js';

const TITLE = /^# .*\n/;
const LAKE_PATH = /^( {2}path: )\.\/lake$/m;

/** @throws PricelakeError `usage` if the file exists already, or the folder is missing */
export async function writePipeline(
  { file, lake }: Arguments<typeof init>,
  context: CommandContext,
  place: Place = { folder: '', env: process.env },
) {
  const { say, prompter } = context;
  const shipped = await readFile(packagePath('pipelines/prices.yaml'), 'utf8');
  const titled = shipped.replace(TITLE, `# A pipeline of pricelake: pricelake sync ${file}\n`);
  // JSON is YAML, so the path may have any characters.
  const text = lake === undefined ? titled : titled.replace(LAKE_PATH, (_line, key) => key + JSON.stringify(lake));
  await writeFile(file, text, { flag: 'wx' }).catch((cause: unknown) => {
    const reason = explain(cause);
    if (reason === undefined) throw cause;
    const hint = 'Name another file.';
    throw new PricelakeError('usage', `${file}: ${reason}; it was left as it is`, { hint }, { cause });
  });
  await say(`${file} is written, every option explained in it.\n`);
  const isSet =
    prompter !== undefined && (await import('./ask-source.js').then((m) => m.askSource(prompter, context, place)));
  await say(nextSteps(file, isSet));
  return { file, lake: lake ?? './lake' };
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
