import * as z from 'zod';

// A command checks few values: to compile a schema takes longer than to interpret it for all of them.
z.config({ jitless: true });
