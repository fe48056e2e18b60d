// Billing terms of a service that the platform file refuses.
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { checkPlatform } from '../check.ts'
import { documentOf } from '../document.ts'
import { PlatformError } from '../problem.ts'
import { platformKinds } from './index.ts'

function problemsOf(service: object): string[] {
  const document = documentOf('file', {
    teams: [{ slug: 'demo', name: 'Demo' }],
    services: [{ team: 'demo', name: 'Transit', type: 'transit', ...service }],
  })
  const current = { rows: new Map(), removed: new Set<string>() }
  const { problems } = checkPlatform(platformKinds, document, current, { prune: false })
  return problems.map((problem) => new PlatformError('file', [problem]).message)
}

const prices = (more: object) => ({ billing_prices: { currency: 'EUR', ...more } })
const tiers = [
  { above: 0, price: '0.50' },
  { above: 10_000_000_000, price: '0.35' },
]

describe('the billing terms of a service', () => {
  it('are accepted with prices or with tiers', () => {
    assert.deepEqual(problemsOf(prices({ monthly: '250', commit: '0.40', overage: '0' })), [])
    assert.deepEqual(problemsOf(prices({ decimals: 0, tiers, tier_mode: 'whole' })), [])
    assert.deepEqual(problemsOf({ billing_method: 'volume', billing_included_octets: 1 }), [])
  })

  for (const [what, service, message] of [
    ['a price that is a number', prices({ monthly: 250 }), /monthly.*decimal number in quotes/],
    ['a price below 0', prices({ monthly: '-1' }), /monthly.*decimal number in quotes/],
    ['a price with 9 decimals', prices({ overage: '0.123456789' }), /overage.*at most 8 decimals/],
    [
      'a currency in small letters',
      { billing_prices: { currency: 'eur' } },
      /currency.*three capital letters/,
    ],
    ['tiers beside the price of the commit', prices({ tiers, commit: '1' }), /tiers.*must not be beside/],
    ['tiers that begin above 0', prices({ tiers: tiers.slice(1) }), /above.*must be 0 in the first tier/],
    ['tiers in another order', prices({ tiers: [tiers[0], tiers[1], tiers[1]] }), /above.*must be greater/],
    ['a mode without tiers', prices({ tier_mode: 'whole' }), /tier_mode.*needs tiers/],
    ['included bytes of a percentile', { billing_included_octets: 1 }, /needs billing_method: volume/],
    ['a day that not every month has', { billing_day: 29 }, /billing_day.*from 1 to 28/],
  ] as const)
    it(`do not have ${what}`, () => {
      const problems = problemsOf(service)
      assert.equal(problems.length, 1, problems.join())
      assert.match(problems[0]!, message)
    })
})
