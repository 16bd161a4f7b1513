import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';

const [, map = ''] = /\nsrc\/\n([\s\S]*?)\ndocs\//.exec(readFileSync('ARCHITECTURE.md', 'utf8')) ?? [];
const folders = (text: string) => [...text.matchAll(/(\w+)\/ /g)].map(([, name]) => name as string);
/** The rooms, from the top of the map to the bottom. */
const rooms = map.split('\n').flatMap((line) => folders(line.slice(0, 22)));

interface Override {
  includes: string[];
  linter: { rules: { style: { noRestrictedImports: { options: { patterns: { group: string[] }[] } } } } };
}
const { overrides } = JSON.parse(readFileSync('biome.json', 'utf8')) as { overrides: Override[] };
const lists = new Map(
  overrides.map(({ includes, linter }) => {
    const { patterns } = linter.rules.style.noRestrictedImports.options;
    return [includes.join(), patterns.flatMap(({ group }) => group)];
  }),
);

test('the map contains each room of src once', () => {
  expect([...rooms].sort()).toEqual(readdirSync('src').sort());
});

describe.each(rooms.slice(1))('room %s', (room) => {
  const list = lists.get(`src/${room}/**`) ?? [];
  const allowed = list.map((pattern) => pattern.split('/')[1] as string).filter((name) => rooms.includes(name));

  test('may only import what biome.json lists', () => {
    expect(list[0]).toBe('../**');
    expect(list.slice(1).filter((pattern) => !pattern.startsWith('!'))).toEqual([]);
  });

  test('may only import rooms below it on the map', () => {
    const below = rooms.slice(rooms.indexOf(room) + 1);
    expect(allowed.filter((name) => !below.includes(name))).toEqual([]);
  });
});

test('only commands import wings, and a wing imports no other wing', () => {
  const files = readdirSync('src', { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'));
  const wingOf = (file: string) => /^wings\/(\w+)\//.exec(file)?.[1];
  const crossing = files.flatMap((file) => {
    const targets = [...readFileSync(`src/${file}`, 'utf8').matchAll(/(?:from |import\()'(\.[^']+)'/g)].map(([, to]) =>
      join(dirname(file), to as string),
    );
    const own = wingOf(file);
    return targets.filter((to) => wingOf(to) !== undefined && wingOf(to) !== own).map((to) => `${file} -> ${to}`);
  });
  expect(crossing.filter((one) => !one.startsWith('cli/') && !one.startsWith('wings/list.ts'))).toEqual([]);
  // Only the index.js of a wing is imported.
  expect(crossing.filter((one) => !one.endsWith('/index.js'))).toEqual([]);
});

test('commands load only the parts of undici that they need, because the whole package takes three times as long', () => {
  const files = readdirSync('src', { recursive: true, encoding: 'utf8' }).filter((name) => /(?<!\.d)\.ts$/.test(name));
  const loadsAll = /^import (?!type ).* from 'undici';$|import\('undici'\)/mu;
  expect(files.filter((file) => loadsAll.test(readFileSync(`src/${file}`, 'utf8')))).toEqual([]);
});

test('the rooms form eight layers', () => {
  const floors = new Map<string, number>();
  for (const room of [...rooms].reverse()) {
    const below = (lists.get(`src/${room}/**`) ?? []).map(
      (pattern) => floors.get(pattern.split('/')[1] as string) ?? 0,
    );
    floors.set(room, 1 + Math.max(0, ...below));
  }
  // cli, the eighth layer, may import every room and has no list.
  expect(Math.max(...floors.values())).toBe(7);
});
