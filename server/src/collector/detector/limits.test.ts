import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { parsePrefix, prefixBits } from '../../net/prefix.ts'
import { createFlowOwners, toHoldingColumns } from '../flow-owners.ts'
import type { Threshold } from '../../flow/threshold.ts'
import { createLimitRules, usualRatesOf, type DetectorRules } from './limits.ts'
import { scope } from './scopes.ts'
import { storedOfLists } from './usual-traffic.ts'

const rulesOf = (thresholds: readonly Threshold[], rest: Partial<DetectorRules> = {}) =>
  createLimitRules({ thresholds, baselines: new Map(), ...rest })
const bits = (text: string) => prefixBits(parsePrefix(text))
const host = bits('203.0.113.7/32')

describe('limits', () => {
  it('of a host are raised by its own usual traffic, of a network by its own', () => {
    const one = { bps: 100, pps: 10, ratio: 4 }
    const rules = rulesOf([one], { portSpeeds: new Map([[1, 1000]]) })
    const usual = { bps: 50, pps: 1 }
    assert.deepEqual(rules.limitsOf(one, scope.host, 1, usual), { bps: 200, pps: 10 })
    assert.deepEqual(rules.limitsOf(one, scope.host, 1), { bps: 100, pps: 10 })
    assert.deepEqual(rules.limitsOf(one, scope.holding, 1, usual), { bps: 400, pps: 40 })
    assert.deepEqual(rules.limitsOf(one, scope.holding, 1, { bps: 200, pps: 20 }), { bps: 600, pps: 60 })
    // The ports of the team take 1,000.
    assert.deepEqual(rules.limitsOf(one, scope.ladder, 1, { bps: 500, pps: 1 }), { bps: 900, pps: 40 })
    assert.deepEqual(rules.limitsOf(one, scope.ladder, 1, { bps: 900, pps: 1 }), { bps: 1080, pps: 40 })
    assert.deepEqual(rules.limitsOf(one, scope.ladder, 2, { bps: 900, pps: 1 }), { bps: 2700, pps: 40 })
  })

  it('of traffic that is sent are those of traffic that arrives, unless they are set', () => {
    const one = { bps: 100, pps: 10, outgoingBps: 30, networkBps: 50 }
    const rules = rulesOf([one])
    assert.deepEqual(rules.limitsOf(one, scope.outgoing + scope.host, 1), { bps: 30, pps: 10 })
    assert.deepEqual(rules.limitsOf(one, scope.outgoing + scope.holding, 1), { bps: 120, pps: 40 })
  })

  it("of a team replace the operator's for the same addresses, unless those are locked", () => {
    const [operator, team] = [
      { teamId: 1, bps: 100 },
      { teamId: 1, bps: 50, ofTeam: true },
    ]
    assert.equal(rulesOf([operator, team]).find(host, 1)?.bps, 50)
    assert.equal(rulesOf([{ ...operator, isLocked: true }, team]).find(host, 1)?.bps, 100)
    assert.equal(rulesOf([operator, team]).find(host, 2), undefined)
    const narrow = { ...team, prefix: parsePrefix('203.0.113.0/28'), bps: 7 }
    assert.equal(rulesOf([operator, narrow]).find(host, 1)?.bps, 7)
  })
})

describe('usual traffic', () => {
  it('is what is stored, raised by the last hour to at most four times', () => {
    const stored = { bps: 100, pps: 10 }
    assert.deepEqual(usualRatesOf({ stored, recent: undefined }), stored)
    assert.deepEqual(usualRatesOf({ stored: undefined, recent: { bps: 3, pps: 1 } }), { bps: 3, pps: 1 })
    assert.deepEqual(usualRatesOf({ stored, recent: { bps: 250, pps: 90 } }), { bps: 250, pps: 40 })
    assert.equal(usualRatesOf({ stored: undefined, recent: undefined }), undefined)
  })

  it('of a prefix has that of the prefixes of the team in it', () => {
    const owners = createFlowOwners(
      toHoldingColumns(
        1,
        [
          ['10.0.0.0/16', 1, 1, 'prefix'],
          ['10.0.0.0/24', 1, 2, 'prefix'],
          ['10.0.1.0/24', 2, 3, 'prefix'],
          ['10.0.1.0/25', 1, 4, 'prefix'],
          ['10.0.2.0/24', 1, 9, 'announcement'],
        ].map(([prefix, teamId, id, resource]) => ({
          prefix: parsePrefix(prefix as string),
          teamId: teamId as number,
          id: id as number,
          resource: resource as 'prefix',
        })),
      ),
    )
    const listOf = (text: string) => owners.find(0, 0, 0xff_ff, bits(text).w0 >>> 0)
    const rate = (bps: number) => ({ bps, pps: 1 })
    const stored = storedOfLists(
      owners,
      new Map([
        [1, rate(1)],
        [2, rate(20)],
        [3, rate(300)],
        [4, rate(4000)],
      ]),
    )
    assert.equal(stored[listOf('10.0.9.9/32')]?.bps, 4021)
    assert.equal(stored[listOf('10.0.0.9/32')]?.bps, 20)
    assert.equal(stored[listOf('10.0.1.200/32')]?.bps, 300)
    assert.equal(stored[listOf('10.0.1.9/32')]?.bps, 4000)
    assert.equal(stored[listOf('10.0.2.9/32')], undefined, 'nothing is stored of an announcement')
  })
})
