// Broken files, as an editor, a merge or a template may leave them: the result is a list of problems with their places or a
// plan, never an exception..
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { platformKinds } from '../kinds/index.ts'
import { planPlatform } from './plan.ts'
import { cpuMs } from '../../net/testing-time.ts'
import { checkText, nothing, sampleText } from '../samples.ts'
import { scaled } from '../../runtime/testing-scale.ts'

const runs = scaled(4_000)

/** A seeded generator, so that a failure can be repeated by its number. */
function numbersFrom(seed: number): (below: number) => number {
  let state = seed >>> 0
  return (below) => {
    state = (Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x9e3779b9) >>> 0
    return ((state ^ (state >>> 13)) >>> 0) % below
  }
}

const lines = sampleText.split('\n')
const fragments = [
  ...`{ } [ ] : - , " ' # | > ~ null true 0 -1 1e999 0x1F .nan 999999999999 64497 slug 2001:db8::/129 ::/0`.split(
    ' ',
  ),
  ...`: |- |? |&a |*a|!!binary |<<: |__proto__: |constructor: `.split('|'),
].concat('\n', '\n  ', '\t', '\0', '\u{1F4A9}', '\uD800', '---\n', '%YAML 9.9\n', 'a'.repeat(300))

function mutate(next: (below: number) => number): string {
  let text = sampleText
  // Smaller texts are parsed faster, and break in other ways.
  if (next(4) > 0)
    text = lines
      .slice(next(lines.length))
      .slice(0, 1 + next(12))
      .join('\n')
  for (let times = 1 + next(4); times > 0; times--) {
    const at = next(text.length + 1)
    const length = next(next(2) === 0 ? 3 : 40)
    const part = [
      fragments[next(fragments.length)]!,
      '',
      lines[next(lines.length)]!,
      text.slice(at, at + next(60)),
    ]
    text = text.slice(0, at) + part[next(4)]! + text.slice(at + length)
  }
  return text
}

test(
  `${runs} broken files each result in problems with their places, or in a plan`,
  { timeout: 30_000 * Math.max(1, runs / 4_000) },
  () => {
    let plans = 0
    let slowestMs = 0
    for (let run = 0; run < runs; run++) {
      const text = mutate(numbersFrom(run))
      const began = cpuMs()
      const { problems, desired } = checkText(text)
      const { changes } = planPlatform(platformKinds, desired, nothing, { prune: true, enforce: false })
      slowestMs = Math.max(slowestMs, cpuMs() - began)
      for (const { line, column, message } of problems) {
        assert.ok(
          line! >= 1 && column! >= 1 && line! <= text.split('\n').length + 1,
          `run ${run}: ${line}:${column}`,
        )
        assert.ok(message.length > 0 && !message.includes('\n'), `run ${run}: ${message}`)
      }
      if (problems.length === 0) plans += changes.length > 0 ? 1 : 0
    }
    // Otherwise this would test the YAML parser alone.
    assert.ok(plans > runs / 200, `only ${plans} plans`)
    assert.ok(slowestMs < 10_000, `the slowest took ${slowestMs} ms`)
  },
)

test('deep, wide and long texts have problems', { timeout: 30_000 }, () => {
  const texts = [
    '['.repeat(100_000),
    '{a: '.repeat(50_000),
    '- '.repeat(50_000),
    'teams:\n' + '  - {slug: a}\n'.repeat(5_000),
    'teams: ' + 'x'.repeat(1_000_000),
    '? '.repeat(20_000),
    '"'.repeat(99_999),
  ]
  for (const text of texts) {
    const { problems } = checkText(text)
    assert.ok(problems.length > 0, text.slice(0, 20))
  }
})
