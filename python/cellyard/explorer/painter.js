// One set of drawing calls for a canvas on the page and for a file in SVG.

const FONT = '12px system-ui, "DejaVu Sans", sans-serif';

/** Draws on a canvas, `height` CSS pixels high and as wide as it stands on the page. */
export class CanvasPainter {
  constructor(canvas, height) {
    const scale = globalThis.devicePixelRatio || 1;
    this.width = canvas.clientWidth || 600;
    this.height = height;
    canvas.width = Math.round(this.width * scale);
    canvas.height = Math.round(height * scale);
    canvas.style.height = `${height}px`;
    this.context = canvas.getContext('2d');
    this.context.setTransform(scale, 0, 0, scale, 0, 0);
    this.context.clearRect(0, 0, this.width, height);
    this.context.font = FONT;
    /** What was written where, for tests. */
    this.texts = canvas.texts = [];
  }

  rect(x, y, width, height, colour) {
    this.context.fillStyle = colour;
    this.context.fillRect(x, y, width, height);
  }

  /** A line through points [x, y, x, y, ...]. */
  line(points, colour, { width = 1, dash = [] } = {}) {
    const { context } = this;
    context.strokeStyle = colour;
    context.lineWidth = width;
    context.setLineDash(dash);
    context.beginPath();
    for (let i = 0; i < points.length; i += 2) context.lineTo(points[i], points[i + 1]);
    context.stroke();
  }

  /** A text, with a halo of another colour where it may stand on something. */
  text(x, y, text, colour, anchor = 'start', halo = null) {
    const { context } = this;
    context.textAlign = anchor === 'middle' ? 'center' : anchor;
    if (halo) {
      context.strokeStyle = halo;
      context.lineWidth = 3;
      context.setLineDash([]);
      context.strokeText(text, x, y);
    }
    context.fillStyle = colour;
    context.fillText(text, x, y);
    const width = this.measure(text);
    this.texts.push({ text, left: x - width * { start: 0, middle: 0.5, end: 1 }[anchor], width, y });
  }

  /** Width of a text. */
  measure(text) {
    return this.context.measureText(text).width;
  }
}

/** Collects the same calls as elements of SVG. */
export class SvgPainter {
  constructor(width, height) {
    this.width = width;
    this.height = height;
    this.parts = [];
  }

  rect(x, y, width, height, colour) {
    this.parts.push(`<rect x="${r(x)}" y="${r(y)}" width="${r(width)}" height="${r(height)}" fill="${colour}"/>`);
  }

  line(points, colour, { width = 1, dash = [] } = {}) {
    const at = Array.from(points, r).join(' ');
    const dashes = dash.length ? ` stroke-dasharray="${dash.join(' ')}"` : '';
    this.parts.push(`<polyline points="${at}" fill="none" stroke="${colour}" stroke-width="${width}"${dashes}/>`);
  }

  text(x, y, text, colour, anchor = 'start', halo = null) {
    const around = halo ? ` stroke="${halo}" stroke-width="3" paint-order="stroke"` : '';
    this.parts.push(`<text x="${r(x)}" y="${r(y)}" fill="${colour}" text-anchor="${anchor}"${around}>${escaped(text)}</text>`);
  }

  /** About the width of a text. */
  measure(text) {
    return 6.6 * text.length;
  }

  /** The drawing, moved down by `top`, to stand below others. */
  group(top) {
    return `<g transform="translate(0 ${top})">${this.parts.join('\n')}</g>`;
  }
}

/** A file of drawings below each other, `{painter, caption}`, each with `room` for its caption. */
export function svgFile(drawings, room, { ink, back }) {
  let top = 0;
  const groups = drawings.map(({ painter, caption }) => {
    const group = painter.group(top + room);
    const title = `<text x="4" y="${top + 15}" fill="${ink}">${escaped(caption)}</text>`;
    top += painter.height + room;
    return `${title}\n${group}`;
  });
  const width = Math.max(...drawings.map(({ painter }) => painter.width));
  const font = 'font-family="system-ui, DejaVu Sans, sans-serif" font-size="12"';
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${top}" ${font}>
<rect width="100%" height="100%" fill="${back}"/>
${groups.join('\n')}
</svg>
`;
}

function r(number) {
  return Number(number.toFixed(2));
}

function escaped(text) {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
