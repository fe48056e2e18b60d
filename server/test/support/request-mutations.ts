// Mutates requests: each mutation applies one common client mistake. expected-validity.ts decides whether the result is still
// valid, unless only the encoding shows the mistake.
import fc, { type Arbitrary } from 'fast-check'
import { codePoint } from '../../src/runtime/testing-code-point.ts'
import { gzipSync } from 'node:zlib'
import { formOf, type FormPart } from './letters.ts'
import type { Draft } from './expected-validity.ts'
import type { Form, Operation } from './openapi-operations.ts'

type Mutation = Arbitrary<(draft: Draft) => Draft>

/** Replacements for a JSON value. */
const wrongValues = fc.oneof(
  fc.constantFrom<unknown[]>(
    null,
    0,
    1,
    -1,
    1.5,
    '',
    'false',
    'true',
    '1',
    true,
    false,
    [],
    {},
    [false],
    [true],
    { enabled: true },
    2 ** 53,
    2 ** 31,
    1e300,
    ' ',
    'x'.repeat(2000),
    '\ud800',
    'ams\u0000',
    '🦆'.repeat(300),
    "'; drop table announcements; --",
  ),
  fc.jsonValue({ maxDepth: 2 }),
)

const strangeNames = fc.constantFrom(
  'regions',
  'Enabled',
  'enabled ',
  '__proto__',
  'constructor',
  'toString',
  'hasOwnProperty',
  'id',
  'team_id',
  '',
  '\u0000',
  'énabled',
)

const strangeTexts = fc.oneof(
  fc.constantFrom(
    '',
    ' ',
    '0',
    '-1',
    '+5',
    ' 5',
    '5 ',
    '05',
    '1001',
    '1.0',
    '1e2',
    '0x10',
    '٥',
    '9007199254740993',
    '99999999999999999999999999',
    'null',
    'undefined',
    'TRUE',
    'true,false',
    'yes',
    'id,',
    '--id',
    '-',
    'id;drop',
    'yesterday',
    '2026-02-30',
    '2026-13-01T00:00:00Z',
    '2026-01-01T25:00:00Z',
    '2026-01-01T00:00:00+24:00',
    '1767225600',
    '2026-W01-1',
    '203.0.113.0/33',
    '203.0.113.1/24',
    '::ffff:203.0.113.1',
    '::/0',
    '0.0.0.0/0',
    '2001:DB8::/32',
    '203.0.113.0/024',
    '%',
    '_',
    '\\',
    "'",
    '\u0000',
    'x'.repeat(5000),
    'e\u0301',
    '\ufeff5',
  ),
  fc.string({ unit: codePoint, maxLength: 30 }),
)

/** Replaces one value in a JSON document; whether to descend into arrays and objects is random. */
function replaceSomewhere(value: unknown, path: readonly number[], by: unknown): unknown {
  const [at, ...rest] = path
  if (at === undefined || typeof value !== 'object' || value === null) return by
  const entries = Object.entries(value)
  if (entries.length === 0) return by
  const [key, inner] = entries[at % entries.length]!
  const replaced = replaceSomewhere(inner, rest, by)
  return Array.isArray(value) ? value.with(Number(key), replaced) : { ...value, [key]: replaced }
}

const jsonOf = ({ body }: Draft): unknown => (body === undefined ? {} : JSON.parse(body.toString()))
const withJson = (draft: Draft, value: unknown): Draft => ({
  ...draft,
  body: Buffer.from(JSON.stringify(value)),
})
const textOf = ({ body }: Draft): string => body?.toString() ?? '{}'
const withText = (draft: Draft, text: string | Buffer): Draft => ({
  ...draft,
  body: Buffer.from(text as string),
})

const bodyValues: Mutation[] = [
  fc.tuple(fc.array(fc.nat(20), { minLength: 0, maxLength: 2 }), wrongValues).map(
    ([path, by]) =>
      (draft) =>
        withJson(draft, replaceSomewhere(jsonOf(draft), path, by)),
  ),
  fc.tuple(strangeNames, wrongValues).map(([name, value]) => (draft) => {
    const inner = JSON.stringify(jsonOf(draft)).slice(1)
    const member = `${JSON.stringify(name)}:${JSON.stringify(value)}`
    return withText(draft, inner === '}' ? `{${member}}` : `{${member},${inner}`)
  }),
  fc.nat(20).map((at) => (draft) => {
    const entries = Object.entries(Object(jsonOf(draft)))
    return withJson(draft, Object.fromEntries(entries.filter((_, index) => index !== at % entries.length)))
  }),
]

function repeatKey(draft: Draft): Draft {
  const [first] = Object.entries(Object(jsonOf(draft)))
  if (!first) return withText(draft, '{"a":1,"a":1}')
  const member = `${JSON.stringify(first[0])}:${JSON.stringify(first[1])}`
  return withText(draft, `{${member},${JSON.stringify(jsonOf(draft)).slice(1)}`)
}

/** A duplicate key, with an escape sequence in the first. */
const repeatKeyEscaped = (draft: Draft): Draft =>
  withText(draft, `{"enabled":true,"\\u0065nabled":true,${textOf(draft).slice(1)}`)

const bodyTexts: Mutation = fc.constantFrom<((draft: Draft) => Draft)[]>(
  repeatKey,
  repeatKeyEscaped,
  (draft) => withText(draft, textOf(draft).slice(0, -1)),
  (draft) => withText(draft, `${textOf(draft)}}`),
  (draft) => withText(draft, `${textOf(draft)}${textOf(draft)}`),
  (draft) => withText(draft, textOf(draft).replace('}', ',}')),
  (draft) => withText(draft, textOf(draft).replaceAll('"', "'")),
  (draft) => withText(draft, `// comment\n${textOf(draft)}`),
  (draft) => withText(draft, ''),
  (draft) => withText(draft, '   '),
  (draft) => withText(draft, 'null'),
  (draft) => withText(draft, '[]'),
  (draft) => withText(draft, '"text"'),
  (draft) => withText(draft, `[${textOf(draft)}]`),
  (draft) => withText(draft, '{"enabled":NaN}'),
  (draft) => withText(draft, '{"enabled":tru'),
  (draft) => withText(draft, `{"a":${'['.repeat(20_000)}${']'.repeat(20_000)}}`),
  (draft) =>
    withText(
      draft,
      Buffer.concat([Buffer.from('{"region":"'), Buffer.from([0xff, 0xfe]), Buffer.from('"}')]),
    ),
  (draft) => withText(draft, Buffer.from(textOf(draft), 'utf16le')),
  (draft) => withText(draft, gzipSync(textOf(draft))),
  (draft) => ({
    ...draft,
    body: gzipSync(textOf(draft)),
    headers: { ...draft.headers, 'content-encoding': 'gzip' },
  }),
  (draft) => ({ ...draft, headers: { ...draft.headers, 'content-encoding': 'br' } }),
  (draft) => ({ ...draft, body: undefined }),
  (draft) => ({ ...draft, body: undefined, contentType: undefined }),
)

const mediaTypes: Mutation = fc
  .constantFrom(
    undefined,
    '',
    'text/plain',
    'text/json',
    'application/xml',
    'application/jsonx',
    'application/x-json',
    'application/merge-patch+json',
    'application/vnd.api+json',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/json/extra',
    'json',
    '*/*',
    'application/json; charset=utf-8; profile=x',
  )
  .map((contentType) => (draft) => ({ ...draft, contentType }))

function queryMutations({ parameters }: Operation): Mutation[] {
  const names = parameters.filter((one) => one.in === 'query').map(({ name }) => name)
  const unknown = fc.constantFrom(
    'enable',
    'Limit',
    'limit[]',
    'limit.gt',
    '__proto__',
    'toString',
    '',
    'dry-run',
    ' limit',
  )
  const name =
    names.length > 0 ? fc.oneof({ weight: 4, arbitrary: fc.constantFrom(...names) }, unknown) : unknown
  const broken = fc.constantFrom('%', '%z', '%zz', '%ff', '%c3%28', 'limit=%e0%80')
  return [
    fc.tuple(name, strangeTexts).map(([name, text]) => (draft) => ({
      ...draft,
      query: [...draft.query.filter(([known]) => known !== name), [name, text] as const],
    })),
    fc.tuple(name, strangeTexts).map(([name, text]) => (draft) => ({
      ...draft,
      query: [...draft.query, [name, text] as const],
    })),
    fc.nat(10).map((at) => (draft) => {
      const again = draft.query[at % Math.max(1, draft.query.length)]
      return again ? { ...draft, query: [...draft.query, again] } : draft
    }),
    broken.map((text) => (draft) => ({
      ...draft,
      query: [...draft.query, ['raw', text] as const],
      broken: `encoding ${text}`,
    })),
  ]
}

function pathMutations({ parameters }: Operation): Mutation[] {
  const names = parameters.filter((one) => one.in === 'path').map(({ name }) => name)
  if (names.length === 0) return []
  const texts = fc.oneof(
    strangeTexts.filter((text) => !text.includes('/') && text !== '.' && text !== '..'),
    fc.constantFrom(
      '0',
      '-1',
      '01',
      '1.0',
      '1e3',
      '0x10',
      '9007199254740993',
      '1000000000000000',
      '999999999999999',
      'me',
      '1 ',
      '1,2',
      '*',
      'null',
      'x'.repeat(301),
    ),
  )
  return [
    fc.tuple(fc.constantFrom(...names), texts).map(([name, text]) => (draft) => ({
      ...draft,
      path: { ...draft.path, [name]: text },
    })),
  ]
}

const headerMutations: Mutation = fc
  .oneof(
    fc.tuple(
      fc.constant('idempotency-key'),
      fc.constantFrom('', ' ', 'a b', 'x'.repeat(256), 'x'.repeat(255), 'é', 'a\tb', '~'),
    ),
    fc.tuple(fc.constant('if-match'), fc.constantFrom('"', ',,,', 'W/', '"a"b', 'x'.repeat(4000), '"1" "2"')),
    fc.tuple(
      fc.constantFrom('accept', 'accept-encoding', 'accept-language'),
      fc.constantFrom('application/xml', 'gzip', ';q=', ''),
    ),
    fc.constantFrom<[string, string]>(
      ['x-http-method-override', 'DELETE'],
      ['x-forwarded-for', '10.0.0.1, ::1'],
      ['x-request-id', '../../etc/passwd'],
      ['range', 'bytes=0-1'],
      ['origin', 'https://evil.example'],
      ['cookie', 'session=1'],
      ['if-none-match', '*'],
      ['if-modified-since', 'yesterday'],
      ['expect', ''],
    ),
  )
  .map(([name, value]) => (draft) => ({ ...draft, headers: { ...draft.headers, [name]: value } }))

/** Replaces the parts of a draft; a draft whose encoding is already mutated stays unchanged. */
const withParts = (change: (parts: readonly FormPart[]) => readonly FormPart[]) => (draft: Draft) => {
  if (draft.broken || !draft.form) return draft
  const form = change(draft.form)
  return { ...draft, form, body: formOf(form) }
}

const withForm = (write: (body: Buffer) => Buffer | undefined) => (draft: Draft) =>
  draft.broken || !draft.body
    ? draft
    : { ...draft, body: write(draft.body), broken: 'the encoding of the form' }

const isFile = ({ filename }: FormPart) => filename !== undefined

function formMutations({ schema, file, mediaTypes }: Form): Mutation[] {
  const names = fc.oneof(fc.constantFrom(...Object.keys(schema.properties!)), strangeNames)
  const takesAnyFile = mediaTypes.includes('application/octet-stream')
  const junk = fc.constantFrom('', 'GIF89a', '<html>', 'PK\u0003\u0004', '{}')
  return [
    fc
      .tuple(names, strangeTexts)
      .map(([name, content]) => withParts((parts) => [...parts, { name, content }])),
    fc
      .nat(5)
      .map((at) => withParts((parts) => [...parts, parts[at % parts.length] ?? { name: file, content: '' }])),
    fc.nat(5).map((at) => withParts((parts) => parts.filter((_, index) => index !== at % parts.length))),
    names.map((name) => withParts((parts) => parts.map((part) => (isFile(part) ? { ...part, name } : part)))),
    fc
      .constantFrom('text/html', 'image/svg+xml', 'application/zip', 'text/plain')
      .map((type) => withParts((parts) => parts.map((part) => (isFile(part) ? { ...part, type } : part)))),
    junk.map((content) => (draft: Draft) => ({
      ...withParts((parts) => parts.map((part) => (isFile(part) ? { ...part, content } : part)))(draft),
      ...(takesAnyFile ? {} : { broken: draft.broken ?? 'a file of an unsupported type' }),
    })),
    fc.constantFrom(
      withForm((body) => body.subarray(0, -10)),
      withForm((body) => body.subarray(0, body.length / 2)),
      withForm(() => Buffer.alloc(0)),
      withForm(() => undefined),
      withForm((body) => Buffer.from(body.toString('latin1').replace('form-data', 'attachment'), 'latin1')),
      withForm((body) => Buffer.from(body.toString('latin1').replace('Content-Disposition', 'X'), 'latin1')),
      withForm(() => Buffer.from('{"file":"x"}')),
    ),
  ]
}

/** Generates one change to a request of the operation. */
export function mutationOf(operation: Operation): Mutation {
  const body = operation.body ? [...bodyValues, ...bodyValues, bodyTexts, mediaTypes] : []
  if (operation.form) body.push(...formMutations(operation.form), mediaTypes)
  return fc.oneof(...body, ...queryMutations(operation), ...pathMutations(operation), headerMutations)
}
