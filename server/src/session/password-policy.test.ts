import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { isCommonPassword } from './common-passwords.ts'
import {
  normalisePassword,
  objectionToPassword,
  passwordLength,
  type PasswordContext,
} from './password-policy.ts'

const ada: PasswordContext = {
  email: 'Ada.Lovelace@acme-networks.example',
  names: ['Northern Light Carrier', 'Pharos'],
  isCommon: isCommonPassword,
}
const typeOf = (password: string, context = ada) => objectionToPassword(password, context)?.type

const refused: Record<string, readonly string[]> = {
  length: ['', 'short', 'elevenchars', 'x7$kQ9!mZ2@', '😀😀😀', 'word '.repeat(26)],
  pattern: [
    'aaaaaaaaaaaa',
    'abababababab1',
    'abcabcabcabc',
    'kettlekettle',
    'abcdefghijkl',
    'zyxwvutsrqpo',
    '123456789012',
    '000111222333',
    'QWERTYuiopasdf',
    'qwerty123456',
    '1qaz2wsx3edc',
    'йцукенгшщзхъ',
    'abcd1234efgh',
  ],
  personal: [
    'ada.lovelace@acme-networks.example',
    'Ada.Lovelace2026',
    'LovelaceAda!',
    'l0vel4ce-1815',
    'acme-networks-1',
    'Pharos-2026-!',
    'northernlightcarrier',
    'Northern Light Carrier 24',
  ],
  common: [
    'Password1234',
    'P@$$w0rd2026!',
    'passwordpassword',
    'monkey!!!!!!!!',
    '26iloveyou2026',
    'Unbelievable',
  ],
}

const allowed = [
  'correct horse battery staple',
  'blue kettle rainy tram',
  'x7$kQ9!mZ2@p',
  'kühlschrank im wald',
  'поезд в огне летит',
  '東京特許許可局局長今日急遽休暇',
  'ada keeps eleven blue kettles',
  'w'.repeat(3) + ' four of my own words',
  'the quick brown fox. '.repeat(6).slice(0, 120) + 'twelve!!',
]

describe('a password', () => {
  for (const [type, passwords] of Object.entries(refused)) {
    for (const password of passwords) {
      it(`is refused (${type}): ${JSON.stringify(password.slice(0, 40))}`, () =>
        assert.equal(typeOf(password), type))
    }
  }

  for (const password of allowed.slice(0, -1)) {
    it(`may be ${JSON.stringify(password)}`, () => assert.equal(typeOf(password), undefined))
  }

  it('says what to do', () => {
    for (const password of Object.values(refused).flat())
      assert.match(objectionToPassword(password, ada)!.msg, /; \S+ \S+/)
  })

  it('is as long as it looks, and is the same however its accents were typed', () => {
    // 12 letters, 24 code points when they are decomposed
    const composed = 'éàüöñçâêîôûë'
    assert.equal([...composed.normalize('NFD')].length, 24)
    assert.equal(typeOf(composed), undefined)
    assert.equal(typeOf(composed.normalize('NFD')), undefined)
    assert.equal(normalisePassword(composed.normalize('NFD')), composed)
    assert.equal(typeOf('😀🎈🚂🌧🫖🐎🔋📎🪁🧭🥁🎻'), undefined)
    assert.equal(typeOf('😀🎈🚂🌧🫖🐎🔋📎🪁🧭🥁'), 'length')
  })

  it('of 128 characters is taken, of 129 not', () => {
    const words = Array.from({ length: 40 }, (_, n) => `w${n * 7919}`).join(' ')
    assert.equal(typeOf(words.slice(0, 128)), undefined)
    assert.equal(typeOf(words.slice(0, 129)), 'length')
  })

  it('may hold the name of a user who has a short one', () => {
    assert.equal(typeOf('blue kettle rainy tram', { ...ada, email: 'ue@tr.am' }), undefined)
  })

  it('is judged alike in any case and any normal form, whatever it is', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', minLength: 8, maxLength: 140 }), (text) => {
        const type = typeOf(text)
        assert.equal(typeOf(text.normalize('NFC')), type)
        const { length } = [...normalisePassword(text)]
        const fits = length >= passwordLength.least && length <= passwordLength.most
        assert.equal(type === 'length', !fits)
      }),
      { numRuns: 300 },
    )
  })

  it('made of a common one with little around it is always refused', () => {
    const commons = ['dragon', 'monkey', 'sunshine', 'letmein', 'football', 'princess']
    const around = fc.stringMatching(/^[0-9.!_-]{0,3}$/)
    fc.assert(
      fc.property(fc.constantFrom(...commons), around, around, (word, before, after) => {
        const password = before + word.toUpperCase() + after
        fc.pre(password.length >= 12)
        assert.ok(['common', 'pattern'].includes(typeOf(password) ?? ''), password)
      }),
    )
  })

  it('drawn at random is hardly ever refused', () => {
    const drawn = fc.string({
      unit: fc.constantFrom(...'abcdefghijklmnopqrstuvwxyz0123456789'),
      minLength: 16,
      maxLength: 16,
    })
    const samples = fc.sample(drawn, { numRuns: 500, seed: 7 })
    // fast-check likes repetitions: those are what may be refused.
    assert.deepEqual(
      samples.filter((text) => new Set(text).size > 9 && typeOf(text) !== undefined),
      [],
    )
  })
})

describe('the list of common passwords', () => {
  it('is there and in lower case', () => {
    assert.ok(isCommonPassword('password'))
    assert.ok(isCommonPassword('unbelievable'))
    assert.ok(!isCommonPassword('Password'))
    assert.ok(isCommonPassword('pharos-demo-password'), 'published by ourselves')
    assert.ok(!isCommonPassword('blue kettle rainy tram'))
  })
})
