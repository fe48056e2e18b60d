// The coverage of an approval, of both kinds.
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import type { ApprovalReason } from '@pharos/contract/reason/approval-reason'
import { approvalChange, evidenceOf, itemKey, type StoredItem } from './coverage.ts'

const anyItem: fc.Arbitrary<StoredItem> = fc.oneof(
  fc.integer({ min: 0, max: 5 }).map((at): StoredItem => ({ change: 'withdraw', value: `10.0.${at}.0/24` })),
  fc
    .record({
      at: fc.integer({ min: 0, max: 2 }),
      router: fc.constantFrom('r1', 'r2'),
      from: fc.constantFrom('AS1', 'AS2'),
      to: fc.constantFrom('AS3', 'AS4'),
    })
    .map(({ at, ...route }): StoredItem => ({ change: 'replace', value: `10.0.${at}.0/24`, ...route })),
)
const anyPlan = fc
  .record({
    reason: fc.constantFrom<ApprovalReason>('too_many_withdrawals', 'no_rows'),
    items: fc.uniqueArray(anyItem, { selector: itemKey, maxLength: 6 }),
  })
  .map(({ reason, items }) => ({
    findings: [{ reason, attrs: {} }],
    items,
    evidence: evidenceOf(reason, items),
  }))
type Plan = typeof anyPlan extends fc.Arbitrary<infer P> ? P : never

const openFor = ({ findings, items, evidence }: Plan) => ({
  reason: findings[0]!.reason,
  evidence,
  covered: new Set(items.map(itemKey)),
})

describe('an open approval', () => {
  it('never covers a change that it does not have, nor another reason', () => {
    fc.assert(
      fc.property(anyPlan, anyPlan, (shown, planned) => {
        const keys = shown.items.map(itemKey)
        const isSameReason = shown.findings[0]!.reason === planned.findings[0]!.reason
        const hasMore = planned.items.some((item) => !keys.includes(itemKey(item)))
        for (const covers of ['subset', 'exact'] as const) {
          const change = approvalChange(covers, openFor(shown), planned)
          if (!isSameReason || hasMore) assert.equal(change, 'open', covers)
        }
      }),
    )
  })

  it('covers a part of its changes if it covers subsets, and only the same plan if it is exact', () => {
    const parts = anyPlan.chain((plan) =>
      fc.tuple(
        fc.constant(plan),
        fc.subarray([...plan.items]).map((items) => ({ ...plan, items })),
      ),
    )
    fc.assert(
      fc.property(parts, ([shown, part]) => {
        const planned = { ...part, evidence: evidenceOf(part.findings[0]!.reason, part.items) }
        assert.equal(approvalChange('subset', openFor(shown), planned), 'keep')
        const isSame = part.items.length === shown.items.length
        assert.equal(approvalChange('exact', openFor(shown), planned), isSame ? 'keep' : 'open')
      }),
    )
  })

  it('is closed if nothing is planned, and nothing happens without both', () => {
    fc.assert(
      fc.property(anyPlan, fc.constantFrom('subset' as const, 'exact' as const), (shown, covers) => {
        assert.equal(approvalChange(covers, openFor(shown), undefined), 'close')
        assert.equal(approvalChange(covers, null, shown), 'open')
        assert.equal(approvalChange(covers, null, undefined), 'keep')
      }),
    )
  })

  it('covers a replaced route by its result, on its router', () => {
    const item = { change: 'replace', value: '10.0.0.0/24', router: 'r1', from: 'AS1', to: 'AS2' } as const
    assert.equal(itemKey(item), itemKey({ ...item, from: 'AS9' }))
    for (const other of [
      { router: 'r2' },
      { to: 'AS3' },
      { value: '10.0.1.0/24' },
      { change: 'apply' as const },
    ])
      assert.notEqual(itemKey(item), itemKey({ ...item, ...other }))
  })
})
