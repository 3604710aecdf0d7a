// Colours of pictures, for a light and for a dark page. Ink and background are those of the style sheet.

/** Okabe and Ito's colours, safe for colour-blind readers, in the order of `cellyard.plot`, then others of the same hues. */
const LIGHT = ['#0072b2', '#d55e00', '#009e73', '#cc79a7', '#56b4e9', '#e69f00', '#b8ab00', '#5f6a72', '#004d79', '#8f3f00', '#00634a', '#9a6a00'];
const DARK = ['#3b9ddd', '#ee7a2b', '#22b98d', '#dd93bb', '#8fd0f5', '#f0b32e', '#e0d84a', '#a7b3bd', '#1c6ea5', '#b5602a', '#0d8a6a', '#b98a2b'];

/** Colours of the reasons for which cells are dropped; the first two are the most frequent. */
const REASONS = { policy: '#c1121f', full: '#111111', rest: '#a8611c', front: '#6a3fb5', police: '#00788a', link: '#777777', any: '#8a1c2b' };
const DARK_REASONS = { ...REASONS, policy: '#ff6b74', full: '#f2f4f6', rest: '#dd9a55', front: '#a98be8', police: '#3fb6c8', link: '#aaaaaa', any: '#ef7b8b' };

/** How many VCs have a colour. */
export const COLOURED = LIGHT.length;

export const scheme = globalThis.matchMedia?.('(prefers-color-scheme: dark)');

/** The colours of the page as it stands: `ink`, `soft`, `back`, `vcs` in order, `others` and `reasons`. */
export function theme() {
  const style = getComputedStyle(document.documentElement);
  const [ink, soft, back] = ['--ink', '--soft', '--back'].map((name) => style.getPropertyValue(name).trim());
  const dark = scheme.matches;
  return { ink, soft, back, vcs: dark ? DARK : LIGHT, others: dark ? '#6b7680' : '#9aa3ab', reasons: dark ? DARK_REASONS : REASONS };
}

/** Places of colours by VC: those that have one keep it while they are among the largest, new ones take what is free. */
export function coloured(largest, before = new Map()) {
  const kept = new Map([...before].filter(([vc]) => largest.includes(vc)));
  const free = Array.from({ length: COLOURED }, (_, place) => place).filter((place) => ![...kept.values()].includes(place));
  for (const vc of largest) if (!kept.has(vc)) kept.set(vc, free.shift());
  return kept;
}
