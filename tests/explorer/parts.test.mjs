// Parts of the page that need no browser. Run by `node --test`.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { test } from 'node:test';
import { Engine } from '../../python/cellyard/explorer/engine.js';
import { Column, after, busiest, rebinned, envelope } from '../../python/cellyard/explorer/bins.js';
import { piecesOf, queueColumns, ticks, timeMarks } from '../../python/cellyard/explorer/charts.js';
import { rangeOf } from '../../python/cellyard/explorer/draws.js';
import { groupsOf, numberAt, position, written } from '../../python/cellyard/explorer/knobs.js';
import { layout, rowsOf } from '../../python/cellyard/explorer/layout.js';
import { instantOf, placeOf } from '../../python/cellyard/explorer/numbers.js';
import { SvgPainter, svgFile } from '../../python/cellyard/explorer/painter.js';
import { crosses, levelsOf, poolOf, probesOf, withNoun } from '../../python/cellyard/explorer/scenario.js';
import { fresh, fromFragment, overrides, runCommand, toFragment, variant } from '../../python/cellyard/explorer/state.js';
import { coloured } from '../../python/cellyard/explorer/theme.js';

/** Numbers that look random and are the same each time. */
function* draws(seed) {
  for (let x = seed; ;) {
    x = (1103515245 * x + 12345) % 2147483648;
    yield x / 2147483648;
  }
}

test('an envelope has every spike and the exact mean', () => {
  const draw = draws(7);
  const next = () => draw.next().value;
  for (let round = 0; round < 50; round++) {
    const time = Array.from({ length: 60 }, next).sort((a, b) => a - b);
    const value = time.map(() => Math.floor(9 * next()));
    const [from, to, n] = [0.1, 0.9, 1 + Math.floor(12 * next())];
    const found = envelope(time, value, from, to, n);
    const at = (t) => (after(time, t) ? value[after(time, t) - 1] : 0);
    for (let bin = 0; bin < n; bin++) {
      const [a, b] = [from + (bin * (to - from)) / n, from + ((bin + 1) * (to - from)) / n];
      const inside = time.filter((t) => t > a && t < b);
      const seen = [at(a), ...inside.map(at)];
      assert.equal(found.lo[bin], Math.min(...seen));
      assert.equal(found.hi[bin], Math.max(...seen));
      const ends = [a, ...inside, b];
      const mean = seen.reduce((sum, v, i) => sum + v * (ends[i + 1] - ends[i]), 0) / (b - a);
      assert.ok(Math.abs(found.mean[bin] - mean) < 1e-5 * (1 + mean));
    }
  }
});

test('an envelope in wider bins has the spikes and the mean of its intervals', () => {
  const series = { time: [1, 2, 3, 3.5], least: [0, 1, 0, 2], mean: [1, 2, 3, 4], greatest: [5, 9, 4, 8] };
  const { lo, hi, mean } = rebinned(series, 0, 3.5, 2);
  assert.deepEqual(
    [[...lo], [...hi]],
    [
      [0, 0],
      [9, 9],
    ],
  );
  assert.ok(Math.abs(mean[0] - (1 + 0.75 * 2) / 1.75) < 1e-6);
  assert.ok(Math.abs(mean[1] - (0.25 * 2 + 3 + 0.5 * 4) / 1.75) < 1e-6);
  const close = rebinned(series, 1.25, 1.5, 3);
  assert.deepEqual(
    [[...close.lo], [...close.hi], [...close.mean]],
    [
      [1, 1, 1],
      [9, 9, 9],
      [2, 2, 2],
    ],
  );
});

test('before the first point a series is zero, and pieces make one column', () => {
  const column = new Column();
  column.add([1, 2]);
  column.add(new Float64Array(3000).fill(3));
  assert.equal(column.all.length, 3002);
  assert.deepEqual([...envelope([0.5], [4], 0, 1, 2).mean], [0, 4]);
});

test('cells wait in the order in which they came', () => {
  const a = { vc: 'a', time: [1, 2, 4], value: [1, 2, 1] };
  const b = { vc: 'b', time: [1.5, 5], value: [1, 0] };
  const columns = queueColumns([a, b], { from: 0, to: 6 });
  assert.deepEqual(
    columns.map(({ from, cells }) => [from, cells.join('')]),
    [
      [0, ''],
      [1, 'a'],
      [1.5, 'ab'],
      [2, 'aba'],
      [4, 'ba'],
      [5, 'a'],
    ],
  );
});

test('a state survives its address, and what is long has none', () => {
  const state = fresh(variant('lan-5', { duration: '1 s' }), variant('a = 1\n'), {
    port: 'west->east',
    from: 0.25,
    to: 0.5,
  });
  const known = (name) => name === 'lan-5';
  assert.deepEqual(fromFragment(toFragment(state), known), state);
  assert.equal(fromFragment('', known), null);
  assert.equal(toFragment(fresh(variant('x\n'.repeat(9000)), variant('lan-5'))), null);
});

test('a hostile address gets a message, and unknown parts are left out', () => {
  const known = (name) => name === 'lan-5';
  const good = { base: 'lan-5', set: {} };
  const fragment = (value) => `#${encodeURIComponent(typeof value === 'string' ? value : JSON.stringify(value))}`;
  const hostile = [
    '{',
    '[]',
    'null',
    '7',
    {},
    { sides: [] },
    { sides: [good] },
    { sides: [good, null] },
    { sides: [good, { base: 7 }] },
    { sides: [good, { base: '__proto__', set: {} }] },
    { sides: [good, { base: 'lan-5', set: { '<img onerror=1>': 'x' } }] },
    { sides: [good, { base: 'lan-5', set: { duration: 7 } }] },
    { sides: [good, { base: 'lan-5', set: { duration: 'x'.repeat(4097) } }] },
    { sides: [good, { base: 'lan-5', set: Object.fromEntries(Array.from({ length: 61 }, (_, i) => [`a${i}`, '1'])) }] },
    'x'.repeat(9000),
  ];
  for (const one of hostile)
    assert.throws(() => fromFragment(fragment(one), known), /^Error: (The link |This is not a valid explorer link)/, JSON.stringify(one));
  assert.throws(() => fromFragment('#%E0%A4%A', known), /not a valid explorer link/);
  const odd = fromFragment(
    fragment({ sides: [good, good], port: '<b>', from: 'x', to: -1, vc: {}, more: 1, both: 0 }),
    known,
  );
  assert.deepEqual(odd, fresh(variant('lan-5'), variant('lan-5')));
});

const WASM = new URL('../../python/cellyard/explorer/engine.wasm', import.meta.url);

test('a link keeps every name that the engine allows', { skip: !existsSync(WASM) }, async () => {
  const engine = await Engine.load(readFileSync(WASM));
  const draw = draws(11);
  const next = (n) => Math.floor(n * draw.next().value);
  const odd = [...'_-/>:+', 'é', '北', '٣', 'Ⅷ', '½', 'ா', 'ⓐ', '𝒳'];
  let allowed = 0;
  for (let round = 0; round < 600; round++) {
    const any = () => (next(4) ? odd[next(odd.length)] : String.fromCodePoint(32 + next(next(2) ? 0x3000 : 0x1ffff)));
    const letters = Array.from({ length: 1 + next(5) }, any).join('');
    // Characters that this Unicode does not know yet, and halves of one, are not compared.
    if (/[\p{Cn}\p{Cs}]/u.test(letters)) continue;
    const name = `a${letters}`.padEnd(next(2) ? 64 : 1, 'é');
    const names = JSON.stringify(name);
    const toml = `name = "x"\nduration = "1 ms"\nhost = [{ name = ${names} }, { name = "b" }]\nlink = [{ from = ${names}, to = "b", rate = "1 Mbps" }]\nvc = [{ name = ${names}, from = ${names}, to = "b", traffic = "udp" }]\n`;
    const read = JSON.parse(engine.text('read_scenario', { toml, overrides: [] }));
    if (read.errors) continue;
    allowed++;
    const [port, vc] = [read.scenario.links[0].name, read.scenario.vcs[0].name];
    const state = fresh(variant('a = 1\n', { [`vc.${name}.start`]: '0 s' }), variant('a = 1\n'), { port, vc });
    assert.deepEqual(fromFragment(toFragment(state), () => true), state, name);
  }
  assert.ok(allowed > 100, allowed);
});

test('a state that a link would not give back has none', () => {
  const sets = (n) => Object.fromEntries(Array.from({ length: n }, (_, i) => [`a${i}`, '1']));
  assert.ok(toFragment(fresh(variant('lan-5', sets(60)), variant('lan-5'))));
  assert.equal(toFragment(fresh(variant('lan-5', sets(61)), variant('lan-5'))), null);
});

test('a shell takes the words of a command as they are', () => {
  const signs = [..."a '\"$`\\!*?;&|<>()#~\t\n-é"];
  const draw = draws(3);
  for (let round = 0; round < 60; round++) {
    const text = () => Array.from({ length: 1 + Math.floor(12 * draw.next().value) }, () => signs[Math.floor(signs.length * draw.next().value)]).join('');
    const [file, value] = [`${text()}.toml`, text()];
    const script = `cellyard() { printf '%s\\0' "$@"; }\n${runCommand(file, { 'a.b': value })}`;
    const words = execFileSync('sh', ['-c', script], { encoding: 'utf8', cwd: '/' }).split('\0');
    assert.deepEqual(words, ['run', file.startsWith('-') ? `./${file}` : file, '--set', `a.b=${value}`, '']);
  }
  assert.equal(runCommand('lan-5.toml', {}), 'cellyard run lan-5.toml');
});

test('components are set before what is in them', () => {
  assert.deepEqual(
    overrides({ 'a.b.c': '1', 'a.b': 'x', d: '2' }).map(([path]) => path),
    ['d', 'a.b', 'a.b.c'],
  );
});

test('a slider keeps its number', () => {
  for (const slider of [
    { min: 5, max: 5000, log: true },
    { min: 0, max: 2, step: 0.02, log: false },
  ]) {
    for (const place of [0, 130, 500, 1000]) assert.ok(Math.abs(position(slider, numberAt(slider, place)) - place) <= 5);
  }
  assert.equal(written(1234.5, 'cells', true), '1235 cells');
  assert.equal(written(0.123456, '', false), '0.123');
});

test('knobs come from the file and the registry', () => {
  const number = { type: 'cells', minimum: '1 cell', maximum: '100 cells', units: ['cells'] };
  const p = (name, kind, text = '') => ({ name, kind, help: 'h', allowed: 'a', default_text: text });
  const none = (name) => ({ name, tag: null, components: [{ name, parameters: [] }] });
  const families = [
    none('scenario'),
    none('link'),
    none('vc'),
    { name: 'host', tag: null, components: [{ name: 'host', parameters: [p('count', { type: 'integer' })] }] },
    {
      name: 'switch',
      tag: null,
      components: [{ name: 'switch', parameters: [p('ubr', { type: 'component', family: 'queue' })] }],
    },
    {
      name: 'queue',
      tag: null,
      components: [
        { name: 'queue', parameters: [p('buffer', number, 'unlimited'), p('drop', { type: 'component', family: 'drop' })] },
      ],
    },
    {
      name: 'drop',
      tag: 'policy',
      components: [
        { name: 'epd', parameters: [] },
        { name: 'fba', parameters: [p('z', { type: 'decimal', maximum: 1000 }, '0.8')] },
        { name: 'program', parameters: [p('refuse', { type: 'program' })] },
      ],
    },
  ];
  const tree = {
    host: [
      { name: 's', count: 2 },
      { name: 'd', count: 2 },
    ],
    vc: [{ from: 's', to: 'd' }],
    switch: [{ name: 'w', ubr: { buffer: '9 cells', drop: 'epd' } }],
  };
  const paths = (set) => groupsOf(tree, families, set).flatMap((group) => group.knobs.map((knob) => knob.paths.join(' ')));
  assert.deepEqual(paths({}), ['host.0.count host.1.count', 'switch.0.ubr.buffer', 'switch.0.ubr.drop']);
  assert.ok(paths({ 'switch.0.ubr.drop': 'fba' }).includes('switch.0.ubr.drop.z'));
  const labels = groupsOf(tree, families, { 'switch.0.ubr.drop': 'fba' }).flatMap((group) => group.knobs.map((knob) => knob.label));
  assert.deepEqual(labels, ['number of senders', 'buffer of w', 'drop policy of w', 'Z of fba at w']);
  tree.switch[0].ubr.drop = { policy: 'program', refuse: 'X > R', R: '0.9 K' };
  const of = (name) => groupsOf(tree, families, {}).flatMap((group) => group.knobs).find((knob) => knob.paths[0].endsWith(`drop.${name}`));
  assert.ok(of('refuse').lines && of('refuse').value === 'X > R');
  assert.deepEqual([of('R').value, of('R').slider.unit, of('R').slider.max], ['0.9 K', 'K', 1]);
});

test('a stated format is a knob, with the MTU of packets', () => {
  const p = (name, kind, text) => ({ name, kind, help: 'h', allowed: 'a', default_text: text });
  const one = (name, parameters) => ({ name, tag: null, components: [{ name, parameters }] });
  const components = [
    { name: 'aal5', parameters: [] },
    { name: 'cells', parameters: [p('cell', { type: 'bytes' }, '')] },
    { name: 'ethernet', parameters: [p('mtu', { type: 'bytes' }, '1500 bytes')] },
  ];
  const families = [
    one('scenario', [p('format', { type: 'component', family: 'format' }, 'aal5')]),
    ...['host', 'switch', 'link', 'vc'].map((name) => one(name, [])),
    { name: 'format', tag: 'kind', untagged: 'cells', components },
  ];
  const shown = (tree, set = {}) => groupsOf(tree, families, set).flatMap((group) => group.knobs.map((knob) => [knob.label, knob.value]));
  assert.deepEqual(shown({}), []);
  assert.deepEqual(shown({ format: 'ethernet' }), [['format', 'ethernet'], ['MTU', '']]);
  const jumbo = { kind: 'ethernet', mtu: '9 kB' };
  assert.deepEqual(shown({ format: jumbo }), [['format', 'ethernet'], ['MTU', '9 kB']]);
  assert.deepEqual(shown({ format: jumbo }, { format: 'aal5' }), [['format', 'aal5']]);
  assert.deepEqual(shown({ format: { cell: '64 B' } }), [['format', 'cells'], ['cell', '64 B']]);
  const choices = (format) => groupsOf({ format }, families, {})[0].knobs[0].choices;
  assert.deepEqual([choices('aal5'), choices({ cell: '64 B' }).length], [['aal5', 'ethernet'], 3]);
});

test('a profile changes the defaults that knobs show', () => {
  const p = (name, kind, text) => ({ name, kind, help: 'h', allowed: 'a', default_text: text });
  const profiles = [{ name: '1996', sets: {} }, { name: 'linux', sets: { rwnd: '6 MB', handshake: 'true' } }];
  const parameters = [
    p('profile', { type: 'choice', choices: profiles }, '1996'),
    p('rwnd', { type: 'bytes' }, '65535 bytes'),
    p('handshake', { type: 'bool' }, 'false'),
    p('mss', { type: 'bytes' }, '512 bytes'),
  ];
  const one = (name, fields, tag = null) => ({ name, tag, components: [{ name, parameters: fields }] });
  const traffic = { ...one('tcp', parameters, 'kind'), name: 'traffic' };
  const vc = one('vc', [p('traffic', { type: 'component', family: 'traffic' }, '')]);
  const families = [...['scenario', 'host', 'switch', 'link'].map((name) => one(name, [])), vc, traffic];
  const shown = (fields, set) => {
    const knobs = groupsOf({ vc: [{ traffic: { kind: 'tcp', ...fields } }] }, families, set).flatMap((group) => group.knobs);
    return ['rwnd', 'handshake', 'mss'].map((name) => knobs.find((knob) => knob.paths[0].endsWith(`.${name}`)).default);
  };
  const [old, linux] = [['65535 bytes', 'false', '512 bytes'], ['6 MB', 'true', '512 bytes']];
  assert.deepEqual(shown({}, {}), old);
  assert.deepEqual(shown({ profile: 'linux', rwnd: '9 kB' }, {}), linux);
  assert.deepEqual(shown({}, { 'vc.0.traffic.profile': 'linux' }), linux);
  assert.deepEqual(shown({ profile: 'linux' }, { 'vc.0.traffic.profile': '1996' }), old);
});

test('what is recorded follows the port and the VC', () => {
  const vc = { name: 'v', from: 'a', to: 'd', route: ['b', 'c'], class: 'ubr', traffic: { kind: 'tcp' } };
  const scenario = {
    vcs: [vc],
    links: [
      { name: 'b->c', from: 'b', to: 'c' },
      { name: 'b->x', from: 'b', to: 'x' },
    ],
    switches: [{ name: 'b', pool: null }],
  };
  const port = { switch: 'b', can_queue: true, queues: [{ class: 'ubr', alpha: null, places: 9 }] };
  const description = { ports: ['b->c', 'b->x'].map((name) => ({ ...port, name })) };
  assert.ok(crosses(vc, { from: 'c', to: 'b' }) && !crosses(vc, { from: 'b', to: 'd' }));
  const whats = (port, chosen) => probesOf({ description, scenario }, port, chosen, null).map(({ what }) => what);
  assert.deepEqual(whats('b->c', 'v'), ['queue', 'queue', 'cwnd', 'ssthresh', 'sequence', 'acknowledged', 'trace']);
  assert.deepEqual(whats('b->x', null), ['queue', 'trace']);
  const sampled = probesOf({ description, scenario }, 'b->x', null, 1000);
  assert.deepEqual(
    sampled.map(({ what, interval }) => [what, interval]),
    [
      ['queue', 1000],
      ['drops', 1000],
    ],
  );
  const envelopes = probesOf({ description, scenario }, 'b->c', null, 1000, 'envelope');
  assert.ok(envelopes.every(({ what, envelope, interval }) => (what === 'drops' ? interval : envelope && !interval)));
});

test('a port of a pool is recorded with the ports that share it, and with its thresholds', () => {
  const queues = [
    { class: 'abr', alpha: { num: 1, den: 2 }, places: 90 },
    { class: 'ubr', alpha: null, places: 90 },
  ];
  const port = (name, of, more) => ({ name, switch: of, can_queue: true, queues, ...more });
  const idle = { queues: queues.map((queue) => ({ ...queue, places: null })) };
  const ports = [port('b->a', 'b', {}), port('c->d', 'c', {}), port('b->c', 'b', {}), port('b->x', 'b', idle)];
  ports.push(port('b->y', 'b', { can_queue: false }));
  const scenario = { vcs: [], links: [], switches: [{ name: 'b', pool: { buffer: 90 } }, { name: 'c' }] };
  const read = { description: { ports }, scenario };
  assert.deepEqual(poolOf(read, 'b->c').ports, ['b->c', 'b->a']);
  for (const name of ['b->x', 'b->y', 'c->d', null]) assert.equal(poolOf(read, name), null);
  assert.deepEqual(probesOf(read, 'b->c', null, 1000), [
    { what: 'queue', of: 'b->c', interval: 1000 },
    { what: 'pool', of: 'b', interval: 1000 },
    { what: 'queue', of: 'b->a', interval: 1000 },
    { what: 'threshold', of: 'b->c', class: 'abr', interval: 1000 },
    { what: 'drops', of: 'b->c', interval: 1000 },
  ]);
});

test('buffer and thresholds are levels of the queue', () => {
  const queue = (drop) => ({ ports: [{ name: 'p', queues: [{ class: 'ubr', places: 1000, drop }] }] });
  assert.deepEqual(levelsOf(queue({ policy: 'epd', threshold: null, reserve: null }), 'p'), [
    ['buffer', 1000],
    ['threshold', 800],
  ]);
  assert.deepEqual(levelsOf(queue({ policy: 'fba', r: { fraction: { num: 9, den: 10 } }, z: { num: 8, den: 10 } }), 'p'), [
    ['buffer', 1000],
    ['R', 900],
  ]);
  assert.deepEqual(levelsOf(queue({ policy: 'epd', threshold: null, reserve: { bytes: 90 } }), 'p')[1], ['threshold', 910]);
});

test('a scale has round marks, and a file of SVG escapes its texts', () => {
  assert.deepEqual(ticks(0, 1000, 4), [0, 500, 1000]);
  const painter = new SvgPainter(100, 50);
  painter.text(1, 2, '<script>&', '#000');
  painter.line([0, 0, 1, 1], '#000', { dash: [2, 2] });
  const file = svgFile([{ painter, caption: 'A <b>' }], 20, { ink: '#000', back: '#fff' });
  assert.match(file, /&lt;script&gt;&amp;/);
  assert.match(file, /A &lt;b&gt;/);
});

test('labels have the noun of all formats shown, and field names none', () => {
  const [cells, packets] = [{ noun: 'cell' }, { noun: 'packet' }];
  assert.equal(withNoun('longest queue, cells', [packets, packets]), 'longest queue, packets');
  assert.equal(withNoun('mean cell delay', [packets]), 'mean packet delay');
  assert.equal(withNoun('longest queue, cells', [cells, packets]), 'longest queue, cells');
  assert.equal(withNoun('max_queue_cells', [packets]), 'max_queue_cells');
  assert.equal(withNoun('longest queue, memory cells', [packets]), 'longest queue, memory cells');
  const drop = { time_s: 1.976064e-5, frame: 7, cell: 0 };
  assert.deepEqual([cells, packets].map((format) => placeOf(drop, format)), ['frame 7, cell 0', 'packet 7']);
  assert.equal(instantOf(drop), '0.019761 ms');
});

test('a line is cut where it leaves the picture', () => {
  const at = { bin: (k) => k, y: (value) => value };
  const pieces = (lo, hi) => piecesOf({ lo, hi }, at, { n: lo.length }, 5);
  assert.deepEqual(pieces([1, 2], [1, 9]), [[0.5, 1, 1.5, 2, 1.5, 5]]);
  assert.deepEqual(pieces([6, 1, 7, 8, 5], [6, 1, 7, 8, 5]), [[1.5, 1], [4.5, 5]]);
  assert.deepEqual(pieces([6, 7], [9, 9]), []);
});

test('marks of time are apart and their units are on them', () => {
  const texts = (from, to) => timeMarks({ from, to }, 4).map(({ text }) => text);
  assert.deepEqual(texts(0, 5), ['0 s', '2 s', '4 s']);
  assert.deepEqual(texts(0.9, 0.91), ['900 ms', '905 ms', '910 ms']);
  assert.deepEqual(texts(0.308995, 0.309005), ['308.995 ms', '+5 \u00b5s', '+10 \u00b5s']);
  for (const { time, text } of timeMarks({ from: 12.3, to: 12.300001 }, 4)) assert.ok(time >= 12.3 - 1e-9 && text.length < 14, text);
});

test('the largest burst is found, however long the pause', () => {
  const hi = Array.from({ length: 100 }, (_, k) => ({ 1: 5, 57: 3, 58: 9, 60: 9, 90: 0.1 })[k] ?? 0);
  assert.deepEqual(busiest(hi, hi), [57, 60]);
  assert.equal(busiest([0, 0], [0, 0]), null);
});

test('a range leaves out the lowest and the highest of twenty', () => {
  const numbers = Array.from({ length: 20 }, (_, i) => (7 * i) % 20);
  assert.deepEqual(rangeOf(numbers), [1, 18]);
  assert.deepEqual(rangeOf([3, 1, 2]), [1, 3]);
  assert.equal(rangeOf([1, null]), null);
  assert.equal(rangeOf([]), null);
});

test('a VC keeps its colour while it has one', () => {
  const first = coloured(['a', 'b', 'c']);
  assert.deepEqual([...coloured(['c', 'd', 'a'], first)].sort(), [['a', 0], ['c', 2], ['d', 1]]);
});

test('many equal hosts share a place, and few do not', () => {
  const hosts = (base, n) => Array.from({ length: n }, (_, i) => ({ name: `${base}${i + 1}` }));
  const labels = (list) => rowsOf(list).map((row) => row.label);
  assert.deepEqual(labels([...hosts('sender', 64), { name: 'clock' }]), ['sender 1 to 64', 'clock']);
  assert.deepEqual(labels(hosts('s', 3)), ['s1', 's2', 's3']);
  assert.deepEqual(labels([...hosts('a', 9).slice(1), { name: 'a20' }]), ['9 a']);
});

test('networks fit their drawing at any width', { skip: !existsSync(WASM) }, async () => {
  const engine = await Engine.load(readFileSync(WASM));
  const folder = new URL('../../python/cellyard/examples/', import.meta.url);
  for (const file of readdirSync(folder).filter((name) => name.endsWith('.toml'))) {
    const read = engine.ask('read_scenario', { toml: readFileSync(new URL(file, folder), 'utf8'), overrides: [] });
    for (const width of [358, 560, 930]) {
      const { height, rows, boxes, marks } = layout(read, width, (text) => 6.6 * text.length);
      const inside = (x, y) => assert.ok(x >= 0 && x <= width && y >= 0 && y <= height, `${file} ${width}: ${x} ${y}`);
      for (const { x, y, label, side } of rows) inside(x + (side === 'left' ? -1 : 1) * (8 + 6.6 * label.length), y);
      for (const { x, y, width: wide, height: tall } of boxes) {
        inside(x, y);
        inside(x + wide, y + tall);
      }
      const hosts = rows.flatMap((row) => row.hosts).map((host) => host.name);
      for (const { from, to } of read.scenario.vcs) assert.ok(hosts.includes(from) && hosts.includes(to), file);
      const drawn = marks.flatMap((mark) => mark.ports).map((port) => port.name);
      const queueing = read.description.ports.filter((port) => port.can_queue && port.data_vcs);
      for (const { name } of queueing) assert.ok(drawn.includes(name), `${file}: ${name}`);
    }
  }
});
