// Which SVG images are accepted as a logo: drawings only. Elements and attributes are allowed by name, so that no image
// contains a script, a link, a style sheet or a reference to another file. Pure.

const bytesMax = 64 * 1024

const elements = new Set([
  'svg',
  'g',
  'path',
  'rect',
  'circle',
  'ellipse',
  'line',
  'polyline',
  'polygon',
  'title',
  'desc',
  'defs',
  'linearGradient',
  'radialGradient',
  'stop',
  'clipPath',
  'mask',
])
const attributes = new Set([
  'xmlns',
  'viewBox',
  'width',
  'height',
  'x',
  'y',
  'x1',
  'y1',
  'x2',
  'y2',
  'cx',
  'cy',
  'r',
  'rx',
  'ry',
  'fx',
  'fy',
  'd',
  'points',
  'transform',
  'fill',
  'fill-rule',
  'fill-opacity',
  'clip-rule',
  'clip-path',
  'clipPathUnits',
  'mask',
  'maskUnits',
  'stroke',
  'stroke-width',
  'stroke-linecap',
  'stroke-linejoin',
  'stroke-miterlimit',
  'stroke-dasharray',
  'stroke-opacity',
  'opacity',
  'offset',
  'stop-color',
  'stop-opacity',
  'gradientUnits',
  'gradientTransform',
  'id',
  'role',
  'aria-label',
  'preserveAspectRatio',
  'version',
  'color',
])

const tag = /<(\/?)([A-Za-z][\w:.-]*)((?:\s+[\w:.-]+\s*=\s*(?:"[^"<]*"|'[^'<]*'))*)\s*\/?>/g
const attribute = /([\w:.-]+)\s*=\s*(?:"([^"]*)"|'([^']*)')/g

/** Returns why the text is not accepted as a logo; undefined if it is. */
export function logoObjection(text: string): string | undefined {
  if (Buffer.byteLength(text) > bytesMax) return 'the logo must have at most 64 kB'
  const svg = text
    .replace(/^\uFEFF?\s*<\?xml [^?>]*\?>/, '')
    .replaceAll(/<!--[^]*?-->/g, '')
    .trim()
  if (!/^<svg[\s>]/.test(svg) || !svg.endsWith('</svg>')) return 'the logo must be an SVG image'
  for (const [, , name, given] of svg.matchAll(tag)) {
    if (!elements.has(name!)) return `the logo must not contain the element ${name}`
    for (const [, key, double, single] of given!.matchAll(attribute)) {
      if (!attributes.has(key!)) return `the logo must not contain the attribute ${key}`
      const value = double ?? single ?? ''
      if (/url\s*\(/i.test(value) && !/^url\(#[\w-]+\)$/.test(value))
        return 'the logo must not refer to other files'
    }
  }
  // Whatever is left of markup was no tag of the form above.
  if (/[<>]/.test(svg.replaceAll(tag, ''))) return 'the logo must contain plain elements only'
  return undefined
}
