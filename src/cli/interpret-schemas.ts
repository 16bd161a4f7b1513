import * as z from 'zod';

// zod would compile each schema at its first use. For the few values of a command, that takes longer than it saves.
z.config({ jitless: true });
