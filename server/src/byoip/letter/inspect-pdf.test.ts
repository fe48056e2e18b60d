import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { deflateSync } from 'node:zlib'
import { PDFDocument, StandardFonts } from '@cantoo/pdf-lib'
import { Failure } from '../../runtime/error.ts'
import { createInspector } from './inspect-letter.ts'
import { refusalOfPdf } from './inspect-pdf.ts'
import { drawLetter } from './letter-draft-page.ts'
import { pdfObjectStream, pdfStream, samplePdf, writePdf } from './testing-letters.ts'
import { mutate, seed, seededRandom, times } from '../announcement/testing-mutation.ts'

const isActive = async (bytes: Buffer, name: string, why = name) => {
  const refusal = await refusalOfPdf(bytes)
  assert.equal(refusal?.type, 'active_content', `${why}: ${JSON.stringify(refusal)}`)
  assert.ok(refusal.found?.includes(name), `${why}: ${JSON.stringify(refusal)}`)
}
const isRefused = async (bytes: Buffer, type: string, why = type) => {
  const refusal = await refusalOfPdf(bytes)
  assert.equal(refusal?.type, type, `${why}: ${JSON.stringify(refusal)}`)
}

const script = '<< /S /JavaScript /JS (app.alert(1)) >>'
const empty = '<< >>'

describe('a PDF', () => {
  it('is taken when it only shows something, with and without object streams', async () => {
    const document = await PDFDocument.create()
    const font = await document.embedFont(StandardFonts.TimesRoman)
    for (let count = 0; count < 3; count++) document.addPage().drawText('A letter', { font })
    for (const useObjectStreams of [true, false])
      assert.equal(await refusalOfPdf(Buffer.from(await document.save({ useObjectStreams }))), undefined)
    assert.equal(await refusalOfPdf(samplePdf()), undefined)
  })

  it('is taken with links, bookmarks, a place to begin at, and forms that only hold a signature', async () => {
    const link =
      '<< /Type /Annot /Subtype /Link /Rect [0 0 1 1] /A << /S /URI /URI (https://example.net) >> >>'
    const signature =
      '<< /FT /Sig /T (Signature) /V << /Type /Sig /Filter /Adobe.PPKLite /Contents <00> >> >>'
    assert.equal(await refusalOfPdf(samplePdf('/OpenAction [3 0 R /Fit]', [link])), undefined)
    assert.equal(await refusalOfPdf(samplePdf('/OpenAction null')), undefined)
    assert.equal(
      await refusalOfPdf(samplePdf('/AcroForm << /Fields [4 0 R] /SigFlags 3 >>', [signature])),
      undefined,
    )
    assert.equal(await refusalOfPdf(samplePdf('/Outlines << /Count 0 >> /PageMode /UseNone')), undefined)
  })

  it('is taken when it was changed and saved behind its first end', async () => {
    const first = samplePdf()
    const again = `\n4 0 obj\n${empty}\nendobj\ntrailer\n<< /Size 5 /Root 1 0 R >>\nstartxref\n0\n%%EOF\n`
    assert.equal(await refusalOfPdf(Buffer.concat([first, Buffer.from(again)])), undefined)
  })

  it('is taken with a picture whose bytes say obj, stream and names', async () => {
    const bytes = Buffer.from('obj endobj \x00obj< /JS /AA trailer xref /OpenAction', 'latin1')
    assert.equal(await refusalOfPdf(samplePdf('', [pdfStream('/Type /XObject', bytes)])), undefined)
  })
})

describe('active content in a PDF', () => {
  const inCatalog: Record<string, string> = {
    OpenAction: `/OpenAction << /S /GoTo /D [3 0 R /Fit] >>`,
    JavaScript: `/Names << /JavaScript << /Names [(a) ${script}] >> >>`,
    JS: `/Any << /JS (app.alert(1)) >>`,
    AA: `/AA << /WC ${empty} >>`,
    Launch: '/Any << /S /Launch /F (calc.exe) >>',
    EmbeddedFiles: '/Names << /EmbeddedFiles << /Names [] >> >>',
    EF: '/Any << /Type /Filespec /F (a) /EF << /F 4 0 R >> >>',
    XFA: '/AcroForm << /Fields [] /XFA [] >>',
    SubmitForm: '/Any << /S /SubmitForm /F (https://example.net) >>',
    ImportData: '/Any << /S /ImportData >>',
    GoToR: '/Any << /S /GoToR >>',
    GoToE: '/Any << /S /GoToE >>',
    RichMedia: '/Any << /Subtype /RichMedia >>',
    Movie: '/Any << /S /Movie >>',
    Sound: '/Any << /S /Sound >>',
    Rendition: '/Any << /S /Rendition >>',
    '3D': '/Any << /Subtype /3D >>',
    FileAttachment: '/Any << /Subtype /FileAttachment >>',
  }
  for (const [name, catalog] of Object.entries(inCatalog)) {
    it(`is found: ${name}, in the catalog, in an object and in an object stream`, async () => {
      await isActive(samplePdf(catalog), name, 'catalog')
      await isActive(samplePdf('', [`<< ${catalog} >>`]), name, 'object')
      await isActive(
        samplePdf('', [
          pdfObjectStream([
            [9, empty],
            [10, `<< ${catalog} >>`],
          ]),
        ]),
        name,
        'stream',
      )
      await isActive(samplePdf('', [], { trailer: catalog }), name, 'trailer')
    })
  }

  it('is found by names that are written in hexadecimal', async () => {
    await isActive(samplePdf('/Any << /#4A#53 (x) >>'), 'JS')
    await isActive(samplePdf('/Any << /S /J#61vaScript >>'), 'JavaScript')
    await isActive(samplePdf('/#4fpen#41ction << /S /GoTo >>'), 'OpenAction')
    await isActive(samplePdf('/#4FpenAction << /S /GoTo >>'), 'OpenAction')
    await isActive(samplePdf('', [pdfObjectStream([[9, '<< /S /#4c#61unch >>']])]), 'Launch')
    const packed = deflateSync(Buffer.from('9 0 << /JS 1 >>'))
    const dictionary = '/#54ype /#4FbjStm /N 1 /#46irst 4 /Filter /#46lateDecode'
    await isActive(samplePdf('', [pdfStream(dictionary, packed)]), 'JS')
  })

  it('is found in a key that is given twice, of which readers take the one or the other', async () => {
    await isActive(samplePdf(`/OpenAction ${script} /OpenAction [3 0 R /Fit]`), 'JavaScript')
    await isActive(samplePdf(`/OpenAction << /S /URI >> /OpenAction [3 0 R /Fit]`), 'OpenAction')
    await isActive(samplePdf(`/OpenAction [3 0 R /Fit] /OpenAction << /S /URI >>`), 'OpenAction')
  })

  it('is found in an object that a later one of the same number hides', async () => {
    const file = samplePdf('', [`<< /A ${script} >>`], { between: `4 0 obj\n${empty}\nendobj\n` })
    await isActive(file, 'JavaScript')
  })

  it('is found in objects that stand inside of streams, strings and comments', async () => {
    const hidden = `7 0 obj << /A ${script} >> endobj`
    await isActive(samplePdf('', [pdfStream('', Buffer.from(`xx ${hidden} yy`))]), 'JavaScript', 'stream')
    await isActive(samplePdf('', [`(a string ${hidden})`]), 'JavaScript', 'string')
    await isActive(samplePdf('', [`<< /A 1 % ${hidden}\n >>`]), 'JavaScript', 'comment')
    await isActive(samplePdf('', [], { between: `gibberish ${hidden}\n` }), 'JavaScript', 'between')
  })

  it('is found in objects that only some readers take for one', async () => {
    for (const head of [
      '7 0obj',
      '7 0.0 obj',
      '7 0- obj',
      '7\n\0\t0\fobj',
      '7 %\n0 obj',
      '+7 +0 obj',
      '7 0e0 obj',
    ])
      await isActive(samplePdf('', [], { between: `${head}<< /A ${script} >> endobj\n` }), 'JavaScript', head)
    await isRefused(samplePdf('', [], { between: `7 0 %\nobj ${script} endobj\n` }), 'damaged')
    await isRefused(samplePdf('', [], { between: `7 0 % a\n % b\n\n obj ${script} endobj\n` }), 'damaged')
  })

  it('is found in a trailer that stands somewhere else', async () => {
    await isActive(samplePdf('', [], { between: `trailer << /Root << /OpenAction ${script} >> >>\n` }), 'JS')
    await isActive(samplePdf('', [], { between: `trailer %\n<< /Root << /AA ${empty} >> >>\n` }), 'AA')
  })

  it('is suspected in an action that stands behind a reference', async () => {
    await isActive(samplePdf('/OpenAction 4 0 R', ['[3 0 R /Fit]']), 'OpenAction')
  })

  it('is suspected in streams whose content is elsewhere', async () => {
    await isActive(samplePdf('', [pdfStream('/F (\\\\\\\\server\\\\share)', Buffer.alloc(0))]), 'F')
  })
})

describe('a PDF that is something else besides', () => {
  it('is refused with anything but spaces behind its end', async () => {
    await isRefused(samplePdf('', [], { behind: 'PK\x03\x04' }), 'trailing_data')
    await isRefused(samplePdf('', [], { behind: '<html>' }), 'trailing_data')
    await isRefused(samplePdf('', [], { behind: Buffer.alloc(5_000) }), 'trailing_data')
    assert.equal(await refusalOfPdf(samplePdf('', [], { behind: '\r\n\0' })), undefined)
  })

  it('is refused as a ZIP archive whose comment is the end of the PDF', async () => {
    const end = Buffer.alloc(22)
    end.write('PK\x05\x06', 'latin1')
    const comment = '\n%%EOF\n'
    end.writeUInt16LE(comment.length, 20)
    await isRefused(
      samplePdf('', [], { behind: Buffer.concat([end, Buffer.from(comment)]) }),
      'trailing_data',
    )
  })

  it('is refused with anything before its beginning, or without an end', async () => {
    await isRefused(Buffer.concat([Buffer.from('\n'), samplePdf()]), 'damaged')
    await isRefused(Buffer.from('%PDF-1.7\n'), 'damaged')
    await isRefused(Buffer.from('%PDF-9.9\n%%EOF'), 'damaged')
    await isRefused(Buffer.from('%PDF-1.7\n%%EOF'), 'damaged', 'no pages')
  })
})

describe('a PDF that cannot be read', () => {
  it('is refused when it is encrypted', async () => {
    await isRefused(samplePdf('', [], { trailer: '/Encrypt << /Filter /Standard /V 1 >>' }), 'encrypted')
    await isRefused(samplePdf('', [], { trailer: '/#45ncrypt 4 0 R' }), 'encrypted')
  })

  it('is refused when an object is broken, unclosed or nested without end', async () => {
    await isRefused(samplePdf('', ['<< /A']), 'damaged')
    await isRefused(samplePdf('', ['<< /A (']), 'damaged')
    await isRefused(samplePdf('', ['<< /Length 5 >>\nstream\nabc']), 'damaged')
    await isRefused(samplePdf('', ['[['.repeat(5_000)]), 'too_complex')
  })

  it('is refused when an object stream does not unpack, or unpacks to a gigabyte', async () => {
    const broken = deflateSync(Buffer.from('9 0 << >>')).subarray(0, -6)
    const dictionary = '/Type /ObjStm /N 1 /First 4 /Filter /FlateDecode'
    await isRefused(samplePdf('', [pdfStream(dictionary, broken)]), 'damaged')
    const bomb = deflateSync(Buffer.alloc(100 * 1024 * 1024))
    assert.ok(bomb.length < 200_000)
    await isRefused(samplePdf('', [pdfStream(dictionary, bomb)]), 'too_complex')
    await isRefused(
      samplePdf('', [pdfStream('/Type /XRef /W [1 2 1] /Filter /FlateDecode', bomb)]),
      'too_complex',
    )
  })

  it('is refused when its object streams are packed in a way that readers could see differently', async () => {
    const plain = Buffer.from('9 0 << >>')
    await isRefused(samplePdf('', [pdfStream('/Type /ObjStm /N 1 /First 4', plain)]), 'damaged')
    for (const filter of ['/LZWDecode', '[/ASCIIHexDecode /FlateDecode]', '5 0 R'])
      await isRefused(
        samplePdf('', [pdfStream(`/Type /ObjStm /N 1 /First 4 /Filter ${filter}`, plain)]),
        'damaged',
      )
    const packed = deflateSync(plain)
    const predicted = '/N 1 /First 4 /Filter /FlateDecode /DecodeParms << /Predictor 12 >>'
    await isRefused(samplePdf('', [pdfStream(predicted, packed)]), 'damaged')
  })

  it('is refused when an object stream has a table that is none', async () => {
    const of = (content: string) =>
      samplePdf('', [
        pdfStream('/Type /ObjStm /N 1 /First 4 /Filter /FlateDecode', deflateSync(Buffer.from(content))),
      ])
    for (const content of ['9 % << >>', '9 0 ', '9 9 << >>', 'x 0 << >>', '9 0 5']) {
      const refusal = await refusalOfPdf(of(content))
      if (content === '9 0 5') assert.equal(refusal, undefined)
      else assert.equal(refusal?.type, 'damaged', content)
    }
  })
})

describe('the inspection of a PDF', () => {
  const words = [
    '/JS',
    '/AA ',
    'obj',
    ' 0 obj',
    'endobj',
    'stream\n',
    'endstream',
    '<<',
    '>>',
    '/#4a#53',
    '%%EOF',
    'trailer<<',
  ]

  it(`ends with an answer whatever is changed, ${times(3_000)} times`, async () => {
    const random = seededRandom(seed)
    const drawn = await drawLetter({
      prefix: '203.0.113.0/24',
      originAsn: 64496,
      teamName: 'Team',
      providerName: 'Provider',
      signatory: '',
      date: new Date(0),
    })
    const samples = [
      samplePdf('/OpenAction [3 0 R /Fit]', [pdfObjectStream([[9, empty]])]),
      Buffer.from(drawn),
    ]
    const types = new Map<string, number>()
    for (let round = 0; round < times(3_000); round++) {
      const changed = mutate(samples[round % 2]!, random, words)
      const refusal = await refusalOfPdf(changed).catch((error: Error) => {
        throw new Error(`seed ${seed}, round ${round}: ${changed.toString('latin1')}`, { cause: error })
      })
      types.set(refusal?.type ?? 'taken', (types.get(refusal?.type ?? 'taken') ?? 0) + 1)
    }
    for (const type of ['taken', 'damaged', 'active_content', 'trailing_data'])
      assert.ok((types.get(type) ?? 0) > 0, JSON.stringify([...types]))
  })

  it('does not occupy the event loop, and ends in time, whatever the file costs', async () => {
    const timeoutMs = 1_500
    const body = (filling: Buffer) =>
      Buffer.concat([Buffer.from('%PDF-1.7\n1 0 obj\n['), filling, Buffer.from('\n%%EOF')])
    const hostile = {
      memory: body(Buffer.alloc(10_000_000, '[]')),
      scanning: body(Buffer.alloc(10_000_000, '] 1 0 obj<<>>stream\n')),
      names: body(Buffer.from(Array.from({ length: 900_000 }, (_, n) => `/n${n} `).join(''))),
      gibberish: writePdf({ objects: [empty], between: 'a '.repeat(5_000_000) }),
    }
    for (const [name, bytes] of Object.entries(hostile)) {
      const inspector = createInspector({ timeoutMs })
      // Of this thread's own time: on a busy machine it also waits for its turn.
      let blockedMs = 0
      let last = process.threadCpuUsage()
      const ticks = setInterval(() => {
        const { user, system } = process.threadCpuUsage(last)
        blockedMs = Math.max(blockedMs, (user + system) / 1000)
        last = process.threadCpuUsage()
      }, 5)
      const started = performance.now()
      await assert.rejects(inspector.inspect(bytes, 'someone'), { code: 'invalid' }, name)
      clearInterval(ticks)
      assert.ok(performance.now() - started < 20_000, `${name}: ${performance.now() - started} ms`)
      // Were it read in this thread, that would take all of its time; a copy of ten megabytes and a collection do not.
      assert.ok(blockedMs < timeoutMs / 4, `${name}: blocked for ${blockedMs} ms`)
    }
  })

  it('makes the sender of a file that cost too much wait, and nobody else', async () => {
    const inspector = createInspector({ timeoutMs: 1 })
    await assert.rejects(inspector.inspect(samplePdf(), 'one'), { code: 'invalid' })
    await assert.rejects(inspector.inspect(samplePdf(), 'one'), (error) => {
      assert.ok(error instanceof Failure)
      assert.equal(error.code, 'rate_limited')
      assert.ok(error.retryAfterSeconds! > 0 && error.retryAfterSeconds! <= 30)
      return true
    })
    await assert.rejects(inspector.inspect(samplePdf(), 'two'), { code: 'invalid' })
  })

  it('tells apart what is none of the three', async () => {
    const inspector = createInspector()
    for (const bytes of ['', 'GIF89a', 'PK\x03\x04', '<html>', '\n%PDF-1.7'])
      await assert.rejects(inspector.inspect(Buffer.from(bytes), 'a'), { code: 'unsupported_media_type' })
    assert.equal(await inspector.inspect(samplePdf(), 'a'), 'application/pdf')
  })
})
