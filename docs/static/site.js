// Tables and pictures that fit a phone: site.css has the looks.

const PROSE = 24; // mean characters of the cells of a column that is read as sentences

for (const table of document.querySelectorAll('article table')) {
  const heads = [...table.querySelectorAll('thead th, thead td')].map((head) => head.textContent.trim());
  const rows = [...table.querySelectorAll('tbody tr')].map((row) => [...row.cells]);
  const lengths = heads.map((_, column) => rows.map((cells) => cells[column]?.textContent.length ?? 0));
  const mean = (values) => values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length);
  if (heads.length <= 5 && lengths.some((column) => mean(column) > PROSE)) table.classList.add('prose');
  for (const cells of rows) {
    cells.forEach((cell, column) => {
      if (heads.length > 2) cell.dataset.label = heads[column] ?? '';
      if (/^[-+]?[\d.\u202f]+( ?± ?[\d.]+)?( ?%)?$/.test(cell.textContent.trim())) cell.classList.add('number');
    });
  }
}

for (const picture of document.querySelectorAll('article img.wide:not(.thumbnail)')) {
  const frame = document.createElement('span');
  frame.className = `picture ${[...picture.classList].filter((name) => name.startsWith('only-')).join(' ')}`;
  frame.tabIndex = 0;
  picture.replaceWith(frame);
  frame.append(picture);
}
