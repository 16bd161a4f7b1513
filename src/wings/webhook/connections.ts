import type { Server } from 'node:http';
import type { Socket } from 'node:net';

const MAX_CONNECTIONS = 256;

/** `idle` has no request, `asking` sends one, and the body of `taken` is being verified and written. */
type Stage = 'idle' | 'asking' | 'taken';

/** A new connection may replace these, the least loss first. */
const LOSSES: readonly Stage[] = ['idle', 'asking'];

/**
 * Limits a server's connections. A new one replaces an old one, because refusing it would let anybody who holds the old
 * ones shut the sender out. A connection whose event is being written is never replaced.
 */
export class Connections {
  /** Those that changed their stage longest ago come first. */
  readonly #stages = new Map<Socket, Stage>();

  constructor(server: Server) {
    server.on('connection', (socket: Socket) => this.#admit(socket));
  }

  note(socket: Socket, stage: Stage): void {
    if (this.#stages.delete(socket)) this.#stages.set(socket, stage);
  }

  #admit(socket: Socket): void {
    if (this.#stages.size >= MAX_CONNECTIONS) this.#close(this.#findLeastLoss() ?? socket);
    if (socket.destroyed) return;
    this.#stages.set(socket, 'idle');
    socket.once('close', () => this.#stages.delete(socket));
  }

  #close(socket: Socket): void {
    this.#stages.delete(socket);
    socket.destroy();
  }

  #findLeastLoss(): Socket | undefined {
    for (const stage of LOSSES) {
      for (const [socket, its] of this.#stages) if (its === stage) return socket;
    }
    return undefined;
  }
}
