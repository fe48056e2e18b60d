import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import { deflateSync } from 'node:zlib'
import { Failure } from '../../runtime/error.ts'
import { createInspector, type Inspector } from './inspect-letter.ts'
import { inspectPdf } from './inspect-pdf.ts'
import { isSafeLink } from './pdf-objects.ts'
import { pdfObjectStream, pdfStream, samplePdf, writePdf } from './testing-letters.ts'
import { seed } from '../announcement/testing-mutation.ts'
import { runInThread } from '../../runtime/thread.ts'
import type { Mutations } from './testing-inspect-mutations.ts'
import { onlyInLongRun, scaled } from '../../runtime/testing-scale.ts'

const fixtures = new URL('fixtures/', import.meta.url)
const fixture = (name: string): Buffer => readFileSync(new URL(name, fixtures))

const valid = readdirSync(fixtures).filter((name) => name.endsWith('.pdf') && !name.startsWith('refused-'))

const refusalOfPdf = async (bytes: Buffer) => {
  const result = await inspectPdf(bytes)
  return 'refusal' in result ? result.refusal : undefined
}
const isAccepted = async (bytes: Buffer, why = '') => assert.equal(await refusalOfPdf(bytes), undefined, why)
const isRefused = async (bytes: Buffer, code: string, found?: string, why = code) => {
  const refusal = await refusalOfPdf(bytes)
  assert.equal(refusal?.code, code, `${why}: ${JSON.stringify(refusal)}`)
  if (found !== undefined) assert.ok(refusal.found?.includes(found), `${why}: ${JSON.stringify(refusal)}`)
}
const script = '<< /S /JavaScript /JS (app.alert(1)) >>'
const empty = '<< >>'
const annotation = (action: string) =>
  samplePdf('', [`<< /Type /Annot /Subtype /Link /Rect [0 0 1 1] /A ${action} >>`])

describe('a valid letter', () => {
  for (const name of valid)
    it(`is accepted: ${name}`, async () => {
      const result = await inspectPdf(fixture(name))
      assert.ok('pages' in result && result.pages >= 1, JSON.stringify(result))
    })

  it('is accepted in a thread', async () => {
    const inspected = await createInspector().inspect(fixture(valid[0]!), 'someone')
    assert.equal(inspected.mediaType, 'application/pdf')
    assert.ok(inspected.pages >= 1)
  })

  it('is accepted with links, bookmarks, GoTo actions, and forms that only hold a signature', async () => {
    const signature =
      '<< /FT /Sig /T (Signature) /V << /Type /Sig /Filter /Adobe.PPKLite /Contents <00> >> >>'
    const goTo = '<< /S /GoTo /D [3 0 R /Fit] >>'
    await isAccepted(samplePdf())
    await isAccepted(annotation('<< /S /URI /URI (https://example.net) >>'))
    await isAccepted(samplePdf('/OpenAction [3 0 R /Fit]'))
    await isAccepted(samplePdf('/OpenAction null'))
    await isAccepted(samplePdf(`/OpenAction ${goTo}`))
    await isAccepted(samplePdf('/OpenAction 4 0 R', [goTo]))
    await isAccepted(samplePdf('/OpenAction 4 0 R', ['[3 0 R /Fit]']))
    await isAccepted(samplePdf(`/AA << /WC ${goTo} >>`))
    await isAccepted(annotation(goTo))
    await isAccepted(annotation('<< /S /Named /N /NextPage >>'))
    await isAccepted(samplePdf('/Outlines << /Count 0 >> /PageMode /UseNone'))
    await isAccepted(samplePdf('/AcroForm << /Fields [4 0 R] /SigFlags 3 >>', [signature]))
  })

  it('is accepted with a BOM, a line end or printer commands before its header', async () => {
    for (const before of ['\xef\xbb\xbf', '\n', '\x1b%-12345X@PJL ENTER LANGUAGE=PDF\r\n'])
      await isAccepted(Buffer.concat([Buffer.from(before, 'latin1'), samplePdf()]), JSON.stringify(before))
  })

  it('is accepted with an incremental update behind its first end', async () => {
    const first = samplePdf()
    const again = `\n4 0 obj\n${empty}\nendobj\ntrailer\n<< /Size 5 /Root 1 0 R >>\nstartxref\n0\n%%EOF\n`
    await isAccepted(Buffer.concat([first, Buffer.from(again)]))
  })

  it('is accepted with a picture whose bytes contain obj, stream and names', async () => {
    const bytes = Buffer.from('obj endobj \x00obj< /JS /AA trailer xref /OpenAction', 'latin1')
    await isAccepted(samplePdf('', [pdfStream('/Type /XObject', bytes)]))
  })

  it('is accepted with padding behind its end', async () => {
    for (const behind of ['\r\n\0', Buffer.alloc(5_000), ' \n'.repeat(900)])
      await isAccepted(samplePdf('', [], { behind }))
  })
})

describe('active content in a PDF', () => {
  const inCatalog: readonly (readonly [name: string, code: string, catalog: string])[] = [
    ['JavaScript', 'script', `/Names << /JavaScript << /Names [(a) ${script}] >> >>`],
    ['JavaScript', 'script', `/OpenAction ${script}`],
    ['JavaScript', 'script', `/AA << /WC ${script} >>`],
    ['JavaScript', 'script', `/OpenAction << /S /GoTo /D [3 0 R /Fit] /Next ${script} >>`],
    ['JavaScript', 'script', '/Names << /JavaScript 3 0 R >>'],
    ['JavaScript', 'script', '/Names << /JavaScript 99 0 R >>'],
    ['JS', 'script', '/Any << /JS (app.alert(1)) >>'],
    ['Launch', 'launch', '/Any << /S /Launch /F (calc.exe) >>'],
    ['EmbeddedFiles', 'attachment', '/Names << /EmbeddedFiles << /Names [] >> >>'],
    ['EF', 'attachment', '/Any << /F (a) /EF << /F 4 0 R >> >>'],
    ['Filespec', 'attachment', '/Any << /Type /Filespec /F (a) >>'],
    ['FileAttachment', 'attachment', '/Any << /Subtype /FileAttachment >>'],
    ['GoToE', 'attachment', '/Any << /S /GoToE >>'],
    ['GoToR', 'link', '/Any << /S /GoToR /F (other.pdf) >>'],
    ['XFA', 'form', '/AcroForm << /Fields [] /XFA [] >>'],
    ['SubmitForm', 'form', '/Any << /S /SubmitForm /F (https://example.net) >>'],
    ['ImportData', 'form', '/Any << /S /ImportData >>'],
    ['RichMedia', 'multimedia', '/Any << /Subtype /RichMedia >>'],
    ['Movie', 'multimedia', '/Any << /S /Movie >>'],
    ['Sound', 'multimedia', '/Any << /S /Sound >>'],
    ['Rendition', 'multimedia', '/Any << /S /Rendition >>'],
    ['3D', 'multimedia', '/Any << /Subtype /3D >>'],
  ]
  for (const [name, code, catalog] of inCatalog) {
    it(`is rejected as ${code}: ${catalog}, in the catalog, an object, an object stream and the trailer`, async () => {
      const packed = pdfObjectStream([
        [9, empty],
        [10, `<< ${catalog} >>`],
      ])
      await isRefused(samplePdf(catalog), code, name, 'catalog')
      await isRefused(samplePdf('', [`<< ${catalog} >>`]), code, name, 'object')
      await isRefused(samplePdf('', [packed]), code, name, 'object stream')
      await isRefused(samplePdf('', [], { trailer: catalog }), code, name, 'trailer')
    })
  }

  it('is found in names with hexadecimal escapes', async () => {
    await isRefused(samplePdf('/Any << /#4A#53 (x) >>'), 'script', 'JS')
    await isRefused(samplePdf('/Any << /S /J#61vaScript >>'), 'script', 'JavaScript')
    await isRefused(samplePdf(`/#4fpen#41ction ${script}`), 'script', 'JavaScript')
    await isRefused(samplePdf('', [pdfObjectStream([[9, '<< /S /#4c#61unch >>']])]), 'launch', 'Launch')
    const packed = deflateSync(Buffer.from('9 0 << /JS (1) >>'))
    const dictionary = '/#54ype /#4FbjStm /N 1 /#46irst 4 /Filter /#46lateDecode'
    await isRefused(samplePdf('', [pdfStream(dictionary, packed)]), 'script', 'JS')
  })

  it('is rejected with a NUL in a name, which ends the name for readers written in C', async () => {
    const inside = (catalog: string) => [
      samplePdf(catalog),
      samplePdf('', [`<< ${catalog} >>`]),
      samplePdf('', [pdfObjectStream([[9, `<< ${catalog} >>`]])]),
    ]
    for (const file of inside('/Names << /JavaScript#00 << /Names [(a) 4 0 R] >> >>'))
      await isRefused(file, 'name', 'JavaScript#00')
    for (const file of inside('/Names << /EmbeddedFiles#00 << /Names [] >> >>'))
      await isRefused(file, 'name', 'EmbeddedFiles#00')
    for (const file of inside('/OpenAction << /S /Launch#00x /F (calc.exe) >>'))
      await isRefused(file, 'name', 'Launch#00x')
    for (const file of inside('/Any [/JavaScript#00]')) await isRefused(file, 'name')
  })

  it('is found behind a reference', async () => {
    await isRefused(samplePdf('/OpenAction << /S 4 0 R >>', ['/Launch']), 'launch')
    await isRefused(samplePdf('/OpenAction << /S 4 0 R >>', ['5 0 R', '/Launch']), 'launch')
    await isRefused(samplePdf('/Any << /JS 4 0 R >>', ['(app.alert(1))']), 'script')
    await isRefused(samplePdf('/Any << /JS 4 0 R >>', [pdfStream('', Buffer.from('app.alert(1)'))]), 'script')
    await isRefused(samplePdf('/Any << /URI 4 0 R >>', ['(file:///etc/passwd)']), 'link')
  })

  it('is found in a repeated key, of which readers use the first or the last', async () => {
    await isRefused(samplePdf(`/OpenAction ${script} /OpenAction [3 0 R /Fit]`), 'script', 'JavaScript')
    await isRefused(samplePdf(`/OpenAction [3 0 R /Fit] /OpenAction ${script}`), 'script', 'JavaScript')
    await isRefused(samplePdf('/Any << /S /Launch /S /GoTo >>'), 'launch', 'Launch')
  })

  it('is found in objects that only a rebuilt table lists', async () => {
    const hidden = `7 0 obj\n<< /A ${script} >>\nendobj\n`
    await isRefused(samplePdf('', [], { between: hidden }), 'script', 'JavaScript', 'between')
    await isRefused(samplePdf('', [empty], { between: `4 0 obj\n${script}\nendobj\n` }), 'script')
    await isRefused(
      samplePdf('', [`<< /A ${script} >>`], { between: `4 0 obj\n${empty}\nendobj\n` }),
      'script',
    )
    const trailer = `trailer << /Root << /OpenAction ${script} >> >>\n`
    await isRefused(samplePdf('', [], { between: trailer }), 'script', 'JS')
  })

  it('is found in encrypted files that open without a password', async () => {
    await isRefused(fixture('refused-script-in-encrypted-object-stream.pdf'), 'script', 'JavaScript')
  })

  it('is found in streams with external content', async () => {
    await isRefused(samplePdf('', [pdfStream('/F (\\\\\\\\server\\\\share)', Buffer.alloc(0))]), 'link', 'F')
  })
})

describe('a link in a PDF', () => {
  it('is rejected if it runs a script, opens a local file or reaches a network share', async () => {
    for (const link of [
      'javascript:alert(1)',
      'file:///etc/passwd',
      '\\\\\\\\server\\\\share',
      'C:\\\\a.exe',
    ])
      await isRefused(annotation(`<< /S /URI /URI (${link}) >>`), 'link', 'URI', link)
    await isRefused(samplePdf('/URI << /Base (javascript:) >>'), 'link')
    await isRefused(samplePdf('/Ref << /F (\\\\\\\\server\\\\a.pdf) /Page 0 >>'), 'link', 'F')
    await isAccepted(annotation('<< /S /URI /URI (mailto:noc@example.net) >>'))
    const utf16 = Buffer.from('\ufefffile:///etc/passwd', 'utf16le').swap16().toString('hex')
    await isRefused(annotation(`<< /S /URI /URI <${utf16}> >>`), 'link')
  })

  it('is checked by its scheme, with any text around and between', () => {
    for (const link of [
      'https://example.net/a?b=c:d',
      'HTTP://example.net',
      'mailto:noc@example.net',
      'tel:+4930123456',
      'www.example.net',
      'www.example.net:8443/path',
      '#page=2',
      'terms.html',
      '',
    ])
      assert.ok(isSafeLink(link), link)
    for (const link of [
      'JavaScript:x',
      ' java\tscript:x',
      'java\r\nscript:x',
      '\x01javascript:x',
      'javascript:1',
      'vbscript:x',
      'data:text/html,x',
      'file:x',
      'smb://host/share',
      'search-ms:query=x',
      '\\\\host\\share',
      '//host/share',
      '/\\host\\share',
      'c:/windows',
    ])
      assert.ok(!isSafeLink(link), link)
  })
})

describe('a PDF that is also another file type', () => {
  it('is rejected with data other than padding behind its end', async () => {
    await isRefused(samplePdf('', [], { behind: 'PK\x03\x04' }), 'trailing_data')
    await isRefused(samplePdf('', [], { behind: '<html>' }), 'trailing_data')
    await isRefused(samplePdf('', [], { behind: Buffer.alloc(5_000, 1) }), 'trailing_data')
  })

  it('is rejected as a ZIP archive whose comment is the end of the PDF', async () => {
    const end = Buffer.alloc(22)
    end.write('PK\x05\x06', 'latin1')
    const comment = '\n%%EOF\n'
    end.writeUInt16LE(comment.length, 20)
    const behind = Buffer.concat([end, Buffer.from(comment)])
    await isRefused(samplePdf('', [], { behind }), 'trailing_data', 'ZIP')
  })
})

describe('a PDF that cannot be parsed', () => {
  it('is rejected without an end, without a document, and without pages', async () => {
    for (const text of ['%PDF-1.7\n', '%PDF-9.9\n%%EOF', '%PDF-1.7\n%%EOF'])
      await isRefused(Buffer.from(text), 'damaged')
    await isRefused(samplePdf().subarray(0, -100), 'damaged')
    await isRefused(
      writePdf({ objects: ['<< /Type /Catalog /Pages 2 0 R >>', '<< /Type /Pages /Kids [] /Count 0 >>'] }),
      'damaged',
    )
  })

  it('is rejected if it needs a password, or its encryption is unknown', async () => {
    await isRefused(fixture('refused-password.pdf'), 'encrypted')
    await isRefused(samplePdf('', [], { trailer: '/Encrypt << /Filter /Standard /V 1 >>' }), 'encrypted')
    await isRefused(samplePdf('', [], { trailer: '/Encrypt << /Filter /Adobe.PubSec /V 4 >>' }), 'encrypted')
  })

  it('is rejected if it is nested too deeply, or its page tree is a cycle', async () => {
    await isRefused(samplePdf('', ['['.repeat(100_000)]), 'too_complex')
    await isRefused(samplePdf('', ['<< /A '.repeat(100_000)]), 'too_complex')
    const cycle = (kids: string, count: number) =>
      writePdf({
        objects: [
          '<< /Type /Catalog /Pages 2 0 R >>',
          `<< /Type /Pages /Kids [${kids}] /Count ${count} /Parent 3 0 R >>`,
          `<< /Type /Pages /Kids [2 0 R] /Count ${count} /Parent 2 0 R >>`,
        ],
      })
    for (const kids of ['2 0 R', '3 0 R']) await isRefused(cycle(kids, 1), 'damaged', undefined, kids)
  })

  it('is rejected with more pages than a letter may have', async () => {
    const page = '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] >>'
    const of = (count: number) =>
      writePdf({
        objects: [
          '<< /Type /Catalog /Pages 2 0 R >>',
          `<< /Type /Pages /Kids [${Array.from({ length: count }, (_, at) => `${at + 3} 0 R`).join(' ')}] /Count ${count} >>`,
          ...Array<string>(count).fill(page),
        ],
      })
    await isAccepted(of(20))
    await isRefused(of(21), 'pages')
  })

  it('is rejected with an image that is too large to decode', async () => {
    const picture = (width: number, height: number) =>
      pdfStream(`/Type /XObject /Subtype /Image /Width ${width} /Height ${height}`, Buffer.alloc(1))
    await isRefused(samplePdf('', [picture(10_001, 10_000)]), 'dimensions')
    await isAccepted(samplePdf('', [picture(10_000, 10_000)]))
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
    '#00',
    '%%EOF',
    'trailer<<',
  ]

  it(`returns a result after any change, ${scaled(300)} times`, async () => {
    const samples = [
      samplePdf('/OpenAction [3 0 R /Fit]', [pdfObjectStream([[9, empty]])]),
      ...valid.map(fixture).filter(({ length }) => length < 10_000),
    ]
    const work: Mutations = { samples, words, seed, rounds: scaled(300) }
    const script = new URL('testing-inspect-mutations.ts', import.meta.url)
    const limits = { timeoutMs: 600_000, heapMib: 1_024, buffersMib: 1_024 }
    const codes = await runInThread<Record<string, number>>(script, work, limits)
    for (const code of ['accepted', 'damaged']) assert.ok((codes[code] ?? 0) > 0, JSON.stringify(codes))
  })

  const nested = (depth: number, innermost: Buffer): Buffer =>
    depth === 0 ? innermost : nested(depth - 1, deflateSync(innermost))
  const page = (content: Buffer, filter: string) =>
    writePdf({
      objects: [
        '<< /Type /Catalog /Pages 2 0 R >>',
        '<< /Type /Pages /Kids [3 0 R] /Count 1 >>',
        '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R >>',
        pdfStream(`/Filter ${filter}`, content),
      ],
    })
  const body = (filling: Buffer) =>
    Buffer.concat([Buffer.from('%PDF-1.7\n1 0 obj\n['), filling, Buffer.from('\n%%EOF')])

  it('does not block the event loop, and ends in time, for any file', { skip: onlyInLongRun }, async () => {
    const timeoutMs = 1_500
    const gigabyte = deflateSync(Buffer.concat(Array<Buffer>(10).fill(Buffer.alloc(100 * 2 ** 20, '0 '))))
    const hostile = {
      memory: body(Buffer.alloc(10_000_000, '[]')),
      scanning: body(Buffer.alloc(10_000_000, '] 1 0 obj<<>>stream\n')),
      names: body(Buffer.from(Array.from({ length: 900_000 }, (_, n) => `/n${n} `).join(''))),
      gibberish: writePdf({ objects: [empty], between: 'a '.repeat(5_000_000) }),
      objects: writePdf({ objects: Array<string>(150_000).fill(empty) }),
      'deflate bomb in a page': page(gigabyte, '/FlateDecode'),
      'deflate bomb in a bomb': page(nested(1, gigabyte), '[/FlateDecode /FlateDecode]'),
      'deflate bomb of objects': samplePdf('', [
        pdfStream('/Type /ObjStm /N 1 /First 4 /Filter /FlateDecode', gigabyte),
      ]),
      'table without end': samplePdf('', [
        pdfStream('/Type /XRef /W [0 1 0] /Size 4000000000 /Filter /FlateDecode', gigabyte),
      ]),
      'forms that draw each other': writePdf({
        objects: [
          '<< /Type /Catalog /Pages 2 0 R >>',
          '<< /Type /Pages /Kids [3 0 R] /Count 1 >>',
          '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R /Resources << /XObject << /X 5 0 R >> >> >>',
          pdfStream('', Buffer.from('/X Do')),
          ...Array.from({ length: 12 }, (_, at) =>
            pdfStream(
              `/Type /XObject /Subtype /Form /BBox [0 0 9 9] /Resources << /XObject << /X ${at + 6} 0 R >> >>`,
              Buffer.from('/X Do '.repeat(10)),
            ),
          ),
          pdfStream('/Type /XObject /Subtype /Form /BBox [0 0 9 9]', Buffer.from('0 0 1 1 re f')),
        ],
      }),
    }
    for (const [name, bytes] of Object.entries(hostile)) {
      const inspector = createInspector({ timeoutMs })
      // CPU time of this thread: on a busy machine it also waits for its turn.
      let blockedMs = 0
      let last = process.threadCpuUsage()
      const ticks = setInterval(() => {
        const { user, system } = process.threadCpuUsage(last)
        blockedMs = Math.max(blockedMs, (user + system) / 1000)
        last = process.threadCpuUsage()
      }, 5)
      const before = process.memoryUsage.rss()
      const { code, tookMs } = await refusalOf(inspector, bytes)
      clearInterval(ticks)
      assert.equal(code, 'invalid', name)
      assert.ok(tookMs < 20_000, `${name}: ${tookMs} ms`)
      // Parsing in this thread would block it for the whole time; a copy of ten megabytes and a collection do not.
      assert.ok(blockedMs < timeoutMs / 4, `${name}: blocked for ${blockedMs} ms`)
      assert.ok(
        process.memoryUsage.rss() - before < 2 ** 31,
        `${name}: ${process.memoryUsage.rss() - before} bytes`,
      )
    }
  })

  /** A thread that got no processor time is no verdict: the client is asked to repeat the request. */
  async function refusalOf(inspector: Inspector, bytes: Buffer): Promise<{ code: unknown; tookMs: number }> {
    for (;;) {
      const started = performance.now()
      const code = await inspector.inspect(bytes, 'someone').then(
        () => undefined,
        (error: Failure) => error.code,
      )
      if (code !== 'unavailable') return { code, tookMs: performance.now() - started }
    }
  }

  it('ends a thread whose buffers exceed its memory limit', async () => {
    const noise = deflateSync(Buffer.concat(Array<Buffer>(3).fill(Buffer.alloc(100 * 2 ** 20, '0 '))))
    await assert.rejects(
      createInspector({ timeoutMs: 600_000, buffersMib: 128 }).inspect(page(noise, '/FlateDecode'), 'a'),
      (error) => error instanceof Failure && error.errors?.[0]?.type === 'too_complex',
    )
  })

  it('does not render a page whose nested groups need gigabytes', async () => {
    const group = (at: number) => {
      const inner = `/ExtGState << /G << /ca 0.5 >> >> /XObject << /X ${at + 1} 0 R >>`
      const dictionary =
        '/Type /XObject /Subtype /Form /BBox [0 0 600 600] /Group << /S /Transparency /I true >>'
      return pdfStream(`${dictionary} /Resources << ${inner} >>`, Buffer.from('0 0 9 9 re f /G gs /X Do'))
    }
    const bytes = (depth: number) =>
      writePdf({
        objects: [
          '<< /Type /Catalog /Pages 2 0 R >>',
          '<< /Type /Pages /Kids [3 0 R] /Count 1 >>',
          '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 600] /Contents 4 0 R /Resources << /XObject << /X 5 0 R >> >> >>',
          pdfStream('', Buffer.from('/X Do')),
          ...Array.from({ length: depth }, (_, at) => group(5 + at)),
          pdfStream('/Type /XObject /Subtype /Form /BBox [0 0 600 600]', Buffer.from('0 0 9 9 re f')),
        ],
      })
    const inspector = createInspector()
    const render = (depth: number) =>
      inspector.render({ mediaType: 'application/pdf', bytes: bytes(depth) }, 1)
    assert.ok(await render(10))
    await assert.rejects(render(150), { code: 'conflict' })
  })

  it('delays the sender of a file that exceeded the limits, and no other', async () => {
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

  it('rejects a file that has none of the three types', async () => {
    const inspector = createInspector()
    const late = `${' '.repeat(1_100)}%PDF-1.7`
    for (const bytes of ['', 'GIF89a', 'PK\x03\x04', '<html>', late])
      await assert.rejects(inspector.inspect(Buffer.from(bytes), 'a'), { code: 'unsupported_media_type' })
    assert.deepEqual(await inspector.inspect(samplePdf(), 'a'), { mediaType: 'application/pdf', pages: 1 })
  })

  it('ignores objects that pdf.js fails to read before they are awaited', async () => {
    // The objects in between start three bytes before the offset in the table.
    const whole = fixture('libreoffice-pdfa.pdf')
    const [from, to] = [30_000, 33_300]
    const moved = Buffer.concat([whole.subarray(from + 3, to), Buffer.from('   ')])
    const broken = Buffer.concat([whole.subarray(0, from), moved, whole.subarray(to)])
    assert.deepEqual(await createInspector().inspect(broken, 'a'), { mediaType: 'application/pdf', pages: 2 })
  })

  it('states in every error what to do next', async () => {
    await assert.rejects(createInspector().inspect(samplePdf(`/OpenAction ${script}`), 'a'), {
      message: 'body.file: The PDF contains JavaScript. Print the letter to a new PDF and upload that.',
      errors: [
        {
          loc: ['body', 'file'],
          msg: 'The PDF contains JavaScript. Print the letter to a new PDF and upload that.',
          type: 'script',
          ctx: { found: ['JS', 'JavaScript'] },
        },
      ],
    })
  })
})
