import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { passwordLength } from '@pharos/contract/session/password'
import * as fc from 'fast-check'
import {
  normalisePassword,
  objectionToLength,
  objectionToPassword,
  objectionToPasswordInThread,
  type PasswordContext,
} from './password-policy.ts'

const ada: PasswordContext = {
  email: 'Ada.Lovelace@acme-networks.example',
  names: ['Northern Light Carrier', 'Pharos'],
}
const typeOf = (password: string, context = ada) => objectionToPassword(password, context)?.type

const rejected: Record<string, readonly string[]> = {
  length: ['', 'short', 'elevenchars', 'x7$kQ9!mZ2@', '😀😀😀', 'word '.repeat(26)],
  pattern: [
    'aaaaaaaaaaaa',
    'abababababab1',
    'abcabcabcabc',
    'kettlekettle',
    'passwordpassword',
    'abcdefghijkl',
    'zyxwvutsrqpo',
    'йцукенгшщзхъ',
    'ФЫВАПролджэ-1',
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
    'Northern-Light-Carrier!24',
    'ada_lovelace-18-15',
  ],
  common: [
    'Password1234',
    'P@$$w0rd2026!',
    'monkey!!!!!!!!',
    '26iloveyou2026',
    'Unbelievable',
    '123456789012',
    '000111222333',
    'QWERTYuiopasdf',
    'qwerty123456',
    '1qaz2wsx3edc',
    'abcd1234efgh',
    'pharos-demo-password',
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
  'www four of my own words',
]

describe('a password', () => {
  for (const [type, passwords] of Object.entries(rejected)) {
    for (const password of passwords) {
      it(`is rejected (${type}): ${JSON.stringify(password.slice(0, 40))}`, () =>
        assert.equal(typeOf(password), type))
    }
  }

  for (const password of allowed) {
    it(`is accepted: ${JSON.stringify(password)}`, () => assert.equal(typeOf(password), undefined))
  }

  it('gets the same rating in a thread and in the process', async () => {
    for (const password of [...Object.values(rejected).map(([first]) => first!), allowed[0]!])
      assert.deepEqual(await objectionToPasswordInThread(password, ada), objectionToPassword(password, ada))
  })

  it('is rejected with a reason and a remedy', () => {
    for (const password of Object.values(rejected).flat())
      assert.match(objectionToPassword(password, ada)!.msg, /; \S+ \S+/)
  })

  it('has the length of its code points in NFC', () => {
    // 12 letters, 24 code points when they are decomposed
    const composed = 'éàüöñçâêîôûë'
    assert.equal([...composed.normalize('NFD')].length, 24)
    assert.equal(typeOf(composed), undefined)
    assert.equal(typeOf(composed.normalize('NFD')), undefined)
    assert.equal(normalisePassword(composed.normalize('NFD')), composed)
    assert.equal(typeOf('😀🎈🚂🌧🫖🐎🔋📎🪁🧭🥁🎻'), undefined)
    assert.equal(typeOf('😀🎈🚂🌧🫖🐎🔋📎🪁🧭🥁'), 'length')
  })

  it('of 128 characters is accepted, of 129 rejected', () => {
    const words = Array.from({ length: 40 }, (_, n) => `w${n * 7919}`).join(' ')
    assert.equal(typeOf(words.slice(0, 128)), undefined)
    assert.equal(typeOf(words.slice(0, 129)), 'length')
  })

  it('may contain the short name of a user', () => {
    assert.equal(typeOf('blue kettle rainy tram', { ...ada, email: 'ue@tr.am' }), undefined)
  })

  const unicode = fc.string({ unit: 'grapheme', minLength: 8, maxLength: 140 })

  it('is measured in code points of NFC, whatever its normal form', () => {
    fc.assert(
      fc.property(unicode, (text) => {
        const { length } = [...normalisePassword(text)]
        const fits = length >= passwordLength.min && length <= passwordLength.max
        for (const form of ['NFC', 'NFD'])
          assert.equal(objectionToLength(text.normalize(form)) === undefined, fits)
      }),
      { numRuns: 300 },
    )
  })

  it('has the same strength in every normal form', () => {
    fc.assert(
      fc.property(unicode, (text) => {
        assert.equal(typeOf(text.normalize('NFD')), typeOf(text))
      }),
      { numRuns: 40 },
    )
  })

  const decoration = fc.stringMatching(/^[0-9.!_-]{0,3}$/)
  const decorated = (words: readonly string[]) =>
    fc
      .tuple(decoration, fc.constantFrom(...words), decoration)
      .map(([before, word, after]) => before + word + after)
      .filter((password) => password.length >= passwordLength.min)

  it('made of a common one and few other characters is rejected', () => {
    const commons = ['dragon', 'monkey', 'SUNSHINE', 'letmein', 'Football', 'princess']
    fc.assert(
      fc.property(decorated(commons), (password) => {
        assert.ok(['common', 'pattern'].includes(typeOf(password) ?? ''), password)
      }),
    )
  })

  it('made of a word of the account and few other characters is rejected', () => {
    const words = ['lovelace', 'AdaLovelace', 'acme-networks', 'pharos', 'Carrier']
    fc.assert(
      fc.property(decorated(words), (password) => {
        assert.notEqual(typeOf(password), undefined, password)
      }),
    )
  })

  it('of random characters is accepted', () => {
    const drawn = fc.string({
      unit: fc.constantFrom(...'abcdefghijklmnopqrstuvwxyz0123456789'),
      minLength: 16,
      maxLength: 16,
    })
    const samples = fc.sample(drawn, { numRuns: 100, seed: 7 })
    // fast-check generates repetitions often: those may be rejected.
    assert.deepEqual(
      samples.filter((text) => new Set(text).size > 9 && typeOf(text) !== undefined),
      [],
    )
  })
})
