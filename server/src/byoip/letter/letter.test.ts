import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { PDFDocument, StandardFonts } from '@cantoo/pdf-lib'
import { letterMediaTypes } from '@pharos/contract/letter'
import { refusalOfPdf } from './inspect-pdf.ts'
import { drawLetter, setIn } from './letter-draft-page.ts'
import { createDrafter } from './letter-draft.ts'
import { letterFilename } from './letter-filename.ts'
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

  it('come to one state', () => {
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

  it('are valid by the one that lasts longest', () => {
    assert.equal(state(accepted(1, '2028-01-01'), accepted(2, '2027-01-01')), 'valid 1')
    assert.equal(state(accepted(1), accepted(2, '2099-01-01')), 'valid 1')
    assert.equal(state(accepted(1), accepted(2)), 'valid 2')
  })

  it('wait for review before they are called expired, and are expired before they are called invalid', () => {
    assert.equal(state(accepted(1, '2026-01-01', true), letter(2)), 'pending 2')
    assert.equal(state(accepted(1, '2026-01-01', true), rejected(2)), 'expired 1')
  })

  it('say why', () => {
    assert.match(verdictOf([rejected(1)]).note, /rejected: It is not signed\./)
    assert.deepEqual(verdictOf([accepted(1, '2027-01-01')]).validUntil, new Date('2027-01-01'))
  })
})

describe('the name of a letter', () => {
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

  it('is never a path, never long, and ends as what the file is', () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.string({ unit: 'binary', maxLength: 500 }), fc.string({ unit: 'grapheme' })),
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
    prefix: '2001:db8::/32',
    originAsn: 64496,
    teamName: 'Team',
    providerName: 'Provider',
    signatory: '',
    date: new Date('2026-11-21T10:00:00Z'),
  }

  it('is one page that its own inspection lets through, the same bytes each time', async () => {
    const bytes = Buffer.from(await drawLetter(text))
    assert.equal(await refusalOfPdf(bytes), undefined)
    assert.equal((await PDFDocument.load(bytes)).getPageCount(), 1)
    assert.deepEqual(Buffer.from(await drawLetter(text)), bytes)
  })

  it('is drawn whatever the names are', async () => {
    const names = [
      '山田太郎',
      'مثال',
      '🦆🦆',
      '\u0000\u0007',
      'x'.repeat(2_000),
      'a b '.repeat(500),
      '\ud800',
      'Ω',
    ]
    for (const name of names) {
      const bytes = Buffer.from(
        await drawLetter({ ...text, teamName: name, signatory: name, providerName: name }),
      )
      assert.equal((await PDFDocument.load(bytes)).getPageCount(), 1, JSON.stringify(name.slice(0, 20)))
    }
  })

  it('keeps the accents that its typeface has, leaves out those that it has not, and leaves a line for other scripts', async () => {
    const font = await (await PDFDocument.create()).embedFont(StandardFonts.Helvetica)
    assert.equal(setIn(font, 'Société Générale'), 'Société Générale')
    assert.equal(setIn(font, 'Čeština\n a.s.'), 'Cestina a.s.')
    assert.equal(setIn(font, '株式会社'), undefined)
    assert.equal(setIn(font, ' '), undefined)
  })

  it('is drawn in a thread', async () => {
    assert.deepEqual(await createDrafter().draw(text), Buffer.from(await drawLetter(text)))
  })
})
