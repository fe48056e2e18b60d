// Logos: drawings are accepted, anything that could run, load or link is not.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { it } from 'node:test'
import { logoObjection } from './logo.ts'

const svg = (inside: string, attributes = '') =>
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1"${attributes}>${inside}</svg>`

it('accepts a drawing, also the logo of the demo', () => {
  assert.equal(logoObjection(svg('<path d="M0 0h1" fill="url(#a)"/><title>A &amp; B</title>')), undefined)
  assert.equal(logoObjection(`<?xml version="1.0"?>\n<!-- by us -->\n${svg('')}\n`), undefined)
  const demo = readFileSync(new URL('../../../demo/logo.svg', import.meta.url), 'utf8')
  assert.equal(logoObjection(demo), undefined)
})

for (const [what, text] of Object.entries({
  'a script': svg('<script>alert(1)</script>'),
  'a script in capitals': svg('<SCRIPT>alert(1)</SCRIPT>'),
  'a handler': svg('', ' onload="alert(1)"'),
  'foreign content': svg('<foreignObject></foreignObject>'),
  'a link': svg('<a href="https://example.net"></a>'),
  'another image': svg('<image href="https://example.net/a.png"/>'),
  'a reference': svg('<use href="#a"/>'),
  'a style sheet': svg('<style>@import "https://example.net"</style>'),
  'a style': svg('', ' style="fill:url(https://example.net)"'),
  'a paint of another file': svg('<path fill="url(https://example.net/a.svg#a)"/>'),
  'an entity': `<!DOCTYPE svg [<!ENTITY a "b">]>${svg('&a;')}`,
  'a style sheet of the document': `<?xml-stylesheet href="a.css"?>${svg('')}`,
  'character data': svg('<![CDATA[<script>]]>'),
  'an animation': svg('<animate attributeName="href"/>'),
  'another format': '<html></html>',
  'too much': svg(' '.repeat(70_000)),
})) {
  it(`refuses ${what}`, () => assert.ok(logoObjection(text)))
}
