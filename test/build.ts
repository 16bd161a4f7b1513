import { execFileSync } from 'node:child_process';
import { chmodSync } from 'node:fs';

/** Child processes of the tests run the built code, as users do. Files are overwritten in place: other runs may use them. */
export default function build(): void {
  execFileSync('node_modules/.bin/tsc', ['-p', 'tsconfig.build.json'], { stdio: 'inherit' });
  chmodSync('dist/cli/main.js', 0o755);
}
