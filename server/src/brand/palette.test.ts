// The accents of a provider: texts keep WCAG's contrast whatever color is configured.
import assert from 'node:assert/strict'
import { it } from 'node:test'
import * as fc from 'fast-check'
import { accentsOf, brandStyle, contrastOf, type Scheme } from './palette.ts'
import { scaled } from '../runtime/testing-scale.ts'

const grounds = {
  light: ['#f6f7f9', '#ffffff', '#f0f2f5'],
  dark: ['#0b1016', '#121920', '#182028'],
} satisfies Record<Scheme, string[]>

function assertReadable(color: string): void {
  for (const scheme of ['light', 'dark'] as const) {
    const found = accentsOf(color, scheme)
    for (const value of Object.values(found)) assert.match(value, /^#[0-9a-f]{6}$/)
    const texts = [
      ...[...grounds[scheme], found['accent-weak']].map((ground) => [found.accent, ground] as const),
      [found['on-accent'], found['accent-fill']] as const,
      [found['on-accent'], found['accent-hover']] as const,
    ]
    for (const [text, ground] of texts)
      assert.ok(contrastOf(text, ground) >= 4.5, `${color} ${scheme}: ${text} on ${ground}`)
  }
}

it('every accent is readable in both color schemes', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 0xff_ff_ff }), (value) =>
      assertReadable(`#${value.toString(16).padStart(6, '0')}`),
    ),
    { numRuns: scaled(2_000) },
  )
  for (const color of ['#000000', '#ffffff', '#ffff00', '#0000ff', '#777777', '#0f766e'])
    assertReadable(color)
})

it('an accent that is readable is used as it is', () => {
  assert.equal(accentsOf('#1b5fd0', 'light').accent, '#1b5fd0')
  assert.equal(accentsOf('#1b5fd0', 'light')['accent-fill'], '#1b5fd0')
})

it('contrast is that of WCAG', () => {
  assert.equal(contrastOf('#000000', '#ffffff'), 21)
  assert.ok(Math.abs(contrastOf('#767676', '#ffffff') - 4.54) < 0.01)
})

it('without an accent the style sheet is empty', () => {
  assert.equal(brandStyle(null), '')
  assert.match(brandStyle('#0f766e'), /^:root \{\n {2}--accent: #[0-9a-f]{6};/)
})
