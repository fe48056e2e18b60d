import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { parseZoneName } from '../../net/dns/name.ts'
import { catalogApex, memberLabel, planCatalog, type CatalogZone } from './catalog.ts'

const catalog = parseZoneName('catalog.example')
const created = new Date('2026-04-01T00:00:00Z')

const zone = (id: number, name = `z${id}.example`): CatalogZone => ({
  id,
  name: parseZoneName(name),
  created,
  isDeleted: false,
})
const many = (count: number): CatalogZone[] => Array.from({ length: count }, (_, id) => zone(id))
const deleted = (one: CatalogZone): CatalogZone => ({ ...one, isDeleted: true })
const never = () => false

const membersOf = (zones: readonly CatalogZone[]) => planCatalog(catalog, [], zones, 0, never).added

describe('the plan of the catalog zone', () => {
  it('adds at once, and removes a few deleted zones', () => {
    const zones = many(10)
    assert.equal(membersOf(zones).length, 10)
    const plan = planCatalog(
      catalog,
      membersOf(zones),
      zones.map((one) => (one.id < 3 ? deleted(one) : one)),
      0,
      never,
    )
    assert.deepEqual([plan.added.length, plan.removed.length, plan.held], [0, 3, undefined])
    assert.deepEqual(plan.withdrawn, [0, 1, 2])
  })

  it('removes nothing that is only missing', () => {
    const zones = many(100)
    for (const known of [zones.slice(0, 50), [], zones.slice(1)]) {
      const plan = planCatalog(catalog, membersOf(zones), known, 0, never)
      assert.deepEqual([plan.removed, plan.withdrawn, plan.held], [[], [], undefined])
    }
  })

  it('holds more than three or 5 % within ten minutes, until exactly these are approved', () => {
    const zones = many(100)
    const members = membersOf(zones)
    const without = (count: number) => zones.map((one) => (one.id < count ? deleted(one) : one))
    assert.equal(planCatalog(catalog, members, without(5), 0, never).removed.length, 5)
    assert.equal(planCatalog(catalog, members, without(5), 1, never).held?.reason, 'many_removals')
    const held = planCatalog(catalog, members, without(6), 0, never)
    assert.deepEqual([held.removed, held.withdrawn, held.held?.sets.length], [[], [], 6])
    const approved = planCatalog(catalog, members, without(6), 0, ({ sets }) => sets.length === 6)
    assert.deepEqual([approved.removed.length, approved.held], [6, undefined])
  })

  it('never empties itself without an approval', () => {
    const plan = planCatalog(catalog, membersOf(many(2)), many(2).map(deleted), 0, never)
    assert.deepEqual([plan.removed, plan.held?.reason], [[], 'catalog_empty'])
  })

  it('replaces the member of a zone that was created again, however many there are', () => {
    const old = many(40)
    const again = old.map(({ id, name }) => ({ ...zone(1000 + id, name), created }))
    const plan = planCatalog(catalog, membersOf(old), [...old.map(deleted), ...again], 100, never)
    assert.deepEqual([plan.added.length, plan.removed.length, plan.held], [40, 40, undefined])
    assert.notEqual(memberLabel(old[0]!), memberLabel({ ...old[0]!, created: new Date() }))
  })

  it('has members only, without groups: a name server may stop to update a zone whose group changes', () => {
    const plan = planCatalog(catalog, [], many(3), 0, never)
    assert.ok(plan.added.every(({ type }) => type === 12))
  })

  it('has a version, without which a name server removes nothing', () => {
    const texts = catalogApex(catalog).map(({ name, type }) => `${name} ${type}`)
    assert.deepEqual(texts, ['catalog.example. 6', 'catalog.example. 2', 'version.catalog.example. 16'])
  })
})
