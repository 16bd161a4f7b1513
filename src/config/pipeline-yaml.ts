import { type Document, type ErrorCode, isMap, isScalar, LineCounter, parseDocument, visit } from 'yaml';
import { PricelakeError } from '../io/errors.js';
import type { Locate } from './pipeline-fault.js';

/** The messages for YAML errors. The parser's own messages quote the file, and could show secrets. */
const YAML_FAULTS: Record<ErrorCode, string> = {
  ALIAS_PROPS: 'an alias has an anchor or a tag',
  BAD_ALIAS: 'an anchor or alias has no proper name',
  BAD_COLLECTION_TYPE: "a tag doesn't fit its value",
  BAD_DIRECTIVE: 'a directive is malformed',
  BAD_DQ_ESCAPE: 'quoted text has an unknown escape; use single quotes',
  BAD_INDENT: "the indentation doesn't fit, or a bracket above is not closed",
  BAD_PROP_ORDER: 'an anchor or a tag is in the wrong place',
  BAD_SCALAR_START: 'text begins with a reserved character; put it in quotes',
  BLOCK_AS_IMPLICIT_KEY: 'a mapping or list appears where a single-line value belongs',
  BLOCK_IN_FLOW: 'a value inside brackets spans several lines',
  DUPLICATE_KEY: 'a mapping has the same key twice',
  IMPOSSIBLE: "it can't be read",
  KEY_OVER_1024_CHARS: 'a key is longer than 1,024 characters',
  MISSING_CHAR: 'a quote, bracket, comma, colon or space is missing',
  MULTILINE_IMPLICIT_KEY: 'a key, or text before a colon, spans several lines',
  MULTIPLE_ANCHORS: 'a value has several anchors',
  MULTIPLE_DOCS: 'a second document begins',
  MULTIPLE_TAGS: 'a value has several tags',
  NON_STRING_KEY: 'a key is not text',
  RESOURCE_EXHAUSTION: 'it is nested too deeply',
  TAB_AS_INDENT: 'tabs are not allowed as indentation',
  TAG_RESOLVE_FAILED: "a value doesn't have the type of its tag",
  UNEXPECTED_TOKEN: "there is text that doesn't belong there",
};

/**
 * Parses a pipeline file. Returns its value, and a function that finds the position of a key. An id beyond 2^53 becomes
 * text.
 * @throws PricelakeError `config` for invalid YAML, several documents, or an alias
 */
export function parseYaml(file: string, text: string): { value: unknown; locate: Locate } {
  const lines = new LineCounter();
  // Prevents the parser's warnings, which would print keys that aren't text.
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, logLevel: 'error' });
  const fail = (at: number, reason: string) =>
    new PricelakeError('config', `${file}:${toPosition(lines, at)}: ${reason}`);
  const [fault] = document.errors;
  if (fault?.code === 'MULTIPLE_DOCS')
    throw fail(fault.pos[0], 'a second YAML document begins, but a pipeline file can have only one');
  if (fault !== undefined) throw fail(fault.pos[0], `not YAML: ${YAML_FAULTS[fault.code]}`);
  visit(document, {
    // Rejects aliases, because an alias may contain itself or expand without limit. Doesn't quote the alias, because a
    // secret that starts with * looks like an alias.
    Alias: (_key, alias) => {
      throw fail(
        alias.range?.[0] ?? 0,
        "a value that begins with * is an alias, which pipeline files don't allow; put text in quotes",
      );
    },
    // Keeps a numeric key, such as a website's id, as text.
    Pair: (_key, { key }) => {
      if (isScalar(key) && typeof key.value === 'number') key.value = key.source ?? String(key.value);
    },
    Scalar: (_key, scalar) => {
      const { value, source } = scalar;
      if (typeof value !== 'number' || !Number.isInteger(value) || Number.isSafeInteger(value)) return;
      if (source !== undefined && /^\d+$/.test(source)) scalar.value = source;
    },
  });
  return { value: document.toJS(), locate: createLocate(file, document, lines) };
}

function toPosition(lines: LineCounter, at: number): string {
  const { line, col } = lines.linePos(at);
  return `${line}:${col}`;
}

function createLocate(file: string, document: Document.Parsed, lines: LineCounter): Locate {
  return (path) => {
    for (let length = path.length; length >= 0; length--) {
      const at = findKey(document, path.slice(0, length)) ?? findValue(document, path.slice(0, length));
      if (at !== undefined) return `${file}:${toPosition(lines, at)}`;
    }
    return file;
  };
}

function findKey(document: Document.Parsed, path: readonly PropertyKey[]): number | undefined {
  const parent = path.length === 0 ? undefined : document.getIn(path.slice(0, -1), true);
  if (!isMap(parent)) return undefined;
  const pair = parent.items.find(({ key }) => isScalar(key) && String(key.value) === String(path.at(-1)));
  return isScalar(pair?.key) ? pair.key.range?.[0] : undefined;
}

function findValue(document: Document.Parsed, path: readonly PropertyKey[]): number | undefined {
  const node = document.getIn(path, true) as { range?: [number, number, number] | null } | undefined;
  return node?.range?.[0];
}
