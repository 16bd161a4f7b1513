import { existsSync } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';

const PATHS = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** Chromium of this machine, headless, with a profile of its own that is gone afterwards. */
export async function launchChromium(): Promise<Browser> {
  const executablePath = [process.env.CHROMIUM ?? '', ...PATHS].find((path) => path !== '' && existsSync(path));
  if (executablePath === undefined) {
    throw new Error(
      `no Chromium at ${PATHS.join(', ')}: install it (Debian: apt-get install chromium), or set CHROMIUM to its path`,
    );
  }
  return chromium.launch({ executablePath, headless: true, args: FLAGS });
}
