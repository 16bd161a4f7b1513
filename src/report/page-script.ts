/**
 * The report's only script: it sorts, folds and filters tables, opens products below their rows, writes tables as CSV, and
 * lets the keyboard scroll wide tables. It moves and hides elements, and never makes any from text.
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
  const tableBefore = (element) => {
    while (!element.classList.contains('frame')) element = element.previousElementSibling;
    return element.querySelector('table');
  };
  for (const box of document.querySelectorAll('.unfold')) {
    const table = tableBefore(box);
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

  // A product's part of the page moves below its row, and back when it closes.
  const opened = new Map();
  const close = (link) => {
    const { row, part, home } = opened.get(link);
    home.replaceWith(part);
    part.open = false;
    row.remove();
    link.setAttribute('aria-expanded', 'false');
    opened.delete(link);
  };
  const closeAll = () => { for (const link of [...opened.keys()]) close(link); };
  const open = (link) => {
    const part = document.getElementById(link.hash.slice(1));
    const after = link.closest('tr');
    const row = document.createElement('tr');
    row.className = 'opened';
    const cell = row.insertCell();
    cell.colSpan = after.cells.length;
    const home = document.createComment('');
    part.replaceWith(home);
    cell.append(part);
    part.open = true;
    after.after(row);
    link.setAttribute('aria-expanded', 'true');
    opened.set(link, { row, part, home });
  };
  for (const link of document.querySelectorAll('a.open')) {
    link.setAttribute('aria-expanded', 'false');
    link.addEventListener('click', (event) => {
      event.preventDefault();
      if (opened.has(link)) close(link);
      else open(link);
    });
  }

  const sortBy = (head) => {
    closeAll();
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

  // The page's address holds the filters: #text=tea&shop=4.
  for (const box of document.querySelectorAll('.search')) {
    const body = document.getElementById(box.dataset.table).tBodies[0];
    const controls = [...box.querySelectorAll('[data-filter]')];
    const texts = new Map([...body.rows].map((row) => [row, toPlain(row.textContent)]));
    const keeps = {
      text: (row, value) => toPlain(value).split(/\\s+/u).filter(Boolean).every((word) => texts.get(row).includes(word)),
      shop: (row, value) => row.dataset.shops.split(' ').includes(value),
      category: (row, value) => row.dataset.category === value,
      currency: (row, value) => row.dataset.currency === value,
    };
    const apply = () => {
      closeAll();
      const set = controls.filter(({ value }) => value.trim() !== '');
      let found = 0;
      for (const row of texts.keys()) {
        row.hidden = !set.every(({ dataset, value }) => keeps[dataset.filter](row, value));
        if (!row.hidden) found += 1;
      }
      fold(body);
      box.querySelector('output').textContent = set.length === 0 ? '' : found + ' of ' + texts.size + ' found';
      return new URLSearchParams(set.map(({ dataset, value }) => [dataset.filter, value])).toString();
    };
    const read = () => {
      if (!location.hash.includes('=')) return;
      const values = new URLSearchParams(location.hash.slice(1));
      for (const control of controls) control.value = values.get(control.dataset.filter) ?? '';
      apply();
    };
    box.addEventListener('input', () => {
      const hash = apply();
      try { history.replaceState(null, '', '#' + hash); } catch {}
    });
    addEventListener('hashchange', read);
    box.hidden = false;
    read();
  }

  // Every row of the CSV carries the credits, so that they cannot be lost. A quote keeps a spreadsheet from computing text.
  const credits = [...document.querySelectorAll('.credits li > bdi')].map(({ textContent }) => textContent.trim()).join(' | ');
  const readCell = (cell) => {
    const isNumber = cell.classList.contains('number');
    if (isNumber && cell.dataset.sort !== undefined) return cell.dataset.sort;
    const text = cell.innerText.replace(/\\s+/gu, ' ').trim();
    return /^[=+@\\t-]/u.test(text) && !isNumber ? "'" + text : text;
  };
  const quote = (text) => '"' + text.replaceAll('"', '""') + '"';
  for (const box of document.querySelectorAll('.tools')) {
    const table = tableBefore(box);
    box.hidden = false;
    box.querySelector('button').addEventListener('click', () => {
      closeAll();
      const rows = [...table.tBodies[0].rows].filter(({ hidden }) => !hidden);
      const hasCurrency = rows.some(({ dataset }) => dataset.currency !== undefined);
      const more = (currency, text) => [...(hasCurrency ? [currency ?? ''] : []), ...(credits === '' ? [] : [text])];
      const heads = [...table.tHead.rows[0].cells].map((cell) => cell.dataset.label ?? cell.textContent);
      const lines = [
        [...heads, ...more('Currency', 'Credits')],
        ...rows.map((row) => {
          const isFolded = row.classList.contains('folded');
          row.classList.remove('folded');
          const cells = [...row.cells].map(readCell);
          row.classList.toggle('folded', isFolded);
          return [...cells, ...more(row.dataset.currency, credits)];
        }),
      ];
      const text = '\\ufeff' + lines.map((line) => line.map(quote).join(',')).join('\\r\\n') + '\\r\\n';
      const link = document.createElement('a');
      link.href = URL.createObjectURL(new Blob([text], { type: 'text/csv' }));
      link.download = (table.id || table.closest('section').id) + '.csv';
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 1000);
    });
  }

  // Paper shows folded parts, but only the products that are open.
  let printed = [];
  addEventListener('beforeprint', () => {
    printed = [...document.querySelectorAll('details:not([open]):not(.product)')];
    for (const part of printed) part.open = true;
  });
  addEventListener('afterprint', () => { for (const part of printed) part.open = false; });

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
