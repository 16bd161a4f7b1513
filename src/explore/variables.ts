import { readAnalysis } from '../sql/model.js';

/** A variable of an analysis, as its header describes it. */
export interface Variable {
  name: string;
  /** Meaning, form and default in words; empty if the header says no more. */
  about: string;
}

/** The comment at the beginning of a query, without the variables. */
export function readAbout(sql: string): string {
  const lines = /^(?:--.*\n)*/u.exec(sql)?.[0] ?? '';
  const text = lines.replaceAll(/^-- ?/gmu, '').replaceAll(/\s+/gu, ' ').trim();
  return text.split(/\b(?:Optional variables|Variables?):/u, 1)[0]?.trim() ?? '';
}

/** Variables that an analysis reads, in the order of its header; those that the header does not name come last. */
export function readVariables(analysis: string): Variable[] {
  const sql = readAnalysis(analysis);
  // A view hides what it reads.
  const read = /\bprice_spells\b/u.test(sql) ? sql + readAnalysis('price_spells') : sql;
  const used = new Set([...read.matchAll(/getvariable\('(\w+)'\)/gu)].map(([, name]) => name as string));
  const header = (/^(?:--.*\n)*/u.exec(sql)?.[0] ?? '').replaceAll(/^-- ?/gmu, '').replaceAll(/\s+/gu, ' ');
  const told = header
    .split(/\b(?:Optional variables|Variables?):/u)
    .slice(1)
    .flatMap((part) => splitOutside(part))
    .flatMap((entry) => {
      const [, names = '', about = ''] = /^((?:\w+)(?:, \w+)*)\s*(.*)$/su.exec(entry.trim()) ?? [];
      return names.split(', ').map((name) => ({ name, about: about.replace(/^\((.*)\)\.?$/su, '$1') }));
    })
    .filter(({ name }) => used.has(name));
  const known = new Set(told.map(({ name }) => name));
  const untold = [...used].filter((name) => !known.has(name)).map((name) => ({ name, about: '' }));
  return [...new Map([...told, ...untold].map((one) => [one.name, one])).values()];
}

/** Parts between each `·` that is not in parentheses. */
function splitOutside(text: string): string[] {
  const parts = [''];
  let depth = 0;
  for (const character of text) {
    if (character === '(') depth += 1;
    if (character === ')') depth -= 1;
    if (depth === 0 && character === '·') parts.push('');
    else parts[parts.length - 1] += character;
  }
  return parts;
}
