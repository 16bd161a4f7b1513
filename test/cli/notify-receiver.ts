import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

export interface Delivery {
  headers: IncomingMessage['headers'];
  path: string;
  body: string;
}

export type Answer = (response: ServerResponse, number: number) => void;

/** A secret part of each receiver's address, as in Slack's addresses. It must appear nowhere else. */
export const TOKEN = 'T0KEN-a1b2c3';

/** A real receiver on this machine. It records messages, and responds as `answer` defines, by default with 200. */
export async function openReceiver(answer: Answer = (response) => void response.end('ok')) {
  const deliveries: Delivery[] = [];
  const receiver = { answer, deliveries, address: '' };
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    response.on('error', () => {});
    request.on('data', (chunk) => chunks.push(chunk));
    request.on('end', () => {
      deliveries.push({ headers: request.headers, path: request.url ?? '', body: Buffer.concat(chunks).toString() });
      receiver.answer(response, deliveries.length);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  receiver.address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/${TOKEN}`;
  return receiver;
}
