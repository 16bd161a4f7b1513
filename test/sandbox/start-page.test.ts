import { createHash } from 'node:crypto';
import { afterAll, describe, expect, it } from 'vitest';
import { parse as parseYaml } from 'yaml';
import { Service } from './service.js';

const service = await Service.start({ items: 1500 });
const answer = await fetch(`${service.sandbox.baseUrl}/`);
const page = await answer.text();
afterAll(() => service.close());

const texts = (tag: string) =>
  [...page.matchAll(new RegExp(`<${tag}[^>]*>(.*?)</${tag}>`, 'gs'))].map(([, text]) => text?.replaceAll('&#39;', "'"));

describe('the start page', () => {
  it('is HTML, needs no key and is not cached', () => {
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toBe('text/html; charset=UTF-8');
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expect(page).toMatch(/^<!doctype html>/);
  });

  it('allows only its own style, and loads nothing from elsewhere', () => {
    const policy = answer.headers.get('content-security-policy') ?? '';
    const [style = ''] = texts('style');
    expect(policy).toContain(`style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'`);
    expect(policy).toContain("default-src 'none'");
    expect(page).not.toMatch(/<script|<img|@import|\bstyle=|\bon\w+=|src=/);
    const links = [...page.matchAll(/href="([^"]*)"/g)].map(([, link]) => link);
    expect(links).toEqual([
      'data:,',
      '/openapi.json',
      '/sandbox',
      '/sandbox/webhook',
      '/sandbox/faults',
      '/sandbox/readings',
    ]);
  });

  it('links only to existing pages', async () => {
    for (const path of ['/openapi.json', '/sandbox', '/sandbox/webhook', '/sandbox/faults', '/sandbox/readings']) {
      expect((await fetch(`${service.sandbox.baseUrl}${path}`)).status).toBe(200);
    }
  });

  it('has a working call and a pipeline file', async () => {
    const [call = '', file = '', commands = ''] = texts('pre');
    const [, authorization = '', url = ''] = /^curl -H 'Authorization: (.*?)' '(.*?)'$/.exec(call) ?? [];
    expect((await fetch(url, { headers: { authorization } })).status).toBe(200);
    expect(Object.keys(parseYaml(file).source)).toEqual(['baseUrl', 'apiKey']);
    expect(commands).toContain(`export PRICELAKE_BASE_URL=${service.sandbox.baseUrl}`);
  });

  it('shows the figures of the world', async () => {
    const state = (await (await fetch(`${service.sandbox.baseUrl}/sandbox`)).json()) as Record<string, number>;
    const figures = Object.fromEntries(
      [...page.matchAll(/<dt>(.*?)<\/dt><dd>(.*?)<\/dd>/g)].map(([, name, value]) => [name, value]),
    );
    expect(figures).toMatchObject({
      'items listed': state.listed?.toLocaleString('en'),
      'items ever seen': '1,500',
      changes: state.changes?.toLocaleString('en'),
      datasets: '7',
      Plan: 'Pro',
      Clock: '2026-11-20 06:00 UTC, moves only with pricelake sandbox advance',
    });
  });
});
