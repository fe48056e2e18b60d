import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import {
  EmptyIsAbsent,
  Enumeration,
  Id,
  Limit,
  Nullable,
  Offset,
  Optional,
  Ordering,
  Repeatable,
  Strict,
  Time,
} from '@pharos/contract/scalar'
import { TeamInPath } from '@pharos/contract/team/team'
import { Type } from 'typebox'
import fc from 'fast-check'
import { codePoint } from '../runtime/testing-code-point.ts'
import { Failure } from '../runtime/error.ts'
import { createPathReader, createQueryReader } from './query.ts'
import { scaled } from '../runtime/testing-scale.ts'

const schema = Strict({
  limit: Limit,
  offset: Offset,
  ordering: Ordering(['id', 'event__start'], 'id'),
  enabled: Optional(Type.Boolean()),
  family: Optional(Enumeration('IpVersion', ['4', '6'])),
  since: Optional(Time),
  flag: Optional(EmptyIsAbsent(Repeatable(Type.String({ minLength: 1 })))),
  description: Optional(EmptyIsAbsent(Nullable(Type.String()))),
})
const read = createQueryReader(schema)

function failureOf(fn: () => unknown): Failure {
  try {
    fn()
  } catch (error) {
    if (error instanceof Failure) return error
    throw error
  }
  throw new Error('no error was thrown')
}

describe('a query string', () => {
  it('gets the defaults of omitted parameters', () => {
    assert.deepEqual(read(''), { limit: 100, offset: 0, ordering: 'id' })
  })

  it('is parsed by the types of the schema', () => {
    assert.deepEqual(read('limit=7&enabled=false&family=6&flag=A&flag=B&since=2026-01-31'), {
      limit: 7,
      offset: 0,
      ordering: 'id',
      enabled: false,
      family: '6',
      flag: ['A', 'B'],
      since: '2026-01-31T00:00:00.000Z',
    })
  })

  const refused: Record<string, string> = {
    'limit=0': 'minimum',
    'limit=1001': 'maximum',
    'limit=': 'integer',
    'limit=1e2': 'integer',
    'limit=0x10': 'integer',
    'limit=+5': 'integer',
    'limit=9007199254740993': 'integer',
    'limit=1&limit=2': 'repeated',
    'offset=-1': 'minimum',
    'enabled=': 'boolean',
    'enabled=1': 'boolean',
    'enabled=TRUE': 'boolean',
    'family=': 'enum',
    'family=5': 'enum',
    'since=': 'date-time',
    'since=yesterday': 'date-time',
    'since=2026-02-31': 'date-time',
    'ordering=name': 'ordering',
    'ordering=': 'ordering',
    'ordering=id,,event__start': 'ordering',
    pending_delete: 'unknown',
    'constructor=1': 'unknown',
    '__proto__=1': 'unknown',
    'description=%00': 'nul',
  }
  for (const [search, type] of Object.entries(refused)) {
    it(`is rejected with ${search}`, () => {
      const failure = failureOf(() => read(search))
      assert.equal(failure.code, 'invalid')
      assert.equal(failure.errors?.[0]?.type, type)
      assert.equal(failure.errors?.[0]?.loc[0], 'query')
    })
  }

  it('takes a comma list as one text, or as a repeated parameter', () => {
    for (const search of [
      'ordering=-id,event__start',
      'ordering=-id&ordering=event__start',
      'ordering=-id, event__start',
    ])
      assert.equal(read(search)['ordering'], '-id,event__start', search)
  })

  it('may contain an empty nullable parameter', () => {
    assert.deepEqual(read('flag=&description='), { limit: 100, offset: 0, ordering: 'id' })
  })

  it('is rejected with all of its errors', () => {
    assert.equal(failureOf(() => read('limit=x&offset=y&nope=1')).errors?.length, 3)
  })

  it('with broken percent-encoding is malformed', () => {
    assert.equal(failureOf(() => read('description=%E0%A4%A')).code, 'malformed')
  })

  it('is parsed or rejected for any text', () => {
    const names = fc.constantFrom('limit', 'offset', 'flag', 'since', 'description', 'ordering', 'x')
    const pair = fc.tuple(names, fc.string({ unit: codePoint, maxLength: 20 }))
    fc.assert(
      fc.property(fc.array(pair, { maxLength: 6 }), fc.boolean(), (pairs, raw) => {
        const encode = raw ? (text: string) => text : encodeURIComponent.bind(null)
        const search = pairs.map(([name, text]) => `${name}=${encode(text.toWellFormed())}`).join('&')
        try {
          const values = read(search) as { limit: number; offset: number }
          assert.ok(values.limit >= 1 && values.limit <= 1000 && values.offset >= 0)
        } catch (error) {
          assert.ok(error instanceof Failure, String(error))
        }
      }),
      { numRuns: scaled(100_000) },
    )
  })
})

describe('a path', () => {
  const readPath = createPathReader(Strict({ announcement_id: Id }))

  it('accepts a positive integer as id', () => {
    assert.deepEqual(readPath({ announcement_id: '42' }), { announcement_id: 42 })
  })

  for (const id of [
    '0',
    '-1',
    '01',
    '0x10',
    '1e3',
    '1.0',
    ' 1',
    '',
    '9007199254740993',
    '1000000000000000',
    'NaN',
    '٤',
  ]) {
    it(`returns not_found for the id ${JSON.stringify(id)}`, () => {
      assert.equal(failureOf(() => readPath({ announcement_id: id })).code, 'not_found')
    })
  }

  it('accepts a text of the required format, and returns not_found for any other', () => {
    const read = createPathReader(Strict({ team_id: TeamInPath }))
    for (const team_id of ['current', '42']) assert.deepEqual(read({ team_id }), { team_id })
    for (const team_id of ['', '0', '042', 'Current', 'current\n', '1000000000000000', '4\0'])
      assert.equal(failureOf(() => read({ team_id })).code, 'not_found')
  })
})
