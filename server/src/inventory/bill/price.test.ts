// The lines of a price, how they are rounded, and the difference that a correction makes.
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { creditNoteOf, priceOf, type PriceTerms } from './price.ts'

const part = {
  monthly: null,
  commit: null,
  overage: null,
  tiers: [],
  tier_mode: 'graduated' as const,
  buckets: 8640,
}
const terms = (prices: object, more: object = {}): PriceTerms => ({
  currency: 'EUR',
  decimals: 2,
  buckets: 8640,
  month_buckets: 8640,
  parts: [{ ...part, ...prices }],
  ...more,
})
const tiers = [
  { above: 0, price: '2' },
  { above: 10_000_000, price: '1' },
]
const linesOf = (of: PriceTerms, billed: number, committed: number | null = null) => {
  const { lines, amount } = priceOf(of, { unit: 'bps', billed, committed })
  return [...lines.map((line) => [line.kind, line.quantity, line.amount]), amount]
}

describe('a price', () => {
  it('has the commit whatever was transferred, and the overage above it', () => {
    const of = terms({ monthly: '99.9', commit: '0.4', overage: '0.55' })
    assert.deepEqual(linesOf(of, 3_000_000, 10_000_000), [
      ['monthly', null, '99.90'],
      ['commit', 10_000_000, '4.00'],
      ['overage', 0, '0.00'],
      '103.90',
    ])
    assert.deepEqual(linesOf(of, 12_000_000, null), [
      ['monthly', null, '99.90'],
      ['overage', 12_000_000, '6.60'],
      '106.50',
    ])
  })

  it('has a tier only for what is above its border', () => {
    assert.deepEqual(linesOf(terms({ tiers }), 10_000_000), [['tier', 10_000_000, '20.00'], '20.00'])
    assert.deepEqual(linesOf(terms({ tiers }), 10_000_001), [
      ['tier', 10_000_000, '20.00'],
      ['tier', 1, '0.00'],
      '20.00',
    ])
    const whole = terms({ tiers, tier_mode: 'whole' })
    assert.deepEqual(linesOf(whole, 10_000_000), [['tier', 10_000_000, '20.00'], '20.00'])
    assert.deepEqual(linesOf(whole, 11_000_000, 30_000_000), [['tier', 30_000_000, '30.00'], '30.00'])
    assert.deepEqual(linesOf(whole, 0), [['tier', 0, '0.00'], '0.00'])
  })

  it('rounds each line with halves up, and is exact beyond the integers of floating point', () => {
    const half = terms({ monthly: '0.005', overage: '0.014999' })
    assert.deepEqual(linesOf(half, 1_000_000), [
      ['monthly', null, '0.01'],
      ['overage', 1_000_000, '0.01'],
      '0.02',
    ])
    const large = terms({ overage: '999999999.99999999' }, { decimals: 4 })
    const expected = 9_007_199_254_740_991n * 99_999_999_999_999_999n
    const [, amount] = linesOf(large, 9_007_199_254_740_991)
    assert.equal(String(amount).replace('.', ''), String((2n * expected + 10n ** 10n) / (2n * 10n ** 10n)))
    assert.deepEqual(linesOf(terms({ overage: '0.5' }, { decimals: 0 }), 1_000_000), [
      ['overage', 1_000_000, '1'],
      '1',
    ])
  })

  it('is in proportion to the time in which it applied: of a month, or of the bill for bytes', () => {
    const half = { ...part, monthly: '10', overage: '4', buckets: 2160 }
    const of = terms({}, { parts: [half, { ...half, monthly: '20' }], buckets: 4320 })
    assert.deepEqual(linesOf(of, 2_000_000), [
      ['monthly', null, '2.50'],
      ['overage', 2_000_000, '2.00'],
      ['monthly', null, '5.00'],
      ['overage', 2_000_000, '2.00'],
      '11.50',
    ])
    const { lines } = priceOf(of, { unit: 'octets', billed: 3_000_000_000, committed: 1_000_000_000 })
    assert.deepEqual(
      lines.map(({ amount }) => amount),
      ['2.50', '4.00', '5.00', '4.00'],
    )
  })

  it('has tiers of bytes in proportion to the time of the bill, and those of rates as they are', () => {
    const ofBytes = (billed: number, buckets: number, mode = 'graduated') => {
      const prices = { ...part, buckets, tier_mode: mode, tiers: tiersOfBytes }
      const of = terms({}, { buckets, parts: [prices] })
      const { lines } = priceOf(of, { unit: 'octets', billed, committed: null })
      return lines.map(({ above, quantity, amount }) => [above, quantity, amount])
    }
    const tiersOfBytes = tiers.map(({ above, price }) => ({ above: above * 1000, price }))
    assert.deepEqual(ofBytes(12_000_000_000, 8640), [
      [0, 10_000_000_000, '20.00'],
      [10_000_000_000, 2_000_000_000, '2.00'],
    ])
    // The agreement began on the 21st of 30 days: a third of the month, and of the tier.
    assert.deepEqual(ofBytes(4_000_000_000, 2880), [
      [0, 3_333_333_333, '6.67'],
      [3_333_333_333, 666_666_667, '0.67'],
    ])
    assert.deepEqual(ofBytes(4_000_000_000, 2880, 'whole'), [[3_333_333_333, 4_000_000_000, '4.00']])
    assert.deepEqual(linesOf(terms({ tiers }, { buckets: 4320 }), 12_000_000), [
      ['tier', 10_000_000, '20.00'],
      ['tier', 2_000_000, '2.00'],
      '22.00',
    ])
  })

  it('has the amounts of the examples in docs/billing.md', () => {
    const billed = 12_345_678_901
    const prices = { monthly: '250', commit: '0.40', overage: '0.55' }
    const amountOf = (of: PriceTerms) => linesOf(of, billed, 10_000_000_000).at(-1)
    assert.equal(amountOf(terms(prices)), '5540.12')
    const two = [
      { above: 0, price: '0.50' },
      { above: 10_000_000_000, price: '0.35' },
    ]
    assert.equal(amountOf(terms({ tiers: two })), '5820.99')
    assert.equal(amountOf(terms({ tiers: two, tier_mode: 'whole' })), '4320.99')
    const bytes = { unit: 'octets', billed: 12_345_678_901_234, committed: 10_000_000_000_000 } as const
    assert.equal(priceOf(terms({ monthly: '90', overage: '0.02' }), bytes).amount, '136.91')
    const changed = [
      { ...part, monthly: '250', buckets: 2880 },
      { ...part, monthly: '310', buckets: 6048 },
    ]
    const march = terms({}, { parts: changed, buckets: 8928, month_buckets: 8928 })
    assert.equal(linesOf(march, 0).at(-1), '290.65')
  })

  it('is not known without a billed figure', () => {
    const { lines, amount } = priceOf(terms({ monthly: '10' }), { unit: 'bps', billed: null, committed: 1 })
    assert.deepEqual([lines, amount], [[], null])
  })
})

describe('a credit note', () => {
  const bill = (billable: number | null, price: object | null) =>
    ({
      bill_id: 7,
      billable_bps: billable,
      billable_octets: null,
      overage_bps: 0,
      overage_octets: null,
      price,
    }) as never
  const money = (amount: string | null, currency = 'EUR', decimals = 2) => ({ amount, currency, decimals })

  it('has the differences, and none if a correction confirms the bill', () => {
    assert.deepEqual(creditNoteOf(bill(500, money('10.05')), bill(300, money('9.50'))), {
      corrects: 7,
      billable_bps: -200,
      billable_octets: null,
      overage_bps: 0,
      overage_octets: null,
      currency: 'EUR',
      amount: '-0.55',
    })
    assert.equal(creditNoteOf(bill(500, money('10.05')), bill(500, money('10.05'))), null)
  })

  it('knows no difference to what was not known, or to another currency', () => {
    const { billable_bps, amount, currency } = creditNoteOf(bill(null, money(null)), bill(5, money('1')))!
    assert.deepEqual([billable_bps, amount, currency], [null, null, 'EUR'])
    const other = creditNoteOf(bill(1, money('1', 'USD')), bill(1, money('1')))!
    assert.deepEqual([other.amount, other.currency], [null, null])
    assert.equal(creditNoteOf(bill(1, money('7', 'EUR', 0)), bill(1, money('7.25')))!.amount, '0.25')
  })
})
