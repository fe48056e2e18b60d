// Billing terms of a service that the platform file refuses, and pools over several services.
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { sql } from 'kysely'
import { testRing } from '../../commands/testing.ts'
import { createTestDatabase } from '../../db/testing.ts'
import { applyPlatform, preparePlatform } from '../apply.ts'
import { checkPlatform } from '../check.ts'
import { documentOf } from '../document.ts'
import { PlatformError } from '../problem.ts'
import { platformKinds } from './index.ts'

function problemsOf(service: object, ...others: readonly object[]): string[] {
  const own = { team: 'demo', name: 'Transit', type: 'transit' }
  const document = documentOf('file', {
    teams: [{ slug: 'demo', name: 'Demo' }],
    services: [{ ...own, ...service }, ...others.map((other) => ({ ...own, ...other }))],
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
    ['itself as a pool', { billing_pool: 'Transit' }, /billing_pool.*must be another service/],
    ['a pool that does not exist', { billing_pool: 'Other' }, /there is no service Other of team demo/],
  ] as const)
    it(`do not have ${what}`, () => {
      const problems = problemsOf(service)
      assert.equal(problems.length, 1, problems.join())
      assert.match(problems[0]!, message)
    })
})

describe('a pool over several services', () => {
  it('is no member of another one, whichever of them the file names', () => {
    const chain = problemsOf({ billing_pool: 'B' }, { name: 'B', billing_pool: 'C' }, { name: 'C' })
    assert.match(chain.join(), /B is billed by another service itself/)
    assert.match(chain.join(), /B is the pool of demo Transit/)
  })

  it('may be new together with its members, changes with the file, and stays while it has any', async () => {
    await using database = await createTestDatabase()
    const db = database.postgres.owner
    const apply = async (services: readonly object[], prune = false) => {
      const own = { team: 'demo', type: 'transit' }
      const teams = [{ slug: 'demo', name: 'Demo' }]
      const document = documentOf('file', { teams, services: services.map((one) => ({ ...own, ...one })) })
      const deps = { ring: testRing, readText: () => assert.fail() }
      const prepared = await preparePlatform(platformKinds, db, document, deps, { prune, enforce: false })
      await applyPlatform(platformKinds, db, prepared, new Date())
    }
    const pools = async () => {
      const { rows } = await sql<{ name: string; pool: string | null; former: (string | null)[] }>`
        select s.name, (select p.name from services p where p.id = s.pool_id) as pool,
          array(select (select p.name from services p where p.id = f.pool_id) from former_service_terms f
            where f.service_id = s.id order by lower(f.valid) nulls first) as former
        from services s order by 1`.execute(db)
      return rows.map(({ name, pool, former }) => [name, pool, former])
    }
    await apply([{ name: 'A', billing_pool: 'B' }, { name: 'B' }, { name: 'C' }])
    assert.deepEqual(await pools(), [
      ['A', 'B', []],
      ['B', null, []],
      ['C', null, []],
    ])
    await assert.rejects(apply([{ name: 'A', billing_pool: 'B' }, { name: 'C' }], true), /B/)
    await assert.rejects(apply([{ name: 'B', billing_pool: 'C' }]), /B is the pool of demo A/)
    await apply([{ name: 'A', billing_pool: 'C' }, { name: 'B' }, { name: 'C' }])
    await apply([{ name: 'A' }, { name: 'B' }, { name: 'C' }])
    assert.deepEqual(await pools(), [
      ['A', null, ['B', 'C']],
      ['B', null, []],
      ['C', null, []],
    ])
  })
})
