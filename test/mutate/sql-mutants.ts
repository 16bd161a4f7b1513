/** One edit of an SQL text: what stands at `offset` is replaced. */
export interface SqlMutant {
  offset: number;
  line: number;
  column: number;
  operator: string;
  original: string;
  replacement: string;
}

interface Token {
  text: string;
  /** In upper case. */
  word: string;
  offset: number;
  /** Of parentheses and brackets around it. */
  depth: number;
}

const TOKEN = /--[^\n]*|'(?:[^']|'')*'|"(?:[^"]|"")*"|\w+|<=|>=|<>|!=|=>|->>|->|:=|::|\|\||[^\s\w]/g;
const CLOSING: Record<string, string> = { '(': ')', '[': ']', '{': '}' };

function tokenize(sql: string): Token[] {
  const tokens: Token[] = [];
  let depth = 0;
  for (const { 0: text, index } of sql.matchAll(TOKEN)) {
    if (text.startsWith('--')) continue;
    if (Object.values(CLOSING).includes(text)) depth -= 1;
    tokens.push({ text, word: text.toUpperCase(), offset: index, depth });
    if (text in CLOSING) depth += 1;
  }
  return tokens;
}

/** Words, or signs, that stand for another at the same place. */
const SWAPS: Record<string, [operator: string, replacements: string[]]> = {
  '<': ['comparison', ['<=', '>=']],
  '<=': ['comparison', ['<', '>']],
  '>': ['comparison', ['>=', '<=']],
  '>=': ['comparison', ['>', '<']],
  '=': ['comparison', ['<>']],
  '<>': ['comparison', ['=']],
  '+': ['arithmetic', ['-']],
  '-': ['arithmetic', ['+']],
  OR: ['logic', ['AND']],
  AND: ['logic', ['OR']],
  TRUE: ['logic', ['false']],
  FALSE: ['logic', ['true']],
  MIN: ['aggregate', ['max']],
  MAX: ['aggregate', ['min']],
  LEAST: ['aggregate', ['greatest']],
  GREATEST: ['aggregate', ['least']],
  ARG_MIN: ['aggregate', ['arg_max']],
  ARG_MAX: ['aggregate', ['arg_min']],
  BOOL_OR: ['aggregate', ['bool_and']],
  BOOL_AND: ['aggregate', ['bool_or']],
  ASC: ['order', ['DESC']],
  DESC: ['order', ['ASC']],
  SEMI: ['join', ['ANTI']],
  ANTI: ['join', ['SEMI']],
  LEFT: ['join', ['INNER']],
};
const CALLS = new Set(['aggregate']);

/** Where a condition ends that WHERE, ON, HAVING or QUALIFY begins, at the same depth. */
const CLAUSES = new Set(
  'WHERE ON HAVING QUALIFY GROUP ORDER LIMIT UNION EXCEPT INTERSECT SEMI ANTI LEFT JOIN INNER CROSS ASOF WINDOW ;'.split(
    ' ',
  ),
);

/** All mutants of a query, in order of their place. Comments, texts and quoted names are left alone. */
export function findMutants(sql: string): SqlMutant[] {
  const tokens = tokenize(sql);
  const mutants = tokens.flatMap((_, at) => [
    ...swaps(tokens, at),
    ...nots(sql, tokens, at),
    ...coalesces(sql, tokens, at),
    ...nulls(tokens, at),
    ...conjuncts(sql, tokens, at),
  ]);
  return mutants
    .sort((a, b) => a.offset - b.offset)
    .map((mutant) => {
      const before = sql.slice(0, mutant.offset).split('\n');
      return { ...mutant, line: before.length, column: (before.at(-1)?.length ?? 0) + 1 };
    });
}

export function applyMutant(sql: string, mutant: SqlMutant): string {
  return sql.slice(0, mutant.offset) + mutant.replacement + sql.slice(mutant.offset + mutant.original.length);
}

type Edit = Omit<SqlMutant, 'line' | 'column'>;

function swaps(tokens: Token[], at: number): Edit[] {
  const token = tokens[at] as Token;
  const [operator, replacements] = Object.hasOwn(SWAPS, token.word) ? (SWAPS[token.word] ?? []) : [];
  if (operator === undefined || replacements === undefined) return [];
  const [before, after] = [tokens[at - 1], tokens[at + 1]];
  if (CALLS.has(operator) && after?.text !== '(') return [];
  if (operator === 'join' && token.word === 'LEFT' && after?.word !== 'JOIN') return [];
  if (
    operator === 'arithmetic' &&
    (before === undefined || /^[(,=<>]$|^(THEN|ELSE|WHEN|BETWEEN|AND)$/.test(before.word))
  )
    return [];
  if (token.word === 'AND' && isOfBetween(tokens, at)) return [];
  if (token.word === 'OR' && after?.word === 'REPLACE') return [];
  return replacements.map((replacement) => ({ offset: token.offset, operator, original: token.text, replacement }));
}

/** `x BETWEEN a AND b`: this AND joins no conditions. */
function isOfBetween(tokens: Token[], at: number): boolean {
  const depth = tokens[at]?.depth;
  for (let place = at - 1; place >= 0; place -= 1) {
    const token = tokens[place] as Token;
    if (token.depth < (depth as number)) return false;
    if (token.depth > (depth as number)) continue;
    if (token.word === 'BETWEEN') return true;
    if (['AND', 'OR', 'WHEN', 'WHERE', 'ON', 'THEN'].includes(token.word)) return false;
  }
  return false;
}

/** NOT is dropped; IS NULL and IS DISTINCT FROM are negated. */
function nots(sql: string, tokens: Token[], at: number): Edit[] {
  const token = tokens[at] as Token;
  if (token.word === 'NOT') {
    const end = tokens[at + 1]?.offset ?? sql.length;
    return [{ offset: token.offset, operator: 'negation', original: sql.slice(token.offset, end), replacement: '' }];
  }
  if (token.word !== 'IS' || tokens[at + 1]?.word === 'NOT') return [];
  return [{ offset: token.offset, operator: 'negation', original: token.text, replacement: `${token.text} NOT` }];
}

/** The first two values of coalesce change places, and the first stands alone. */
function coalesces(sql: string, tokens: Token[], at: number): Edit[] {
  const [token, open] = [tokens[at] as Token, tokens[at + 1]];
  if (token.word !== 'COALESCE' || open?.text !== '(') return [];
  const marks = tokens.slice(at + 2).filter(({ depth }) => depth <= open.depth + 1);
  const ends = [];
  for (const mark of marks) {
    if (mark.depth === open.depth + 1 && mark.text === ',') ends.push(mark.offset);
    if (mark.depth === open.depth && mark.text === ')') {
      ends.push(mark.offset);
      break;
    }
  }
  const [first, second, last] = [ends[0], ends[1], ends.at(-1)];
  if (first === undefined || second === undefined || last === undefined) return [];
  const [a, b] = [sql.slice(open.offset + 1, first), sql.slice(first + 1, second)];
  const edit = { offset: token.offset, operator: 'coalesce', original: sql.slice(token.offset, last + 1) };
  return [
    { ...edit, replacement: `coalesce(${b.trim()}, ${a.trim()}${sql.slice(second, last)})` },
    { ...edit, replacement: `(${a.trim()})` },
  ];
}

function nulls(tokens: Token[], at: number): Edit[] {
  const token = tokens[at] as Token;
  const other = { FIRST: 'LAST', LAST: 'FIRST' }[token.word];
  if (other === undefined || tokens[at - 1]?.word !== 'NULLS') return [];
  return [{ offset: token.offset, operator: 'order', original: token.text, replacement: other }];
}

/** Each part of a condition that AND joins is left out. */
function conjuncts(sql: string, tokens: Token[], at: number): Edit[] {
  const token = tokens[at] as Token;
  if (!['WHERE', 'ON', 'HAVING', 'QUALIFY'].includes(token.word)) return [];
  const rest = tokens.slice(at + 1);
  const length = rest.findIndex(
    (next) => next.depth < token.depth || (next.depth === token.depth && CLAUSES.has(next.word)),
  );
  const parts: Token[][] = [[]];
  let cases = 0;
  rest.slice(0, length < 0 ? undefined : length).forEach((next, place) => {
    if (next.word === 'CASE') cases += 1;
    if (next.word === 'END') cases -= 1;
    const joins =
      next.word === 'AND' && next.depth === token.depth && cases === 0 && !isOfBetween(tokens, at + 1 + place);
    if (joins) parts.push([]);
    else parts.at(-1)?.push(next);
  });
  // Parts of OR are no conjuncts: such a condition is left out as a whole.
  const isWhole = parts.flat().some((next) => next.word === 'OR' && next.depth === token.depth);
  return (isWhole ? [parts.flat()] : parts).flatMap((part) => {
    const [first, last] = [part[0], part.at(-1)];
    if (first === undefined || last === undefined) return [];
    const original = sql.slice(first.offset, last.offset + last.text.length);
    return [{ offset: first.offset, operator: 'condition', original, replacement: 'true' }];
  });
}
