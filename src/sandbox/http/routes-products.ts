import type { Hono } from 'hono';
import type { SandboxEnv } from './app.js';
import type { Service } from './caller.js';

export function addProductRoutes(_app: Hono<SandboxEnv>, _service: Service): void {}
