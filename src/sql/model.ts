import { readFileSync } from 'node:fs';
import { packagePath } from '../io/package-path.js';
import type { Database } from './connection.js';
import { MODELS } from './models.js';
import { quoteIdentifier } from './quote.js';
import { Relation } from './relation.js';
import { join, Sql, sql, type ValueTypes, writeTyped } from './sql.js';

type Models = typeof MODELS;
export type ModelName = keyof Models;

/** Rows for the name of a table in a query: a relation, or a SELECT. */
export type Source = Relation | Sql;
/** The relations that a model reads, by the names in its header. */
export type Needs<M extends ModelName> = Record<Models[M]['needs'][number], Source>;
/** The values of a model's `getvariable`, by the names and types in its header. */
export type Values<M extends ModelName> = {
  [K in keyof Models[M]['values']]: Models[M]['values'][K] extends keyof ValueTypes
    ? ValueTypes[Models[M]['values'][K]] | null
    : never;
};

/** A source for use after FROM. */
export const asRows = (source: Source): Sql => (source instanceof Relation ? sql`${source}` : sql`(${source})`);

const texts = new Map<string, string>();

/** SQL text of `pipelines/models/<name>.sql`, without a closing semicolon. */
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
 * A query of pipelines/analysis, by name; `(FROM 'other.sql')` in it is replaced by the query of that file, or by the table
 * of its name if that is `prepared`.
 */
export function readAnalysis(name: string, prepared: ReadonlySet<string> = new Set()): string {
  const text = readFileSync(packagePath(`pipelines/analysis/${name}.sql`), 'utf8');
  return text.replace(/^(?!--)(.*)\(FROM '(\w+)\.sql'\)/gmu, (_, before, other) =>
    prepared.has(other) ? `${before}(FROM ${other})` : `${before}(${readAnalysis(other, prepared)})`,
  );
}

/** Makes the macros that the models use. */
export async function createMacros(db: Database): Promise<void> {
  await db.run(readModel('macros'));
}

/** A model over these relations, with these values in place of its variables. */
export function bindModel<M extends ModelName>(name: M, needs: Needs<M>, values: Values<M>): Sql {
  const types: Record<string, keyof ValueTypes> = MODELS[name].values;
  const given = values as Record<string, never>;
  const literals = Object.entries(types).map(([key, type]) => [key, writeTyped(type, given[key] ?? null)]);
  return bindQuery(readModel(name), needs, Object.fromEntries(literals));
}

/**
 * A query that finds its tables by their names, over these relations. `values` are SQL texts by the names of its
 * variables; a variable that is not among them stays one of the session. The query's lines keep their numbers.
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
