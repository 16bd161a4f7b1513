import type { Server } from 'node:http';
import type { Socket } from 'node:net';

const MAX_CONNECTIONS = 256;

/**
 * The state of a connection. `idle`: it has sent no request. `asking`: its request is being received. `taken`: the
 * request's body is being verified and written.
 */
type Stage = 'idle' | 'asking' | 'taken';

/** The states in which a new connection may replace an old one. Connections in the first state are replaced first. */
const LOSSES: readonly Stage[] = ['idle', 'asking'];

/**
 * Limits a server's connections. At the limit, a new connection replaces an old one, because otherwise anybody who
 * holds connections open could lock the sender out. Never replaces a connection whose event is being written.
 */
export class Connections {
  /** The sockets, sorted by when their state last changed, oldest first. */
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
