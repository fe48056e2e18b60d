// Octets planted in messages, and mutated answers: the process must send only the intended rules.
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import type { FilterAction } from '../../net/filter-rule.ts'
import { filterRuleText, roundedAction } from '../../net/filter-rule.ts'
import { flowMatches } from '../../net/testing-flow.ts'
import { componentOctets } from '../../net/flowspec/nlri.ts'
import { parsePrefix } from '../../net/prefix.ts'
import { parseOwner, type GobgpPath } from '../gobgp/codec.ts'
import type { Dialect } from '../gobgp/dialect.ts'
import { gobgp3 } from '../gobgp/gobgp3.ts'
import { gobgp4 } from '../gobgp/gobgp4.ts'
import { changeOf } from './change.ts'
import { decodeOwnRule, encodeRule, type InstalledRule } from './codec.ts'
import { scaled } from '../../runtime/testing-scale.ts'

const owner = parseOwner('64500:2:1')
const prefix = { 4: parsePrefix('203.0.113.0/24'), 6: parsePrefix('2001:db8:a::/48') } as const

const actions = fc.oneof(
  fc.constantFrom<FilterAction>({ kind: 'allow' }, { kind: 'deny' }),
  fc.integer({ min: 8, max: 2 ** 43 }).map((bps): FilterAction => ({ kind: 'rate_limit', bps })),
  fc.integer({ min: 1, max: 2 ** 33 }).map((pps): FilterAction => ({ kind: 'rate_limit', pps })),
)

const rules = fc
  .constantFrom(4 as const, 6 as const)
  .chain((family) =>
    fc
      .tuple(flowMatches(family), actions, fc.nat(0xffff_ffff))
      .map(([match, action, id]): InstalledRule => ({ prefix: prefix[family], rule: { id, match, action } })),
  )
  .filter(({ rule }) => componentOctets(rule.match) <= 239)

const dialects = fc.constantFrom(gobgp3, gobgp4)

const familyOf = ({ prefix }: InstalledRule): 4 | 6 => (prefix.includes(':') ? 6 : 4)

describe('a rule of FlowSpec', () => {
  it('is the same after encoding and decoding, with a rate as float32', () => {
    fc.assert(
      fc.property(rules, dialects, (installed, dialect) => {
        const decoded = decodeOwnRule(encodeRule(installed, owner, dialect), familyOf(installed), owner)
        const { rule } = installed
        const expected = { ...rule, action: roundedAction(rule.action) }
        assert.equal(decoded?.prefix, installed.prefix)
        assert.equal(filterRuleText(decoded.rule), filterRuleText(expected))
      }),
      { numRuns: scaled(2_000) },
    )
  })

  it('is foreign with another owner, identifier or origin', () => {
    fc.assert(
      fc.property(rules, dialects, (installed, dialect) => {
        const path = encodeRule(installed, owner, dialect)
        const family = familyOf(installed)
        assert.equal(decodeOwnRule(path, family, parseOwner('64500:2:2')), undefined)
        assert.equal(decodeOwnRule({ ...path, identifier: 0 }, family, owner), undefined)
        assert.equal(decodeOwnRule({ ...path, neighborIp: '192.0.2.1' }, family, owner), undefined)
        const withoutOwner = path.pattrsBinary.filter((octets) => octets[1] !== 32)
        assert.equal(decodeOwnRule({ ...path, pattrsBinary: withoutOwner }, family, owner), undefined)
      }),
      { numRuns: 300 },
    )
  })

  it('is decoded from mutated octets as a rule, as a foreign one, or rejected with an Error', () => {
    fc.assert(
      fc.property(rules, changes, dialects, (installed, changed, dialect) => {
        const path = mutated(encodeRule(installed, owner, dialect), changed)
        try {
          decodeOwnRule(path, familyOf(installed), owner)
        } catch (error) {
          assert.ok(error instanceof Error && error.name !== 'AssertionError', String(error))
        }
      }),
      { numRuns: scaled(10_000) },
    )
  })
})

describe('a message', () => {
  for (const [version, dialect] of Object.entries({ '3.x': gobgp3, '4.x': gobgp4 })) {
    it(`of GoBGP ${version} with any planted octet is not sent`, () => {
      let planted = 0
      fc.assert(
        fc.property(rules, changes, fc.boolean(), (installed, changed, isWithdrawal) => {
          const kind = isWithdrawal ? 'withdrawal' : 'announcement'
          const good = changeOf(kind, [installed], owner, dialect)
          const planting: Dialect = {
            ...dialect,
            encodeChange: (paths) => dialect.encodeChange(paths.map((path) => mutated(path, changed))),
          }
          const isSame = Buffer.from(good).equals(planting.encodeChange(pathsOf(good, dialect)))
          if (isSame) return
          planted++
          assert.throws(() => changeOf(kind, [installed], owner, planting), Error)
        }),
        { numRuns: scaled(3_000) },
      )
      assert.ok(planted > scaled(1_000), `${planted} planted`)
    })
  }

  it('with another rule, kind, family or number of paths is not sent', () => {
    const deny: FilterAction = { kind: 'deny' }
    const rule = (id: number): InstalledRule => ({
      prefix: prefix[4],
      rule: { id, match: { destination: prefix[4], protocol: [[id, id]] }, action: deny },
    })
    const plants: readonly ((paths: GobgpPath[]) => GobgpPath[])[] = [
      (paths) => [...paths, ...paths],
      () => [],
      (paths) => paths.map((path) => ({ ...path, isWithdraw: !path.isWithdraw })),
      (paths) => paths.map((path) => ({ ...path, family: { afi: 1, safi: 1 } })),
      (paths) => paths.map((path) => ({ ...path, identifier: 7 })),
      (paths) => paths.toReversed(),
    ]
    for (const plant of plants) {
      const dialect: Dialect = { ...gobgp3, encodeChange: (paths) => gobgp3.encodeChange(plant(paths)) }
      for (const kind of ['announcement', 'withdrawal'] as const)
        assert.throws(() => changeOf(kind, [rule(6), rule(17)], owner, dialect), Error)
    }
  })
})

type Changed = readonly { readonly at: number; readonly octet: number; readonly kind: string }[]

const changes = fc.array(
  fc.record({ at: fc.nat(), octet: fc.nat(255), kind: fc.constantFrom('set', 'insert', 'remove') }),
  { minLength: 1, maxLength: 2 },
)

/** Changes octets of the NLRI and of the attributes. */
function mutated(path: GobgpPath, changed: Changed): GobgpPath {
  const parts = [path.nlriBinary, ...path.pattrsBinary].map((octets) => [...octets])
  for (const { at, octet, kind } of changed) {
    const part = parts[at % parts.length]!
    const index = Math.floor(at / parts.length) % Math.max(1, part.length)
    if (kind === 'set') part[index] = octet
    else if (kind === 'insert') part.splice(index, 0, octet)
    else part.splice(index, 1)
  }
  const [nlri, ...attributes] = parts.map((octets) => Uint8Array.from(octets))
  return { ...path, nlriBinary: nlri!, pattrsBinary: attributes }
}

function pathsOf(octets: Uint8Array, dialect: Dialect): GobgpPath[] {
  return dialect.decodeChange(octets).paths.map((path) => ({
    ...path,
    nlriBinary: path.nlriBinary,
    pattrsBinary: [...path.pattrsBinary],
  }))
}
