/**
 * The pages' only script. They work without it; it finds products while one types, moves between rows by the arrow keys,
 * and completes names in SQL.
 */
export const EXPLORE_SCRIPT = `
'use strict';
(() => {
  const search = document.querySelector('.bar input');
  const isTyping = (target) => target.matches('input, textarea, select');
  addEventListener('keydown', (event) => {
    if (event.key !== '/' || event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
    event.preventDefault();
    search.focus();
    search.select();
  });

  // Arrow keys go from the search to the rows, and from row to row.
  const rowLinks = () => [...document.querySelectorAll('tbody th a')].filter((link) => link.offsetParent !== null);
  addEventListener('keydown', (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    const links = rowLinks();
    const at = links.indexOf(document.activeElement);
    if (at < 0 && !(document.activeElement === search && step === 1)) return;
    const next = links[at + step];
    event.preventDefault();
    if (next !== undefined) next.focus();
    else if (at + step < 0) search.focus();
  });

  // Products are found while one types. The address follows, and the newest answer counts.
  const found = document.getElementById('found');
  if (found !== null) {
    const filters = document.querySelector('.filters');
    let asked = 0;
    let timer;
    const show = async () => {
      const mine = ++asked;
      const set = [...new FormData(filters)].filter(([, value]) => value !== '');
      const query = new URLSearchParams(set).toString();
      const address = location.pathname + (query === '' ? '' : '?' + query);
      const answer = await fetch(address);
      const text = await answer.text();
      if (mine !== asked) return;
      const page = new DOMParser().parseFromString(text, 'text/html');
      const part = page.getElementById('found') ?? page.querySelector('main .finding');
      if (part === null) return;
      found.replaceChildren(...part.childNodes);
      history.replaceState(null, '', address);
    };
    const ask = () => {
      clearTimeout(timer);
      timer = setTimeout(() => show().catch(() => {}), 120);
    };
    for (const element of filters.elements) element.addEventListener('input', ask);
  }

  // Filters need no button then; without the script it is there.
  if (found !== null) document.querySelector('.filters button').hidden = true;

  // Tab completes the word before the caret, and again takes the next one. Escape gives Tab back to the browser.
  const sql = document.querySelector('textarea[data-complete]');
  if (sql !== null) {
    const names = [...document.querySelectorAll('summary code, [data-word]')].map(({ textContent }) => textContent);
    const known = [...new Set(names)].sort();
    let last;
    let isOff = false;
    sql.addEventListener('blur', () => { isOff = false; });
    sql.addEventListener('input', () => { last = undefined; isOff = false; });
    sql.addEventListener('keydown', (event) => {
      if (event.key === 'Escape') isOff = true;
      if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) sql.form.requestSubmit();
      if (event.key !== 'Tab' || event.shiftKey || isOff) return;
      const end = sql.selectionStart;
      const typed = last?.end === end ? last : undefined;
      const word = typed?.word ?? /[A-Za-z_][A-Za-z_0-9]*$/u.exec(sql.value.slice(0, end))?.[0];
      if (word === undefined) return;
      const matches = known.filter((name) => name.startsWith(word.toLowerCase()));
      if (matches.length === 0) return;
      event.preventDefault();
      const start = typed?.start ?? end - word.length;
      const turn = typed === undefined ? 0 : (typed.turn + 1) % matches.length;
      sql.setRangeText(matches[turn], start, end, 'end');
      last = { word, start, turn, end: start + matches[turn].length };
    });
  }

  // A table that is wider than the screen scrolls by keyboard.
  for (const frame of document.querySelectorAll('.frame')) {
    if (frame.scrollWidth <= frame.clientWidth) continue;
    frame.tabIndex = 0;
    frame.setAttribute('role', 'group');
    frame.setAttribute('aria-label', frame.querySelector('caption').textContent);
  }
})();
`;
