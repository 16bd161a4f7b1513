import * as z from 'zod';

// By default, zod compiles each schema at its first use. For the few values that a command validates, compiling takes
// longer than it saves.
z.config({ jitless: true });
