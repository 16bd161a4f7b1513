import type { Server } from 'node:http';
import type { Socket } from 'node:net';

const MAX_CONNECTIONS = 256;

/**
 * The state of a connection. `idle` means that no request is open. `asking` means that a request is being received.
 * `taken` means that the body of a request is being verified and written.
 */
type Stage = 'idle' | 'asking' | 'taken';

/** The states in which a new connection may replace an old one. Those in the first state are replaced first. */
const LOSSES: readonly Stage[] = ['idle', 'asking'];

/**
 * Limits the number of a server's connections. At the limit, a new connection replaces an old one. Otherwise, anybody
 * who holds connections open could lock the sender out. A connection whose event is being written is never replaced.
 */
export class Connections {
  /** The state of each socket. The socket whose state changed longest ago is the first. */
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
