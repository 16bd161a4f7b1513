import * as z from 'zod';

// zod would compile each schema at its first use, which takes longer than it saves for the few values of a command.
z.config({ jitless: true });
