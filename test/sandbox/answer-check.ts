import { createRequire } from 'node:module';
import type { Answer } from './service.js';

type Schema = Record<string, unknown> & { properties?: Record<string, Record<string, unknown>> };
type Schemas = Record<string, { schema: Schema }>;
type Response = { headers?: Schemas; content?: Schemas };
interface Operation {
  tags: string[];
  summary: string;
  description: string;
  parameters?: { name: string; schema: Schema }[];
  responses: Record<string, Response | { $ref: string }>;
}

/** Parts of an OpenAPI document that tests look at. */
export interface OpenApiDocument {
  tags: { name: string; description: string }[];
  paths: Record<string, { get: Operation }>;
  webhooks: Record<string, { post: Operation }>;
  components: { schemas: Record<string, Schema>; responses: Record<string, Response> };
}

type Validate = ((value: unknown) => boolean) & { errors?: unknown };
interface SchemaChecker {
  addSchema(schema: object, key: string): void;
  compile(schema: object): Validate;
}

/** The validator's own ajv: one that reads JSON Schema 2020-12, with formats. */
function createChecker(): SchemaChecker {
  const require = createRequire(import.meta.resolve('@seriousme/openapi-schema-validator'));
  const { Ajv2020 } = require('ajv/dist/2020.js');
  const checker = new Ajv2020({ strict: false, allErrors: true });
  require('ajv-formats')(checker);
  return checker;
}

/** Checks answers against an OpenAPI document, and demands that the document names every field. */
export class AnswerCheck {
  readonly #document: OpenApiDocument;
  readonly #checker = createChecker();
  readonly #compiled = new Map<string, Validate>();
  /** `/api/v1/items/{id} 404` of every answer that was checked. */
  readonly seen = new Set<string>();

  constructor(document: OpenApiDocument) {
    this.#document = document;
    const copy = structuredClone(document);
    for (const [name, schema] of Object.entries(copy.components.schemas)) {
      if (name !== 'PlanLimits') schema.additionalProperties = false;
    }
    this.#checker.addSchema(copy, 'document');
  }

  /** Returns the differences from the schema as text, or an empty list. */
  findFaults(path: string, answer: Answer): unknown[] {
    const [template, operation] = this.#findOperation(path);
    const response = this.#findResponse(operation, answer.status);
    if (response === undefined) return [`${path}: status ${answer.status} is not in the document`];
    this.seen.add(`${template} ${answer.status}`);
    const faults: unknown[] = this.#findHeaderFaults(response.headers ?? {}, answer.headers);
    const mediaType = answer.headers.get('content-type')?.split(';')[0] ?? '';
    const content = response.content?.[mediaType];
    if (content === undefined) return [...faults, `${path}: media type ${mediaType} is not in the document`];
    const body = mediaType === 'application/json' ? JSON.parse(answer.text) : answer.text;
    return [...faults, ...this.check(content.schema, body)];
  }

  check(schema: object, value: unknown): unknown[] {
    const absolute = JSON.stringify(schema).replaceAll('"#/', '"document#/');
    const validate = this.#compiled.get(absolute) ?? this.#checker.compile(JSON.parse(absolute));
    this.#compiled.set(absolute, validate);
    return validate(value) ? [] : [validate.errors];
  }

  #findOperation(path: string): [string, Operation] {
    const asked = path.split('?')[0] as string;
    const found = Object.entries(this.#document.paths).find(([template]) =>
      new RegExp(`^${template.replaceAll('{id}', '(?!recent$)[^/]+')}$`).test(asked),
    );
    if (found === undefined) throw new Error(`${path} is not in the document`);
    return [found[0], found[1].get];
  }

  #findResponse({ responses }: Operation, status: number) {
    const response = responses[status] ?? responses.default;
    if (response === undefined || !('$ref' in response)) return response;
    return this.#document.components.responses[response.$ref.split('/').at(-1) as string];
  }

  #findHeaderFaults(described: Record<string, { schema: object }>, headers: Headers): unknown[] {
    return Object.entries(described).flatMap(([name, { schema }]) => {
      const text = headers.get(name);
      if (text === null) return [];
      const isText = 'type' in schema && schema.type === 'string';
      return this.check(schema, isText ? text : JSON.parse(text));
    });
  }
}
