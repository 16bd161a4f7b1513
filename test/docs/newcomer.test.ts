import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { packagePath } from '../../src/io/package-path.js';

/** A newcomer's questions in the first hour, the links to click from README.md, and words of the answers. */
const QUESTIONS: [question: string, clicks: string[], answer: string][] = [
  ['How do I set the key?', ['docs/engineer.md'], '`PRICELAKE_API_KEY`'],
  ['What does a run cost?', ['docs/engineer.md', 'docs/engineer/cost.md'], 'a run without changes'],
  ['How do I cap the cost?', ['docs/engineer.md'], 'overage: forbid'],
  ['Where are the files?', ['docs/engineer.md'], 'one folder of Parquet files for each table'],
  ['Which column is the trustworthy price?', ['docs/analyst.md'], 'begin with `trusted_`'],
  ['Why is a spread wrong?', ['docs/analyst.md'], '`pricelake spread --product 4006381333931`'],
  [
    'How do I schedule it in Airflow?',
    ['docs/engineer.md', 'docs/engineer/schedule.md'],
    'Copy `airflow_dag.py` into the DAGs folder',
  ],
  ['What if a run dies?', ['docs/engineer.md'], 'Run `pricelake sync` again'],
  [
    'How do I load BigQuery, Snowflake or ClickHouse?',
    ['docs/loader.md', 'docs/loader/warehouse.md'],
    'pricelake deliver load snowflake --full',
  ],
  ['How do I verify the copy?', ['docs/engineer.md', 'docs/engineer/verify.md'], 'pricelake verify --lake'],
  ['How do I rebuild it?', ['docs/engineer.md', 'docs/engineer/recover.md'], 'pricelake lake rebuild prices.yaml'],
  ['How do I add a check?', ['docs/contributor.md'], '`pipelines/checks/<name>.sql`'],
];

test.each(QUESTIONS)('%s is answered within two clicks of README.md', (_, clicks, answer) => {
  expect(clicks.length).toBeLessThanOrEqual(2);
  let page = 'README.md';
  for (const next of clicks) {
    expect(listLinked(page)).toContain(next);
    page = next;
  }
  expect(readFileSync(packagePath(page), 'utf8')).toContain(answer);
});

test('the tutorial says that the product and the run number on other pages are examples, absent from its lake', () => {
  const tutorial = readFileSync(packagePath('docs/tutorial.md'), 'utf8');
  const pages = readdirSync(packagePath('docs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md') && !name.startsWith('reference') && name !== 'tutorial.md')
    .map((name) => readFileSync(packagePath(`docs/${name}`), 'utf8'));
  const examples = pages.flatMap((page) => page.match(/--since \d+\b(?!-|d)|(?<=spread --product )\d+/gu) ?? []);
  expect(new Set(examples).size).toBe(2);
  const [, last = ''] = tutorial.split('## Next');
  for (const example of examples) expect(last).toContain(example);
});

function listLinked(page: string): string[] {
  const text = readFileSync(packagePath(page), 'utf8');
  return [...text.matchAll(/\]\((?!\w+:)([^)\s#]+)/g)].map(([, target = '']) =>
    path.posix.join(path.posix.dirname(page), target),
  );
}
