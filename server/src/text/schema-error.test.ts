import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { routes } from '@pharos/contract/document/routes'
import { Enumeration, Nullable, Optional, Strict, Time } from '@pharos/contract/scalar'
import { Line } from '@pharos/contract/text'
import fc, { type Arbitrary } from 'fast-check'
import { codePoint } from '../runtime/testing-code-point.ts'
import { Type, type TSchema } from 'typebox'
import { Value } from 'typebox/value'
import { createSchemaCheck, describeProblem, isSecretName, type SchemaProblem } from './schema-error.ts'
import { scaled } from '../runtime/testing-scale.ts'

const Letter = Strict({ kind: Type.Literal('letter'), pages: Type.Integer({ minimum: 1, maximum: 9 }) })
const Roa = Strict({
  kind: Type.Literal('roa'),
  asn: Type.Integer({ minimum: 1 }),
  trust_anchor: Type.String(),
})

const Example = Strict({
  name: Optional(Line({ minLength: 1, maxLength: 5 })),
  country: Optional(Type.String({ pattern: '^[A-Z]{2}$', expects: 'two capital letters such as NL' })),
  region: Optional(Enumeration('RegionSlug', ['ams', 'fra'])),
  expires: Optional(Nullable(Time)),
  days: Optional(Nullable(Type.Integer({ minimum: 1, maximum: 30 }))),
  least: Optional(Type.Integer({ minimum: 3 })),
  tags: Optional(Type.Array(Type.String({ maxLength: 3 }), { minItems: 1, maxItems: 2, uniqueItems: true })),
  proofs: Optional(Type.Array(Type.Union([Letter, Roa]))),
  enabled: Optional(Type.Boolean()),
  password: Optional(Type.String({ pattern: '^x+$', minLength: 12, expects: 'a password' })),
  either: Optional(Type.Union([Type.Boolean(), Type.String()])),
})

/** Problems as `path: type: message`. */
const check = (value: unknown, showValues = false): string[] =>
  createSchemaCheck(Example, { showValues })(value).map(
    ({ path, type, message }) => `${path.join('.')}: ${type}: ${message}`,
  )

describe('the problems of a value', () => {
  const known = 'name, country, region, expires, days, least, tags, proofs, enabled, password, either'
  const cases: [value: unknown, ...problems: string[]][] = [
    [
      {
        name: 'Alice',
        region: 'ams',
        expires: null,
        days: 30,
        tags: ['a'],
        proofs: [{ kind: 'letter', pages: 1 }],
      },
    ],
    [[], ': type: must be an object'],
    [null, ': type: must be an object'],
    [{ name: '' }, 'name: minLength: must not be empty'],
    [{ name: 'Alice B.' }, 'name: maxLength: must be at most 5 characters; this has 8'],
    [{ name: '🦆🦆🦆🦆🦆🦆' }, 'name: maxLength: must be at most 5 characters; this has 6'],
    [
      { name: 'a\u202eb' },
      'name: hidden_character: contains U+202E (right-to-left override) at character 2; remove it',
    ],
    [{ name: 5 }, 'name: type: must be a string'],
    [{ country: 'nl' }, 'country: pattern: must be two capital letters such as NL'],
    [{ region: 'amS' }, 'region: enum: must be one of ams, fra (did you mean ams?)'],
    [{ region: 7 }, 'region: enum: must be one of ams, fra'],
    [{ expires: 'soon' }, 'expires: format: must be an ISO 8601 date-time such as 2026-01-31T12:00:00Z'],
    [{ expires: 5 }, 'expires: type: must be an ISO 8601 date-time such as 2026-01-31T12:00:00Z or null'],
    [{ days: 31 }, 'days: maximum: must be a whole number from 1 to 30'],
    [{ days: 1.5 }, 'days: type: must be a whole number from 1 to 30'],
    [{ days: '1' }, 'days: type: must be a whole number from 1 to 30 or null'],
    [{ least: 2 }, 'least: minimum: must be at least 3'],
    [{ tags: [] }, 'tags: minItems: must not be empty'],
    [{ tags: ['a', 'a'] }, 'tags: uniqueItems: must not repeat a value: remove a'],
    [
      { tags: ['aaaa', 'b', 'c'] },
      'tags.0: maxLength: must be at most 3 characters; this has 4',
      'tags: maxItems: must have at most 2 elements; this has 3',
    ],
    [{ enabled: 'false' }, 'enabled: type: must be true or false'],
    [{ either: 5 }, 'either: type: must be true or false or a string'],
    [{ names: 1 }, `names: unknown: is not a known field (did you mean name?); known fields are ${known}`],
    [
      { proofs: [{ kind: 'roa', asn: 0, trust: 1 }, 4] },
      'proofs.0.trust_anchor: required: is required',
      'proofs.0.trust: unknown: is not a known field; known fields are kind, asn, trust_anchor',
      'proofs.0.asn: minimum: must be at least 1',
      'proofs.1: type: must be an object',
    ],
  ]
  for (const [value, ...problems] of cases) {
    it(`are ${problems.length} for ${JSON.stringify(value)?.slice(0, 60)}`, () => {
      assert.deepEqual(check(value), problems)
    })
  }

  it('include the value where a file is checked, cut to 60 characters', () => {
    assert.deepEqual(check({ country: 'nl' }, true), [
      'country: pattern: must be two capital letters such as NL, not "nl"',
    ])
    assert.match(check({ country: 'n'.repeat(500) }, true)[0]!, /, not "n{56}\.\.\.$/)
  })

  it('never include the value of a secret', () => {
    assert.deepEqual(check({ password: 'hunter2hunter2' }, true), ['password: pattern: must be a password'])
    assert.deepEqual(check({ password: 'hunter2' }, true), [
      'password: minLength: must be at least 12 characters; this has 7',
      'password: pattern: must be a password',
    ])
  })

  it('begin with the name of the field in a sentence', () => {
    const [problem] = createSchemaCheck(Example)({ tags: ['aaaa'] })
    assert.equal(describeProblem(problem!, 'team'), 'tags must be at most 3 characters; this has 4')
    const [whole] = createSchemaCheck(Example)(5)
    assert.equal(describeProblem(whole!, 'team'), 'team must be an object')
  })

  it('are all reported, up to 100', () => {
    const reported = (length: number) => createSchemaCheck(Example)({ proofs: Array(length).fill(0) }).length
    assert.equal(reported(99), 99)
    assert.equal(reported(5000), 100)
  })
})

type Part = TSchema & {
  readonly type?: string
  readonly pattern?: string
  readonly enum?: readonly unknown[]
  readonly items?: Part
  readonly anyOf?: readonly Part[]
  readonly properties?: Readonly<Record<string, Part>>
}

const schemas: readonly (readonly [name: string, schema: Part])[] = routes.flatMap((route) =>
  (
    [
      ['path', route.params],
      ['query', route.query],
      ['body', route.body],
      ['form', route.upload?.fields],
      ['response', route.response],
    ] as const
  ).flatMap(([part, schema]) => (schema ? [[`${route.name} ${part}`, schema as Part] as const] : [])),
)

function patternsOf({ pattern, items, anyOf = [], properties = {} }: Part): string[] {
  const inner = [...(items ? [items] : []), ...anyOf, ...Object.values(properties)]
  return [...(pattern === undefined ? [] : [pattern]), ...inner.flatMap(patternsOf)]
}

const texts = fc.oneof(
  fc.constantFrom('', ' ', 'a', 'AMS', '203.0.113.0/24', '2026-01-31', 'x\u202e', 'x'.repeat(300), '4'),
  fc.string({ unit: codePoint, maxLength: 20 }),
)
const anything = fc.oneof(
  texts,
  fc.jsonValue({ maxDepth: 2 }),
  fc.constantFrom(null, 0, -1, 1e18, 0.5, [], {}),
)

/** Values near a schema: most have the right type, and each part may be wrong. */
function valuesNear(schema: Part): Arbitrary<unknown> {
  if (schema.anyOf) return fc.oneof(anything, ...schema.anyOf.map(valuesNear))
  if (schema.enum) return fc.oneof(anything, fc.constantFrom(...schema.enum))
  if (schema.type === 'array' && schema.items)
    return fc.oneof(
      { weight: 1, arbitrary: anything },
      { weight: 4, arbitrary: fc.array(valuesNear(schema.items), { maxLength: 4 }) },
    )
  if (schema.type === 'object' && schema.properties) {
    const fields = Object.entries(schema.properties).map(([name, part]) => [name, valuesNear(part)] as const)
    const near = fc.record({ ...Object.fromEntries(fields), wrong_name: anything }, { requiredKeys: [] })
    return fc.oneof({ weight: 1, arbitrary: anything }, { weight: 9, arbitrary: near })
  }
  return fc.oneof(anything, fc.integer(), fc.boolean(), texts)
}

/** Matches regular expressions and messages without content. */
const unreadable =
  /\\[SsdwpPuWD]|\[\^|\[a-z|\[0-9|\(\?|\{\d+,|\)\?\$|undefined|NaN|\[object|see errors|and \d+ more|schema/

function assertReadable({ path, message, type }: SchemaProblem, patterns: readonly string[]): void {
  const shown = `${path.join('.')} ${message}`
  assert.match(message, /^(must|is|has|contains) \S/, shown)
  assert.ok(type !== '', shown)
  if (!path.some((step) => unreadable.test(String(step))))
    assert.doesNotMatch(message.replace(/, not .*$/s, ''), unreadable, shown)
  for (const pattern of patterns) assert.ok(!message.includes(pattern), shown)
}

describe('for every schema of the API', () => {
  it('each pattern states what it expects', () => {
    const without = (schema: Part): string[] => {
      const inner = [
        ...(schema.items ? [schema.items] : []),
        ...(schema.anyOf ?? []),
        ...Object.values(schema.properties ?? {}),
      ]
      const own = schema.pattern !== undefined && !('expects' in schema) ? [schema.pattern] : []
      return [...own, ...inner.flatMap(without)]
    }
    const requests = schemas.filter(([name]) => !name.endsWith('response'))
    assert.deepEqual(
      requests.flatMap(([name, schema]) => without(schema).map((pattern) => `${name}: ${pattern}`)),
      [],
    )
  })

  it('no message contains a regular expression or is empty, whatever the value', () => {
    const cases = fc
      .constantFrom(...schemas)
      .chain(([name, schema]) => fc.tuple(fc.constant([name, schema] as const), valuesNear(schema)))
    const checks = new Map(
      schemas.map(([name, schema]) => [name, createSchemaCheck(schema, { showValues: true })]),
    )
    const patterns = new Map(
      schemas.map(([name, schema]) => [name, patternsOf(schema).filter((one) => one.length > 2)]),
    )
    let invalid = 0
    fc.assert(
      fc.property(cases, ([[name, schema], value]) => {
        const problems = checks.get(name)!(value)
        assert.equal(problems.length === 0, Value.Check(schema, value))
        if (problems.length > 0) invalid++
        for (const problem of problems) {
          assertReadable(problem, patterns.get(name)!)
          if (problem.path.some((step) => isSecretName(String(step))))
            assert.doesNotMatch(problem.message, /, not /)
        }
      }),
      { numRuns: scaled(10_000) },
    )
    assert.ok(invalid > scaled(5_000), `${invalid} values were invalid`)
  })
})
