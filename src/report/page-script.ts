/**
 * The report's one script: sorts tables by their headers, shows and hides rows, filters them by what is typed, and lets
 * the keyboard scroll what is wider than the screen. It moves and hides elements that are there, and never makes any from text.
 */
export const PAGE_SCRIPT = `
'use strict';
(() => {
  const collator = new Intl.Collator('en', { sensitivity: 'base', numeric: true });
  const toPlain = (text) => text.normalize('NFKD').replace(/\\p{M}/gu, '').toLowerCase();

  const compareCells = (column, isNumber) => (a, b) => {
    const [left, right] = [a, b].map((row) => row.cells[column].dataset.sort);
    return isNumber ? Number(left) - Number(right) : collator.compare(left, right);
  };

  const fold = (body) => {
    const most = Number(body.parentElement.dataset.fold ?? Infinity);
    let shown = 0;
    for (const row of body.rows) row.classList.toggle('folded', !row.hidden && ++shown > most);
  };
  for (const box of document.querySelectorAll('.unfold')) {
    const table = box.previousElementSibling.querySelector('table');
    fold(table.tBodies[0]);
    box.hidden = false;
    box.querySelector('button').addEventListener('click', () => {
      const next = table.querySelector('.folded th');
      delete table.dataset.fold;
      fold(table.tBodies[0]);
      box.remove();
      if (next === null) return;
      next.tabIndex = -1;
      next.focus();
    });
  }

  const sortBy = (head) => {
    const body = head.closest('table').tBodies[0];
    const isNumber = head.classList.contains('number');
    const first = isNumber ? 'descending' : 'ascending';
    const second = isNumber ? 'ascending' : 'descending';
    const order = head.getAttribute('aria-sort') === first ? second : first;
    for (const other of head.parentElement.querySelectorAll('[aria-sort]')) other.setAttribute('aria-sort', 'none');
    head.setAttribute('aria-sort', order);
    const rows = [...body.rows].sort(compareCells(head.cellIndex, isNumber));
    if (order === 'descending') rows.reverse();
    body.append(...rows);
    fold(body);
  };
  for (const button of document.querySelectorAll('thead button')) {
    button.addEventListener('click', () => sortBy(button.closest('th')));
  }

  for (const input of document.querySelectorAll('input[data-search]')) {
    const box = input.closest('.search');
    const body = document.getElementById(input.dataset.search).tBodies[0];
    const texts = new Map([...body.rows].map((row) => [row, toPlain(row.textContent)]));
    input.addEventListener('input', () => {
      const words = toPlain(input.value).split(/\\s+/u).filter(Boolean);
      let found = 0;
      for (const [row, text] of texts) {
        row.hidden = !words.every((word) => text.includes(word));
        if (!row.hidden) found += 1;
      }
      fold(body);
      box.querySelector('output').textContent = words.length === 0 ? '' : found + ' of ' + texts.size + ' found';
    });
    box.hidden = false;
  }

  const frames = document.querySelectorAll('.frame');
  const watcher = new ResizeObserver((entries) => {
    for (const { target } of entries) {
      const scrolls = target.scrollWidth > target.clientWidth;
      if (scrolls === target.hasAttribute('tabindex')) continue;
      if (scrolls) {
        target.tabIndex = 0;
        target.setAttribute('role', 'group');
        target.setAttribute('aria-label', target.querySelector('caption').textContent);
      } else for (const name of ['tabindex', 'role', 'aria-label']) target.removeAttribute(name);
    }
  });
  for (const frame of frames) watcher.observe(frame);
})();
`;
