/** A service's answers, kept on their way and given again: what another build asks in the same place. */
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

interface Answer {
  /** `path?query` */
  request: string;
  status: number;
  headers: [string, string][];
  body: string;
}

export interface RecordedService {
  baseUrl: string;
  /** Requests of which no answer is recorded. */
  unknown: string[];
  close(): Promise<void>;
}

/** Passes requests on to the service, and writes its answers to the file. */
export function recordAnswers(service: string, file: string): Promise<RecordedService> {
  writeFileSync(file, '');
  return serve(async ({ url: request = '', headers: { authorization = '' } }) => {
    const response = await fetch(`${service}${request}`, { headers: { authorization, 'accept-encoding': 'identity' } });
    const body = Buffer.from(await response.arrayBuffer()).toString('base64');
    const headers = [...response.headers].filter(([name]) => !PASSED_ANEW.includes(name));
    const answer: Answer = { request, status: response.status, headers, body };
    appendFileSync(file, `${JSON.stringify(answer)}\n`);
    return answer;
  });
}

/** node:http writes them itself. */
const PASSED_ANEW = ['connection', 'keep-alive', 'transfer-encoding', 'content-length'];

/** Gives the answers in the file, those to one request in their order and the last one again. */
export function replayAnswers(file: string): Promise<RecordedService> {
  const answers = new Map<string, Answer[]>();
  for (const line of readFileSync(file, 'utf8').split('\n').filter(Boolean)) {
    const answer = JSON.parse(line) as Answer;
    answers.set(answer.request, [...(answers.get(answer.request) ?? []), answer]);
  }
  return serve(async ({ url = '' }) => {
    const left = answers.get(url) ?? [];
    return left.length > 1 ? left.shift() : left[0];
  });
}

async function serve(answer: (request: IncomingMessage) => Promise<Answer | undefined>): Promise<RecordedService> {
  const unknown: string[] = [];
  const send = async (request: IncomingMessage, response: ServerResponse) => {
    const given = await answer(request);
    if (given === undefined) unknown.push(request.url ?? '');
    response.sendDate = false;
    response.writeHead(given?.status ?? 404, given?.headers).end(Buffer.from(given?.body ?? '', 'base64'));
  };
  const server = createServer((request, response) => {
    send(request, response).catch((error: unknown) => response.destroy(error as Error));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    unknown,
    close: () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}
