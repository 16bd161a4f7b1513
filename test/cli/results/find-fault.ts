import { readFile } from 'node:fs/promises';
import { AjvJsonSchemaValidator } from '@modelcontextprotocol/server/validators/ajv';
import { packagePath } from '../../../src/io/package-path.js';

const validators = new AjvJsonSchemaValidator();

/** Says why a line is not what the schema of the command says; undefined if it is. */
export async function findFault(name: string, line: string): Promise<string | undefined> {
  const schema = JSON.parse(await readFile(packagePath(`schemas/output/${name}.json`), 'utf8')) as never;
  const { valid, errorMessage } = validators.getValidator(schema)(JSON.parse(line));
  return valid ? undefined : errorMessage;
}
