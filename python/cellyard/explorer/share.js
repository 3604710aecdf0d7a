// What can be taken along: a link, TOML, pictures, and captures.
import { element, save } from './dom.js';
import { svgFile } from './painter.js';
import { toFragment } from './state.js';
import { theme } from './theme.js';

/** Fills the menu. */
export function shareMenu(menu, app) {
  const item = (text, act, title) => {
    const button = element('button', { title }, text);
    button.onclick = act;
    return button;
  };
  const group = (name, ...items) => element('p', {}, element('b', {}, name), ...items);
  const ofSide = (side) =>
    group(
      `Variant ${side.name}`,
      item('Copy TOML', () => copy(app, side.read?.toml ?? '', `TOML of ${side.name} copied: the scenario with every value.`)),
      item('Save TOML', () => save(`cellyard-${side.name}.toml`, new Blob([side.read?.toml ?? ''], { type: 'application/toml' }))),
      item('Save cells (pcapng)', () => saveCapture(app, side), 'cells of the watched port in the window shown, for Wireshark'),
    );
  const parts = app.sides.map(ofSide);
  menu.replaceChildren(
    group('Page', item('Copy link', () => copyLink(app)), item('Save PNG', () => savePng(app)), item('Save SVG', () => saveSvg(app))),
    ...parts,
  );
  return parts;
}

async function copy(app, text, done) {
  try {
    await navigator.clipboard.writeText(text);
    app.say(done);
    return true;
  } catch {
    app.say('This browser does not let the page copy: save it instead.');
    return false;
  }
}

/** Copies a link that holds the scenarios themselves, and says for whom it works. */
async function copyLink(app) {
  if (!/^(https?|file):$/.test(location.protocol)) {
    app.say('This frame has no address, so there is no link: save the TOML of both variants instead.');
    return;
  }
  const fragment = toFragment(app.selfContained);
  if (!fragment) {
    app.say('A link cannot hold these scenarios, so none was copied: save the TOML of both variants instead.');
    return;
  }
  const address = location.href.replace(/#.*/s, '') + fragment;
  const here = /^(127\.0\.0\.1|localhost)$/.test(location.hostname) || location.protocol === 'file:';
  const isNamed = app.selfContained.sides.some(({ base }) => !base.includes('\n'));
  const holds = `It holds ${isNamed ? 'the names of examples, the values set' : 'both scenarios'} and the window shown.`;
  const where = here ? ' Its address is on this computer: for others, put what follows # behind the address of their explorer.' : '';
  if (!(await copy(app, address, `Link copied. ${holds}${where}`))) app.say(`${holds}${where} Link: ${address}`);
}

/** All pictures shown, with their captions, as [canvas, caption, painter]. */
function pictures(app) {
  return app.shown.flatMap((side) => side.shownPictures);
}

const CAPTION = 22;

function savePng(app) {
  const shown = pictures(app);
  const { ink, back } = theme();
  const scale = globalThis.devicePixelRatio || 1;
  const whole = element('canvas', {});
  whole.width = Math.max(...shown.map(({ canvas }) => canvas.width));
  whole.height = shown.reduce((sum, { canvas }) => sum + canvas.height + CAPTION * scale, 0);
  const context = whole.getContext('2d');
  context.fillStyle = back;
  context.fillRect(0, 0, whole.width, whole.height);
  context.fillStyle = ink;
  context.font = `${13 * scale}px system-ui, "DejaVu Sans", sans-serif`;
  let top = 0;
  for (const { canvas, caption } of shown) {
    context.fillText(caption, 4 * scale, top + 15 * scale);
    context.drawImage(canvas, 0, top + CAPTION * scale);
    top += canvas.height + CAPTION * scale;
  }
  whole.toBlob((blob) => save('cellyard.png', blob));
}

function saveSvg(app) {
  const { ink, back } = theme();
  const file = svgFile(pictures(app), CAPTION, { ink, back });
  save('cellyard.svg', new Blob([file], { type: 'image/svg+xml' }));
}

/** Saves the cells of the watched port in the window shown, which a separate worker runs again. */
function saveCapture(app, side) {
  if (!side.read) return;
  if (side.read.scenario.format?.cell) {
    side.problem.textContent = 'Captures are defined for the formats aal5 and ethernet only.';
    return;
  }
  const { from, to } = side.picture.view;
  const worker = app.workers.take();
  worker.onmessage = ({ data }) => {
    worker.terminate();
    if (data.errors) side.problem.textContent = data.errors.join('\n');
    else save(`cellyard-${side.name}.pcapng`, new Blob(data.file, { type: 'application/octet-stream' }));
  };
  worker.postMessage({ capture: { request: side.request, port: side.read.port, from, to } });
}
