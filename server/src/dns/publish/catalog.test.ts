import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { parseZoneName } from '../../net/dns/name.ts'
import { catalogApex, memberLabel, planCatalog, type CatalogZone } from './catalog.ts'

const catalog = parseZoneName('catalog.example')
const created = new Date('2026-04-01T00:00:00Z')

const zone = (id: number, name = `z${id}.example`, teamId: number | null = 1): CatalogZone => ({
  id,
  name: parseZoneName(name),
  teamId,
  created,
  deleted: null,
})
const many = (count: number): CatalogZone[] => Array.from({ length: count }, (_, id) => zone(id))
/** Zones with lower ids are deleted first. */
const deleted = (one: CatalogZone): CatalogZone => ({
  ...one,
  deleted: new Date(created.getTime() + 1000 * one.id),
})
const never = () => false
const none = new Map<number | null, number>()

const membersOf = (zones: readonly CatalogZone[]) => planCatalog(catalog, [], zones, none, never).added

describe('the plan of the catalog zone', () => {
  it('adds at once, and removes a few deleted zones', () => {
    const zones = many(10)
    assert.equal(membersOf(zones).length, 10)
    const plan = planCatalog(
      catalog,
      membersOf(zones),
      zones.map((one) => (one.id < 3 ? deleted(one) : one)),
      none,
      never,
    )
    assert.deepEqual([plan.added.length, plan.removed.length, plan.held], [0, 3, undefined])
    assert.deepEqual(plan.withdrawn, [0, 1, 2])
  })

  it('removes nothing that is only missing', () => {
    const zones = many(100)
    for (const known of [zones.slice(0, 50), [], zones.slice(1)]) {
      const plan = planCatalog(catalog, membersOf(zones), known, none, never)
      assert.deepEqual([plan.removed, plan.withdrawn, plan.held], [[], [], undefined])
    }
  })

  it('holds more than three or 5 % within ten minutes, until exactly these are approved', () => {
    const zones = many(100)
    const members = membersOf(zones)
    const without = (count: number) => zones.map((one) => (one.id < count ? deleted(one) : one))
    assert.equal(planCatalog(catalog, members, without(5), none, never).removed.length, 5)
    assert.equal(
      planCatalog(catalog, members, without(5), new Map([[1, 1]]), never).held?.reason,
      'many_removals',
    )
    const held = planCatalog(catalog, members, without(6), none, never)
    assert.deepEqual([held.removed, held.withdrawn, held.held?.zones.length], [[], [], 6])
    const approved = planCatalog(catalog, members, without(6), none, (id) => id < 6)
    assert.deepEqual([approved.removed.length, approved.held], [6, undefined])
  })

  it('limits each team, so that one does not hold up the others, and all of them together', () => {
    const teams = (count: number, each: number): CatalogZone[] =>
      Array.from({ length: count * each }, (_, id) => zone(id, `z${id}.example`, (id % count) + 1))
    const zones = teams(10, 20)
    const members = membersOf(zones)
    // Team 1 removes four of twenty, teams 2 and 3 three each; ten of 200 may go.
    const isGone = ({ id, teamId }: CatalogZone) => (teamId === 1 ? id < 40 : id < 30 && teamId! <= 3)
    const removing = zones.map((one) => (isGone(one) ? deleted(one) : one))
    const plan = planCatalog(catalog, members, removing, none, never)
    assert.deepEqual(
      [plan.removed.length, plan.held?.reason, plan.held?.zones.map(({ id }) => id)],
      [6, 'many_removals', [0, 10, 20, 30]],
    )
    // Others used up the limit of all: the team that deleted first still fits.
    const crowded = planCatalog(
      catalog,
      members,
      removing,
      new Map([
        [9, 3],
        [8, 2],
        [7, 2],
      ]),
      never,
    )
    assert.deepEqual(
      [crowded.removed.length, crowded.held?.zones.map(({ id }) => (id % 10) + 1)],
      [3, [1, 3, 1, 3, 1, 3, 1]],
    )
    const recent = planCatalog(catalog, members, removing, new Map([[2, 1]]), never)
    assert.equal(recent.held?.zones.length, 7, 'team 2 removed one before')
    const approved = planCatalog(catalog, members, removing, none, (id) => id % 10 === 0)
    assert.deepEqual([approved.removed.length, approved.held], [10, undefined])
  })

  it('never empties itself without an approval', () => {
    const plan = planCatalog(catalog, membersOf(many(2)), many(2).map(deleted), none, never)
    assert.deepEqual([plan.removed, plan.held?.reason], [[], 'catalog_empty'])
  })

  it('replaces the member of a zone that was created again, however many there are', () => {
    const old = many(40)
    const again = old.map(({ id, name }) => ({ ...zone(1000 + id, name), created }))
    const plan = planCatalog(
      catalog,
      membersOf(old),
      [...old.map(deleted), ...again],
      new Map([[1, 100]]),
      never,
    )
    assert.deepEqual([plan.added.length, plan.removed.length, plan.held], [40, 40, undefined])
    assert.notEqual(memberLabel(old[0]!), memberLabel({ ...old[0]!, created: new Date() }))
  })

  it('has members only, without groups: a name server may stop to update a zone whose group changes', () => {
    const plan = planCatalog(catalog, [], many(3), none, never)
    assert.ok(plan.added.every(({ type }) => type === 12))
  })

  it('has a version, without which a name server removes nothing', () => {
    const texts = catalogApex(catalog).map(({ name, type }) => `${name} ${type}`)
    assert.deepEqual(texts, ['catalog.example. 6', 'catalog.example. 2', 'version.catalog.example. 16'])
  })
})
