/**
 * The only script of the pages. The pages also work without it. It searches products while the reader types, moves
 * between rows with the arrow keys, sorts complete tables, localizes numbers and times, and completes names in SQL. In
 * a report, it searches and copies tables. It never parses text as HTML, except pages of this server.
 */
export const PAGE_SCRIPT = `
'use strict';
(() => {
  const isWritten = document.body.classList.contains('written');
  const search = document.querySelector('.bar input');
  const isTyping = (target) => target.matches('input, textarea, select');
  addEventListener('keydown', (event) => {
    if (search === null || event.key !== '/' || event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
    event.preventDefault();
    search.focus();
    search.select();
  });

  // Reload the page later, because rows are still being prepared.
  const again = Number(document.body.dataset.again);
  if (again > 0) setTimeout(() => location.reload(), again * 1000);

  // The arrow keys move from the search box to the rows, and between rows.
  const rowLinks = () => [...document.querySelectorAll('tbody th a')].filter((link) => link.offsetParent !== null);
  addEventListener('keydown', (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    const links = rowLinks();
    const at = links.indexOf(document.activeElement);
    if (at < 0 && (search === null || document.activeElement !== search || step !== 1)) return;
    const next = links[at + step];
    event.preventDefault();
    if (next !== undefined) next.focus();
    else if (at + step < 0) search?.focus();
  });

  // Search products while the reader types. The address changes with the text, and only the newest response is shown.
  const found = document.getElementById('found');
  const filters = document.querySelector('.filters');
  if (found !== null && filters !== null) {
    let asked = 0;
    let timer;
    const show = async () => {
      const mine = ++asked;
      const set = [...new FormData(filters)].filter(([, value]) => value !== '');
      const query = new URLSearchParams(set).toString();
      const address = location.pathname + (query === '' ? '' : '?' + query);
      const read = async (wanted) => {
        const answer = await fetch(wanted);
        return new DOMParser().parseFromString(await answer.text(), 'text/html');
      };
      const page = await read(address + (query === '' ? '?' : '&') + 'part=found');
      if (mine !== asked) return;
      const part = page.getElementById('found') ?? page.querySelector('main .finding');
      if (part === null) return;
      localize(part);
      tellTimes(part);
      found.replaceChildren(...part.childNodes);
      history.replaceState(null, '', address);
      const saved = document.querySelector('.views input[name=address]');
      if (saved !== null) saved.value = address;
      clearTimeout(timer);
      timer = setTimeout(() => count(mine, () => read(address)).catch(() => {}), 600);
    };
    // Update the counts in the filters when the reader stops typing, except in a list that is open.
    const count = async (mine, read) => {
      const page = await read();
      if (mine !== asked) return;
      for (const list of filters.querySelectorAll('select, datalist')) {
        const place = list.id === '' ? 'select[name=' + list.name + ']' : '#' + list.id;
        const counted = page.querySelector('.filters ' + place);
        if (counted !== null && list !== document.activeElement) list.replaceChildren(...counted.childNodes);
      }
      const caption = page.querySelector('#found caption');
      if (caption === null) return;
      localize(caption);
      found.querySelector('caption')?.replaceWith(caption);
    };
    const ask = () => {
      clearTimeout(timer);
      timer = setTimeout(() => show().catch(() => {}), 120);
    };
    for (const element of filters.elements) element.addEventListener('input', ask);
    // Hide the button, because the script applies filters at once.
    filters.querySelector('button').hidden = true;
  }

  // Suggest products with the typed words for the product of an analysis.
  const product = document.querySelector('.filters input[list=products]');
  let suggesting;
  product?.addEventListener('input', () => {
    clearTimeout(suggesting);
    suggesting = setTimeout(async () => {
      const words = product.value;
      const answer = await fetch('/products?part=found&rows=10&q=' + encodeURIComponent(words));
      const page = new DOMParser().parseFromString(await answer.text(), 'text/html');
      const options = [...page.querySelectorAll('tbody th a')].map((link) => {
        const [id] = link.getAttribute('href').replace('/products/', '').split('?');
        return new Option(link.textContent, decodeURIComponent(id));
      });
      if (words === product.value) product.list.replaceChildren(...options);
    }, 120);
  });

  // Choosing a value of Since clears the dates, because dates would take precedence.
  const since = document.querySelector('#filters select[name=since]');
  since?.addEventListener('change', () => {
    const { date, until } = since.form.elements;
    if (since.value !== '' && date?.value) date.value = until.value = '';
  });

  // Tab completes the word before the caret, and pressing Tab again shows the next completion. After Escape, Tab moves
  // the focus as usual.
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

  // Show numbers like 1,234.50 in the reader's notation. Cells keep their original values for sorting and copying.
  const parts = new Intl.NumberFormat(navigator.language).formatToParts(12345.5);
  const signOf = (type) => parts.find((part) => part.type === type)?.value ?? '';
  const [group, decimal] = [signOf('group'), signOf('decimal')];
  const localize = (root) => {
    if (group === ',' && decimal === '.') return;
    for (const element of root.querySelectorAll('.number, .money, .figures dd')) {
      const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
      while (walker.nextNode()) {
        const { currentNode: node } = walker;
        if (node.parentElement.closest('small, time, bdi') !== null || node.localized === true) continue;
        node.localized = true;
        node.data = node.data.replace(/\\d[\\d,]*(?:\\.\\d+)?/gu, (number) =>
          number.replace(/[,.]/gu, (sign) => (sign === ',' ? group : decimal)),
        );
      }
    }
  };
  localize(document);

  // Convert UTC times to the reader's time zone, and name the zone in the footer.
  const { timeZone } = new Intl.DateTimeFormat().resolvedOptions();
  const toDay = new Intl.DateTimeFormat('en-GB', { timeZone, day: 'numeric', month: 'short', year: 'numeric' });
  const toMoment = new Intl.DateTimeFormat('en-GB', { timeZone, day: 'numeric', month: 'short', year: 'numeric', hour: '2-digit', minute: '2-digit' });
  const zone = document.getElementById('zone');
  const tellTimes = (root) => {
    if (zone === null) return;
    for (const time of root.querySelectorAll('time[datetime]')) {
      time.textContent = (time.textContent.includes(':') ? toMoment : toDay).format(new Date(time.dateTime)).replace('Sept', 'Sep');
    }
  };
  if (zone !== null) zone.textContent = 'Times are shown in the time zone ' + timeZone + '.';
  tellTimes(document);

  // Sort complete tables in the browser. A cell's data-value has the value if the cell shows it in another form.
  const collator = new Intl.Collator('en', { sensitivity: 'base', numeric: true });
  const valueOf = (cell) => cell.dataset.value ?? (cell.querySelector('.none') === null ? cell.textContent.trim() : '');
  const compare = (place, isNumber) => (a, b) => {
    const [left, right] = [a, b].map((row) => valueOf(row.cells[place]));
    return isNumber ? Number(left) - Number(right) : collator.compare(left, right);
  };
  const sort = (table, head) => {
    const place = head.cellIndex;
    const isNumber = head.classList.contains('number');
    const before = head.getAttribute('aria-sort');
    // The first click on a column of numbers sorts in descending order.
    const order = before === 'descending' || (before !== 'ascending' && !isNumber) ? 'ascending' : 'descending';
    for (const other of head.parentElement.cells) if (other.hasAttribute('aria-sort')) other.setAttribute('aria-sort', 'none');
    head.setAttribute('aria-sort', order);
    const body = table.tBodies[0];
    const isEmpty = (row) => valueOf(row.cells[place]) === '';
    const rows = [...body.rows].filter((row) => !isEmpty(row)).sort(compare(place, isNumber));
    const empty = [...body.rows].filter(isEmpty);
    body.replaceChildren(...(order === 'ascending' ? rows : rows.reverse()), ...empty);
  };
  for (const table of document.querySelectorAll('table[data-whole]')) {
    if (table.tBodies[0].rows.length < 2) continue;
    for (const head of table.tHead.rows[0].cells) {
      if (head.querySelector('a') !== null) continue;
      const button = document.createElement('button');
      button.type = 'button';
      button.append(...head.childNodes);
      head.append(button);
      if (!head.hasAttribute('aria-sort')) head.setAttribute('aria-sort', 'none');
      button.addEventListener('click', () => sort(table, head));
    }
  }

  // In a report, search and copy tables in the browser, because there is no server.
  const quote = (text) => '"' + text.replaceAll('"', '""') + '"';
  // A leading quote prevents spreadsheets from reading text as a formula.
  const toCell = (cell) => quote((cell.dataset.value === undefined && /^[-=+@]/u.test(valueOf(cell)) ? "'" : '') + valueOf(cell));
  const copyRows = (table) => {
    const names = [...table.tHead.rows[0].cells].map((head) => head.dataset.name);
    const rows = [...table.tBodies[0].rows].map((row) => [...row.cells].map(toCell));
    // License texts are copied with the data.
    const credits = [...document.querySelectorAll('.credits li > bdi')].map(({ textContent }) => textContent).join('; ');
    const more = (text) => (credits === '' ? [] : [quote(text)]);
    const lines = [[...names.map(quote), ...more('credits')], ...rows.map((row) => [...row, ...more(credits)])];
    const text = lines.map((row) => row.join(',') + '\\r\\n').join('');
    const link = document.createElement('a');
    link.href = URL.createObjectURL(new Blob([text], { type: 'text/csv' }));
    link.download = (table.dataset.analysis ?? 'rows') + '.csv';
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  };
  const toPlain = (text) => text.normalize('NFKD').replace(/\\p{M}/gu, '').toLowerCase();
  const MANY = 15;
  const addFind = (table) => {
    const label = document.createElement('label');
    label.className = 'find';
    label.textContent = 'Find';
    const input = document.createElement('input');
    input.type = 'search';
    label.append(input);
    const frame = table.closest('.frame');
    frame.before(label);
    input.addEventListener('input', () => {
      // Rows that are shown only on request are searched too.
      const all = frame.querySelector('.all input');
      if (all !== null) all.checked = true;
      const words = toPlain(input.value).split(' ').filter((word) => word !== '');
      for (const row of table.tBodies[0].rows) {
        const text = toPlain(row.textContent);
        row.hidden = !words.every((word) => text.includes(word));
      }
    });
  };
  if (isWritten) {
    for (const table of document.querySelectorAll('table')) {
      const button = document.createElement('button');
      button.type = 'button';
      button.textContent = 'CSV';
      button.addEventListener('click', () => copyRows(table));
      const tools = table.closest('.frame').nextElementSibling;
      if (tools?.classList.contains('tools')) tools.append(tools.textContent === '' ? '' : ' · ', button);
      if (table.tBodies[0].rows.length > MANY) addFind(table);
    }
  }

  // Show up to MOST_SHOWN prices at the time under the pointer, lowest first.
  const MOST_SHOWN = 14;
  const tellPrices = (plot) => {
    const { from, to, currency, lines } = JSON.parse(plot.dataset.prices);
    const [tip, cursor] = ['tip', 'cursor'].map((name) => {
      const element = document.createElement('div');
      element.className = name;
      element.hidden = true;
      plot.append(element);
      return element;
    });
    const area = plot.querySelector('.hit');
    const addLine = (name, key, text) => {
      const line = document.createElement('div');
      line.className = key;
      for (const part of [name, text]) line.append(Object.assign(document.createElement('span'), { textContent: part }));
      line.lastChild.className = 'money';
      tip.append(line);
    };
    const show = (event) => {
      const { left, width } = area.getBoundingClientRect();
      const share = Math.min(1, Math.max(0, (event.clientX - left) / width));
      // At the right edge, show the prices at the end of the chart.
      const at = share > 0.99 ? to : from + share * (to - from);
      const asked = lines.flatMap(({ name, key, steps }) => {
        const step = steps.findLast(([begin, end]) => begin <= at && (at < end || end === to));
        return step === undefined ? [] : [{ name, key, text: step[2], price: Number(step[2].replaceAll(',', '')) }];
      });
      asked.sort((a, b) => a.price - b.price);
      const head = document.createElement('p');
      head.textContent = toDay.format(at).replace('Sept', 'Sep') + ', ' + currency;
      tip.replaceChildren(head);
      for (const { name, key, text } of asked.slice(0, MOST_SHOWN)) addLine(name, key, text);
      if (asked.length > MOST_SHOWN) addLine('and ' + (asked.length - MOST_SHOWN) + ' more', 'line-rest', '');
      if (asked.length === 0) addLine('not sold', 'line-rest', '');
      localize(tip);
      tip.hidden = cursor.hidden = false;
      const { left: edge, width: room } = plot.getBoundingClientRect();
      const x = left - edge + share * width;
      cursor.style.left = x + 'px';
      const before = x > room / 2;
      tip.style.left = before ? '' : x + 12 + 'px';
      tip.style.right = before ? room - x + 12 + 'px' : '';
    };
    plot.addEventListener('pointermove', show);
    plot.addEventListener('pointerdown', show);
    plot.addEventListener('pointerleave', () => { tip.hidden = cursor.hidden = true; });
  };
  for (const plot of document.querySelectorAll('[data-prices]')) tellPrices(plot);

  // Make tables that are wider than the screen scrollable by keyboard, even tables that are expanded later.
  const watchWidth = new ResizeObserver((entries) => {
    for (const { target: frame } of entries) {
      if (frame.scrollWidth <= frame.clientWidth) continue;
      frame.tabIndex = 0;
      frame.setAttribute('role', 'group');
      frame.setAttribute('aria-label', frame.querySelector('caption').textContent);
    }
  });
  for (const frame of document.querySelectorAll('.frame')) watchWidth.observe(frame);
})();
`;
