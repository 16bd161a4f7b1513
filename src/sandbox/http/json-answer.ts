/** A JSON answer from bytes that are rendered already. */
export function answerJson(body: Uint8Array): Response {
  const headers = { 'Content-Type': 'application/json', 'Content-Length': String(body.byteLength) };
  return new Response(body as Uint8Array<ArrayBuffer>, { headers });
}
