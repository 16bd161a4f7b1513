import { readFile } from 'node:fs/promises';
import { AjvJsonSchemaValidator } from '@modelcontextprotocol/server/validators/ajv';
import { packagePath } from '../../../src/io/package-path.js';

const validators = new AjvJsonSchemaValidator();

/** Explains why a line doesn't fit the command's schema, or returns undefined if it does. */
export async function findFault(name: string, line: string): Promise<string | undefined> {
  const schema = JSON.parse(await readFile(packagePath(`schemas/output/${name}.json`), 'utf8')) as never;
  const { valid, errorMessage } = validators.getValidator(schema)(JSON.parse(line));
  return valid ? undefined : errorMessage;
}
