#!/usr/bin/env node
console.error('pricelake: not built yet');
