import { readFileSync } from 'node:fs';
import { transformSync } from 'esbuild';
import { expect, test } from 'vitest';
import { packagePath } from '../../src/io/package-path.js';
import { listSources } from './list-sources.js';

/** The texts that code may print. `…` stands for each expression in them, as in the headings of the FAQ. */
function listTexts(source: string): string[] {
  // Comments are removed, because their apostrophes would start string literals.
  const { code } = transformSync(source, { loader: 'ts', charset: 'utf8' });
  const literals = [...code.matchAll(/"((?:[^"\\\n]|\\.)*)"|`((?:[^`\\\n]|\\.)*)`/gu)];
  return literals.map(([, plain, template]) => plain ?? template?.replaceAll(/\$\{[^}]*\}/gu, '…') ?? '');
}

const countFixed = (text: string) => text.replaceAll('…', '').length;

/** The heading is the whole text, except for the place at the beginning of many messages. */
function isPrintedAs(text: string, heading: string): boolean {
  const message = text.replace(/^…: (?=.)/u, '');
  if (2 * countFixed(message) < countFixed(heading)) return false;
  const parts = message.split(/…+/u).map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/gu, '\\$&'));
  return new RegExp(`^${parts.join('.+')}$`, 'u').test(heading);
}

const headings = [...readFileSync(packagePath('docs/faq.md'), 'utf8').matchAll(/^### (.+)$/gm)].map(
  ([, heading]) => heading as string,
);
const texts = listSources()
  .filter((source) => !source.startsWith('#'))
  .flatMap(listTexts);

test('the FAQ has headings that are messages', () => expect(headings.length).toBeGreaterThan(10));

test.each(headings)('the FAQ explains "%s", which is a message in the code', (heading) => {
  expect(texts.filter((text) => isPrintedAs(text, heading))).not.toEqual([]);
});
