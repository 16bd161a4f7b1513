/** Replaces a method of an object, such as a function of `node:fs`. Returns a function that puts the original back. */
export function replaceCall<Call>(owner: object, name: string, wrap: (call: Call) => Call): () => void {
  const calls = owner as Record<string, Call>;
  const call = calls[name] as Call;
  calls[name] = wrap(call);
  return () => {
    calls[name] = call;
  };
}
