import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { describeHiddenCharacter, findHiddenCharacter } from './text.ts'

const codeOf = (text: string, format: 'line' | 'paragraphs' = 'line') =>
  findHiddenCharacter(format, text)?.codePoint

describe('text that others read', () => {
  const controls = [0x00, 0x07, 0x1b, 0x7f, 0x85]
  const directions = [
    0x061c, 0x200e, 0x200f, 0x202a, 0x202b, 0x202c, 0x202d, 0x202e, 0x2066, 0x2067, 0x2068, 0x2069,
  ]
  const invisible = [
    0xad, 0x180e, 0x200b, 0x2028, 0x2029, 0x2060, 0x2064, 0x206f, 0x3164, 0xfeff, 0xfff9, 0xe0001, 0xe0041,
  ]
  const refused = [...controls, ...directions, ...invisible]
  for (const code of refused) {
    const codePoint = `U+${code.toString(16).toUpperCase().padStart(4, '0')}`
    it(`may not contain ${codePoint}`, () => {
      const text = `a${String.fromCodePoint(code)}b`
      assert.equal(codeOf(text), codePoint)
      assert.equal(codeOf(text, 'paragraphs'), codePoint)
    })
  }

  it('may contain tabs and line breaks in the format of several lines only', () => {
    for (const [character, codePoint] of [
      ['\t', 'U+0009'],
      ['\n', 'U+000A'],
      ['\r', 'U+000D'],
    ] as const) {
      assert.equal(codeOf(`a${character}b`), codePoint)
      assert.equal(codeOf(`a${character}b`, 'paragraphs'), undefined)
    }
  })

  it('may be in any script, with the joiners that it needs, and contain emoji', () => {
    for (const text of ['', 'Zoë', 'نتیجه‌ها', 'क्‍ष', 'שלום', '日本 葛󠄀', '👩‍💻 ❤️‍🔥', 'Ω½€'])
      assert.equal(codeOf(text), undefined, text)
  })

  it('may not contain a joiner that joins nothing', () => {
    for (const text of ['\u200dAda', 'A\u200dda', 'Ada\u200c', '4\u200d2'])
      assert.match(codeOf(text)!, /^U\+200[CD]$/)
  })

  it('may not contain half of a surrogate pair', () => {
    assert.equal(codeOf('a\ud83d'), 'U+D83D')
  })

  it('is reported with the character and its position, counted in visible characters', () => {
    const found = findHiddenCharacter('line', '👩 ab\u202ecd')!
    assert.deepEqual(found, { codePoint: 'U+202E', name: 'right-to-left override', position: 5 })
    assert.equal(
      describeHiddenCharacter(found),
      'contains U+202E (right-to-left override) at character 5; remove it',
    )
  })
})
