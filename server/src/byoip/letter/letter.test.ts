import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { codePoint } from '../../runtime/testing-code-point.ts'
import { letterMediaTypes } from '@pharos/contract/byoip/letter'
import { inspectPdf } from './inspect-pdf.ts'
import { drawable, drawLetter } from './letter-draft-page.ts'
import { letterPrefixOf } from './letter-draft-prefix.ts'
import { createDrafter } from './letter-draft.ts'
import { letterFilename } from './letter.ts'
import { letterRefusalCodes } from '@pharos/contract/byoip/letter'
import { refusalTexts } from './letter-refusal.ts'
import { getDocument } from './pdf-library.ts'
import { verdictOf, type LetterOfAnnouncement } from './letter-verdict.ts'

const letter = (id: number, rest: Partial<LetterOfAnnouncement> = {}): LetterOfAnnouncement => ({
  id,
  status: 'pending_review',
  reason: null,
  validUntil: null,
  past: false,
  ...rest,
})
const accepted = (id: number, until: string | null = null, past = false) =>
  letter(id, { status: 'accepted', validUntil: until === null ? null : new Date(until), past })
const rejected = (id: number, reason = 'It is not signed.') => letter(id, { status: 'rejected', reason })

describe('the letters of an announcement', () => {
  const state = (...letters: LetterOfAnnouncement[]) => {
    const { state, letterId } = verdictOf(letters)
    return `${state} ${letterId}`
  }

  it('result in one state', () => {
    assert.equal(state(), 'missing null')
    assert.equal(state(letter(1)), 'pending 1')
    assert.equal(state(letter(1), letter(2)), 'pending 2')
    assert.equal(state(accepted(1)), 'valid 1')
    assert.equal(state(rejected(1), rejected(2)), 'invalid 2')
    assert.equal(state(accepted(1, '2026-01-01', true)), 'expired 1')
  })

  it('are valid as long as one is, whatever else was uploaded', () => {
    assert.equal(state(accepted(1, '2027-01-01'), letter(2), rejected(3)), 'valid 1')
    assert.equal(state(accepted(1, '2027-01-01'), accepted(2, '2026-01-01', true)), 'valid 1')
  })

  it('are valid by the one that expires last', () => {
    assert.equal(state(accepted(1, '2028-01-01'), accepted(2, '2027-01-01')), 'valid 1')
    assert.equal(state(accepted(1), accepted(2, '2099-01-01')), 'valid 1')
    assert.equal(state(accepted(1), accepted(2)), 'valid 2')
  })

  it('are pending before they are expired, and expired before they are invalid', () => {
    assert.equal(state(accepted(1, '2026-01-01', true), letter(2)), 'pending 2')
    assert.equal(state(accepted(1, '2026-01-01', true), rejected(2)), 'expired 1')
  })

  it('have a reason', () => {
    assert.match(verdictOf([rejected(1)]).note, /rejected: It is not signed\./)
    assert.deepEqual(verdictOf([accepted(1, '2027-01-01')]).validUntil, new Date('2027-01-01'))
  })
})

describe('the filename of a letter', () => {
  const cases: [string, string][] = [
    ['letter.pdf', 'letter.pdf'],
    ['LOA 2026.PDF', 'LOA 2026.PDF'],
    ['../../etc/passwd', 'passwd.pdf'],
    ['C:\\Users\\me\\loa.pdf', 'loa.pdf'],
    ['invoice.exe', 'invoice.exe.pdf'],
    ['a\r\nSet-Cookie: x.pdf', 'aSet-Cookie x.pdf'],
    ['fdp.\u202eexe', 'fdp.exe.pdf'],
    ['', 'letter.pdf'],
    ['...', 'letter.pdf'],
    ['.htaccess', 'htaccess.pdf'],
    ['/', 'letter.pdf'],
    ['ünïcödé 文書.pdf', 'ünïcödé 文書.pdf'],
    ['half \ud800.pdf', 'half \ufffd.pdf'],
  ]
  for (const [given, name] of cases)
    it(`of ${JSON.stringify(given)} is ${JSON.stringify(name)}`, () =>
      assert.equal(letterFilename(given, 'application/pdf'), name))

  it('is never a path, has a limited length, and ends with the extension of the media type', () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.string({ unit: codePoint, maxLength: 500 }), fc.string({ unit: 'grapheme' })),
        fc.constantFrom(...letterMediaTypes),
        (given, mediaType) => {
          const name = letterFilename(given, mediaType)
          assert.match(name, mediaType === 'application/pdf' ? /\.pdf$/i : /\.(png|jpe?g?|jpe)$/i)
          assert.ok(!/[/\\\p{Cc}\p{Cf}"<>:|?*]/u.test(name) && !name.startsWith('.'), name)
          assert.ok([...name].length <= 125 && name.length > 4, name)
          assert.ok(name.isWellFormed())
        },
      ),
    )
  })
})

describe('a letter to sign', () => {
  const text = {
    teamName: 'Official Team',
    provider: { name: 'Example Net', asn: 64500 },
    prefixes: [
      {
        prefix: '2001:db8::/32',
        originAsn: 64496,
        roa: 'ROA 2001:db8::/32, maxLength 48, AS64496',
        routeObject: 'route6 2001:db8::/32, AS64496, RADB',
      },
      { prefix: '203.0.113.0/24', originAsn: 64497, roa: 'not checked yet', routeObject: 'not checked yet' },
    ],
    signatory: 'Jürgen Čapek',
    contact: 'noc@team.example',
    registryHandle: 'JC1-EXAMPLE',
    date: new Date('2026-11-21T10:00:00Z'),
  }
  const textOf = async (bytes: Buffer): Promise<string> => {
    const document = await getDocument({ data: new Uint8Array(bytes), verbosity: 0 }).promise
    const pages: string[] = []
    for (let number = 1; number <= document.numPages; number++) {
      const { items } = await (await document.getPage(number)).getTextContent()
      pages.push(items.map((item) => ('str' in item ? item.str + (item.hasEOL ? '\n' : '') : '')).join(''))
    }
    return pages.join('\n').replace(/\s+/g, ' ')
  }
  const pagesOf = async (bytes: Buffer) => {
    const result = await inspectPdf(bytes)
    return 'pages' in result ? result.pages : result.refusal
  }

  it('is one page that the inspection accepts, with the same bytes each time', async () => {
    const bytes = drawLetter(text)
    assert.equal(await pagesOf(bytes), 1)
    assert.deepEqual(drawLetter(text), bytes)
  })

  it('names both parties, every prefix with its registry objects, and the signer, in text that can be copied', async () => {
    const written = await textOf(drawLetter(text))
    for (const words of [
      'From: Official Team',
      'To: Example Net (AS64500)',
      'authorizes Example Net (AS64500) to announce them',
      '2001:db8::/32, origin AS64496',
      'RPKI: ROA 2001:db8::/32, maxLength 48, AS64496',
      'IRR: route6 2001:db8::/32, AS64496, RADB',
      '203.0.113.0/24, origin AS64497',
      'Name: Jürgen Čapek',
      'Contact: noc@team.example',
      'Registry handle: JC1-EXAMPLE',
      'The signer confirms that they are entitled',
    ])
      assert.ok(written.includes(words), `${words} in ${written}`)
  })

  it('is rendered in any script of its fonts, as text', async () => {
    for (const name of [
      'Čeština a.s.',
      'Công ty Việt Nam',
      'ООО «Вега»',
      'Ελληνική Εταιρεία',
      '株式会社サクラネット',
      '深圳市网络有限公司',
      '臺灣電信',
      '주식회사 한국망',
      'บริษัท',
    ]) {
      const written = await textOf(drawLetter({ ...text, teamName: name, signatory: name }))
      assert.ok(written.includes(`${name} holds the IP prefixes`), `${name} in ${written}`)
      assert.ok(drawable(name) !== undefined)
    }
    for (const name of ['שלום בע"מ', 'شركة المثال'])
      assert.equal(await pagesOf(drawLetter({ ...text, teamName: name })), 1)
  })

  it('is rendered for any names', async () => {
    for (const name of [
      '🦆🦆',
      '\u0000\u0007',
      'x'.repeat(2_000),
      'a b '.repeat(500),
      '株'.repeat(500),
      '\ud800',
    ]) {
      const provider = { name, asn: 4_294_967_295 }
      const bytes = drawLetter({ ...text, teamName: name, signatory: name, contact: name, provider })
      assert.ok(Number(await pagesOf(bytes)) >= 1, JSON.stringify(name.slice(0, 20)))
    }
  })

  it('has as many pages as its prefixes need', async () => {
    const prefixes = Array.from({ length: 51 }, (_, n) => ({
      ...text.prefixes[1]!,
      prefix: `10.0.${n}.0/24`,
    }))
    const bytes = drawLetter({ ...text, prefixes })
    assert.ok(Number(await pagesOf(bytes)) > 2)
    const written = await textOf(bytes)
    for (const { prefix } of prefixes) assert.ok(written.includes(prefix), prefix)
  })

  it('has a line to fill in for a name that its fonts cannot render', () => {
    assert.equal(drawable('Société\n Générale'), 'Société Générale')
    assert.equal(drawable('a\u202eb'), 'a b')
    assert.equal(drawable('🦆 GmbH'), undefined)
    assert.equal(drawable(' '), undefined)
  })

  it('is rendered in a thread', async () => {
    assert.deepEqual(await createDrafter().draw(text), drawLetter(text))
  })
})

describe('a prefix in a letter to sign', () => {
  const row = {
    id: 1,
    prefix: '203.0.113.0/24',
    origin_asn: 64496,
    signatory: '',
    team_name: 'Team',
    rpki: null,
    irr: null,
  }

  it('refers to the ROAs and route objects of its origin', () => {
    const vrps = [
      { prefix: '203.0.113.0/24', max_length: 24, asn: 64496 },
      { prefix: '203.0.113.0/24', max_length: 24, asn: 64511 },
    ]
    const objects = [
      { prefix: '203.0.113.0/24', origin: 64496, source: 'RADB' },
      { prefix: '203.0.113.0/24', origin: 64511, source: 'RIPE' },
    ]
    const { roa, routeObject } = letterPrefixOf({
      ...row,
      rpki: { state: 'valid', evidence: { vrps } },
      irr: { state: 'valid', evidence: { objects } },
    })
    assert.equal(roa, 'ROA 203.0.113.0/24, maxLength 24, AS64496')
    assert.equal(routeObject, 'route 203.0.113.0/24, AS64496, RADB')
  })

  it('distinguishes missing objects from checks without a result', () => {
    assert.deepEqual(
      [letterPrefixOf(row).roa, letterPrefixOf(row).routeObject],
      ['not checked yet', 'not checked yet'],
    )
    const none = letterPrefixOf({
      ...row,
      rpki: { state: 'missing', evidence: { vrps: [] } },
      irr: { state: 'unavailable', evidence: {} },
    })
    assert.equal(none.roa, 'no ROA for this origin was found')
    assert.equal(none.routeObject, 'not checked yet')
  })
})

describe('the messages of rejected letters', () => {
  it('explain for every code what is wrong and what to do next', () => {
    assert.deepEqual(Object.keys(refusalTexts).sort(), [...letterRefusalCodes].sort())
    for (const { what, next } of Object.values(refusalTexts)) {
      assert.match(what, /^[A-Z].*[^.]\.$/)
      assert.match(next, /^(Print|Export|Save|Remove|Scan|Upload|Check) .*\.$/)
    }
  })
})
