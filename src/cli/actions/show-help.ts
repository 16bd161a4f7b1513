import { readdir, readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { PricelakeError } from '../../io/errors.js';
import { packagePath } from '../../io/package-path.js';
import { suggestName } from '../../io/suggest-name.js';
import type { Arguments, CommandContext } from '../command.js';
import { ALL_TOPICS, type help } from '../commands/shell.js';
import { layOutTable } from '../output/table-layout.js';

/**
 * The folders of the help pages. If two pages have the same name, the topic of the second page starts with its folder.
 */
const FOLDERS = ['', 'engineer', 'analyst', 'loader', 'concepts', 'reference'];

interface Topic {
  /** The name that the user types, for example `cost` or `reference/checks`. */
  name: string;
  file: string;
}

/** Shows a help page or the list of topics. @throws PricelakeError `usage` for an unknown topic */
export async function showHelp({ topic }: Arguments<typeof help>, { output, json }: CommandContext) {
  const topics = await listTopics();
  if (topic === undefined || topic === ALL_TOPICS) {
    const rows = await Promise.all(topics.map(async (one) => [one.name, await readTitle(one)]));
    const usage = 'pricelake help TOPIC, or pricelake COMMAND --help\n\n';
    if (!json) await output.write(usage + layOutTable(['topic', 'title'], rows, output.columns));
    return { topics: topics.map(({ name }) => name) };
  }
  const found = topics.find(({ name, file }) => name === topic || file === `${topic}.md`);
  if (found === undefined) {
    const names = topics.map((one) => one.name);
    const near = suggestName(topic, names);
    const hint = near === undefined ? '`pricelake help` lists the topics.' : `Did you mean \`pricelake help ${near}\`?`;
    throw new PricelakeError('usage', `unknown topic ${topic}`, { hint });
  }
  const text = await readFile(packagePath(join('docs', found.file)), 'utf8');
  if (!json) await output.write(text);
  return { topic: found.name, text };
}

async function listTopics(): Promise<Topic[]> {
  const topics: Topic[] = [];
  for (const folder of FOLDERS) {
    for (const name of (await readdir(packagePath(join('docs', folder)))).sort()) {
      if (!name.endsWith('.md') || name === 'README.md') continue;
      const file = join(folder, name);
      const short = basename(name, '.md');
      const isTaken = topics.some((topic) => topic.name === short);
      topics.push({ name: isTaken ? file.replace(/\.md$/u, '') : short, file });
    }
  }
  return topics;
}

async function readTitle({ file }: Topic): Promise<string> {
  const [title = ''] = (await readFile(packagePath(join('docs', file)), 'utf8')).split('\n', 1);
  return title.replace(/^# /u, '');
}
