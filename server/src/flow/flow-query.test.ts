// Statements of flows have the words of this code only: whatever a request contains becomes a parameter.
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import type { FlowFilter } from '@pharos/contract/flow/flow'
import { flowKeys, type FlowKey } from '@pharos/contract/flow/flow-key'
import { Failure } from '../runtime/error.ts'
import type { FlowNames } from './flow-label.ts'
import {
  graphStatement,
  seriesStatement,
  flowTableOf,
  valuesStatement,
  type FlowSelection,
} from './flow-query.ts'
import { scaled } from '../runtime/testing-scale.ts'

const keys = Object.keys(flowKeys) as FlowKey[]
const start = new Date('2026-03-01T00:00:00Z')
const borders = [0, 1, 2].map((hour) => new Date(start.getTime() + hour * 3_600_000))
const now = borders[2]!

/** A value that each key takes. */
const valid = (key: FlowKey): string => {
  if (key === 'prefix') return '203.0.113.0/24'
  if (key.endsWith('address')) return '192.0.2.1'
  if (key.endsWith('country')) return 'NL'
  return { direction: 'in', protocol: 'udp', family: 'ipv4', fragment: 'yes' }[key as string] ?? '7'
}
const hostile = [
  `'`, `\\`, `\\'`, `7'`, '7 or 1=1', '{f0:String}', '\0', '--', '/*', `in' or '1'='1`, 'NL\n', 'ＮＬ', '٧', '7e0', '0x7', '::ffff:7',
  '192.0.2.1/24', '::/0', '0.0.0.0/0', '203.0.113.0/25', 'SYN', `SYN+'`, '',
] // prettier-ignore

/** Names of devices, ports and prefixes are arbitrary texts too. */
const namesOf = (text: string): FlowNames =>
  ({
    prefixes: [{ id: 4, prefix: '203.0.113.0/24' }],
    devices: [{ id: 5, name: text, exporterIds: [1, 2] }],
    ports: [{ id: 6, name: text }],
    asns: new Map([['64500', text]]),
  }) as never

/** The words of the statements of a selection with their parameters' names; undefined if it was refused. */
function wordsOf(selection: FlowSelection): string[] | undefined {
  const source = flowTableOf(
    [...selection.groupBy, ...selection.filters.map(({ key }) => key)],
    { start, seconds: 3600, borders },
    { days: 15, rollupDays: 400 },
    now,
  )
  try {
    const series = (['avg', 'max', 'last', 'p95'] as const).map((limitBy) =>
      seriesStatement({
        selection,
        source,
        borders,
        seconds: 3600,
        limit: 10,
        limitBy,
        includeOther: true,
        now,
      }),
    )
    const statements = [
      ...series,
      graphStatement(selection, source, { start, end: now }, 10),
      ...selection.groupBy.map((key) =>
        valuesStatement(selection.scope, key, selection.names, { start, end: now }),
      ),
    ]
    return statements.flatMap(({ sql, params }) => [
      ...(sql.match(/'[^']*'|\w+|\S/g) ?? []),
      ...Object.keys(params),
    ])
  } catch (error) {
    if (error instanceof Failure && error.code === 'invalid') return undefined
    throw error
  }
}

const selectionOf = (
  filters: readonly FlowFilter[],
  groupBy: readonly FlowKey[],
  text: string,
): FlowSelection => ({
  scope: { teamId: 1 },
  metric: 'bps',
  direction: 'in',
  filters,
  groupBy,
  names: namesOf(text),
})

const filterOf = (key: FlowKey, op: FlowFilter['op'], value: string): FlowFilter =>
  ({ key, op, value: op === 'in' || op === 'not_in' ? [value, value] : value }) as FlowFilter

/** The vocabulary of valid requests: each key with each of its operators, alone and with groups of four keys. */
const vocabulary = new Set(
  keys.flatMap((key) =>
    flowKeys[key].operators.flatMap((op) => {
      const filter = filterOf(key, op, valid(key))
      const four = [key, ...keys.filter((other) => other !== key)].slice(0, 4)
      return [[], [key], four].flatMap((groupBy) =>
        wordsOf(selectionOf([filter, filter, filter], groupBy, 'r1'))!,
      )
    }),
  ),
)

describe('the text of a statement', () => {
  const filter = fc.constantFrom(...keys).chain((key) =>
    fc.record({
      key: fc.constant(key),
      op: fc.constantFrom(...flowKeys[key].operators),
      value: texts(key),
    }),
  )
  function texts(key: FlowKey) {
    return fc.oneof(
      fc.constantFrom(valid(key), ...hostile),
      fc.string(),
      fc.integer().map(String),
      fc.ipV4(),
      fc.ipV6(),
    )
  }

  it('has no word of a request, whatever its filters', () => {
    let made = 0
    const property = fc.property(
      fc.array(filter, { minLength: 1, maxLength: 3 }),
      fc.uniqueArray(fc.constantFrom(...keys), { maxLength: 4 }),
      fc.string(),
      (filters, groupBy, text) => {
        const words = wordsOf(
          selectionOf(
            filters.map(({ key, op, value }) => filterOf(key, op as never, value)),
            groupBy,
            text,
          ),
        )
        if (words === undefined) return
        made++
        assert.deepEqual(
          words.filter((word) => !vocabulary.has(word)),
          [],
        )
      },
    )
    fc.assert(property, { numRuns: scaled(3_000) })
    assert.ok(made > scaled(100) / 4, `${made} statements`)
  })
})
