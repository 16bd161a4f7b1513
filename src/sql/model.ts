import { readFileSync } from 'node:fs';
import { packagePath } from '../io/package-path.js';
import type { Database } from './connection.js';
import { MODELS } from './models.js';
import { quoteIdentifier } from './quote.js';
import { Relation } from './relation.js';
import { join, Sql, sql, type ValueTypes, writeTyped } from './sql.js';

type Models = typeof MODELS;
export type ModelName = keyof Models;

/** The rows that replace a table's name in a query: a relation or a SELECT. */
export type Source = Relation | Sql;
export type Needs<M extends ModelName> = Record<Models[M]['needs'][number], Source>;
/** The values that a model reads with `getvariable`. The model's header declares their names and types. */
export type Values<M extends ModelName> = {
  [K in keyof Models[M]['values']]: Models[M]['values'][K] extends keyof ValueTypes
    ? ValueTypes[Models[M]['values'][K]] | null
    : never;
};

/** Returns an expression for use after FROM. */
export const asRows = (source: Source): Sql => (source instanceof Relation ? sql`${source}` : sql`(${source})`);

const texts = new Map<string, string>();

/** Returns the SQL of `pipelines/models/<name>.sql`, without a trailing semicolon. */
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

/**
 * Reads a query of pipelines/analysis by name. Replaces `(FROM 'other.sql')` with the query in other.sql, or with the
 * table `other` if `prepared` contains that name.
 */
export function readAnalysis(name: string, prepared: ReadonlySet<string> = new Set()): string {
  const text = readFileSync(packagePath(`pipelines/analysis/${name}.sql`), 'utf8');
  return text.replace(/^(?!--)(.*)\(FROM '(\w+)\.sql'\)/gmu, (_, before, other) =>
    prepared.has(other) ? `${before}(FROM ${other})` : `${before}(${readAnalysis(other, prepared)})`,
  );
}

export async function createMacros(db: Database): Promise<void> {
  await db.run(readModel('macros'));
}

export function bindModel<M extends ModelName>(name: M, needs: Needs<M>, values: Values<M>): Sql {
  const types: Record<string, keyof ValueTypes> = MODELS[name].values;
  const given = values as Record<string, never>;
  const literals = Object.entries(types).map(([key, type]) => [key, writeTyped(type, given[key] ?? null)]);
  return bindQuery(readModel(name), needs, Object.fromEntries(literals));
}

/**
 * Replaces the names of tables in a query with relations, without changing line numbers. `values` contains the SQL text
 * of variables. All other variables keep the values that the session has.
 */
export function bindQuery(
  text: string,
  tables: Readonly<Record<string, Source>>,
  values: Readonly<Record<string, string>> = {},
): Sql {
  const bound = text.replaceAll(/getvariable\('(\w+)'\)/g, (found, name: string) => values[name] ?? found);
  const shown = Object.entries(tables).map(([name, source]) => {
    const rows = source instanceof Relation ? sql`FROM ${source}` : source;
    return join([new Sql(`${quoteIdentifier(name)} AS NOT MATERIALIZED (`), rows, new Sql(')')], '');
  });
  const names = shown.length === 0 ? [] : [join([new Sql('WITH '), join(shown, ', '), new Sql(' ')], '')];
  return join([...names, new Sql(`SELECT * FROM (${bound}\n)`)], '');
}
