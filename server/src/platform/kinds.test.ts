// Every kind of the registry against a database: create, apply again, change each field, delete with and without references,
// write again the values that were read. A kind or a field without a sample here fails.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { sql } from 'kysely'
import type { TObject } from 'typebox'
import { createTestDatabase, emptyTables, type TestDatabase } from '../db/testing.ts'
import { createKeyRing } from '../runtime/secrets.ts'
import { applyPlatform, preparePlatform, readCurrent } from './engine/apply.ts'
import { rowsByKey } from './engine/define-kind.ts'
import { documentOf } from './engine/document.ts'
import type { PlatformChange, Create, Current, Kind, Update } from './engine/kind.ts'
import { platformKinds } from './kinds/index.ts'
import { PlatformError } from './engine/problem.ts'
import type { ApplyPlan } from './engine/plan.ts'
import {
  addSampleZone,
  elementSamples,
  sampleElement,
  sampleFiles,
  samplePlatform,
  type SamplePlatform,
} from './testing-elements.ts'
import { isLongRun } from '../runtime/testing-scale.ts'

const ring = createKeyRing(['a-secret-of-at-least-thirty-two-bytes'])
const now = new Date('2026-03-01T10:00:00Z')
/** Fields of an identity never change; an element of a team has its team as identity. */
const isIdentity = ({ identity }: Kind, field: string) => identity.includes(field) || field === 'team'

describe('every kind of the platform file', () => {
  let database: TestDatabase
  before(async () => void (database = await createTestDatabase()))
  after(() => database[Symbol.asyncDispose]())

  async function apply(
    platform: SamplePlatform,
    options: { prune?: boolean; enforce?: boolean } = {},
  ): Promise<ApplyPlan> {
    const deps = { ring, readText: (path: string) => sampleFiles[path] ?? assert.fail(`no file ${path}`) }
    const flags = { prune: false, enforce: true, ...options }
    const document = documentOf('request', platform)
    const { owner } = database.postgres
    const prepared = await preparePlatform(platformKinds, owner, document, deps, flags)
    await applyPlatform(platformKinds, owner, prepared, now)
    return prepared.plan
  }

  const read = (): Promise<Current> => readCurrent(platformKinds, database.postgres.owner)

  async function empty(): Promise<void> {
    const tables = platformKinds.kinds.map(({ table }) => table.name)
    await emptyTables(database.postgres.owner, tables, { restart: true })
  }

  const changesOf = ({ changes }: ApplyPlan, { name }: Kind): PlatformChange[] =>
    changes.filter((change) => change.kind === name)

  it('is created, and unchanged when applied again', async () => {
    const first = await apply(samplePlatform)
    const { changes, unchanged } = await apply(samplePlatform)
    assert.deepEqual(changes, [])
    for (const kind of platformKinds.kinds) {
      const created = changesOf(first, kind)
      assert.ok(created.length > 0 && created.every(({ action }) => action === 'create'), kind.name)
      assert.equal(unchanged[kind.name], created.length, kind.name)
    }
  })

  it('has the fields that the plan wrote, under its key', async () => {
    await empty()
    const plan = await apply(samplePlatform)
    const stored = await read()
    for (const kind of platformKinds.kinds) {
      const rows = rowsByKey(stored, kind)
      const created = changesOf(plan, kind) as Create[]
      assert.deepEqual([...rows.keys()].toSorted(), created.map(({ key }) => key).toSorted())
      for (const { key, fields } of rows.values()) {
        assert.equal(kind.keyOf(fields), key)
        assert.deepEqual(Object.keys(fields), Object.keys(kind.fields))
      }
    }
  })

  it('is unchanged when written again as read', async () => {
    const stored = await read()
    await empty()
    await database.postgres.owner.transaction().execute(async (trx) => {
      for (const { name, create } of platformKinds.kinds) {
        const rows = [...stored.rows.get(name)!.values()]
        const created = rows.map(({ key, fields }): Create => ({ action: 'create', kind: name, key, fields }))
        await create(trx, created, now)
      }
    })
    const copies = await read()
    for (const kind of platformKinds.kinds) {
      const copy = rowsByKey(copies, kind)
      for (const [key, { fields }] of rowsByKey(stored, kind)) assert.deepEqual(copy.get(key)?.fields, fields)
    }
    assert.deepEqual((await apply(samplePlatform)).changes, [])
  })

  it('requires the sign-in of staff only once the upgrade is finished', async () => {
    const { owner } = database.postgres
    await empty()
    const requiring = (required: boolean) =>
      apply({ staff_sign_in: [{ ...(elementSamples['staff_sign_in']!.element as object), required }] })
    const { rows } = await sql<{ floor: string }>`select schema_floor as floor from installation`.execute(
      owner,
    )
    await sql`update installation set schema_floor = '0.2.0'`.execute(owner)
    try {
      await assert.rejects(requiring(true), /staff_sign_in.*pharos migrate --finish/)
      await requiring(false)
      await assert.rejects(requiring(true), /staff_sign_in.*pharos migrate --finish/)
    } finally {
      await sql`update installation set schema_floor = ${rows[0]!.floor}`.execute(owner)
    }
    assert.equal((await requiring(true)).changes.length, 1)
  })

  describe('changes', () => {
    let stored: string
    before(async () => {
      await empty()
      await apply(samplePlatform)
      await addSampleZone(database.postgres.owner)
      stored = await fieldsOfAll()
    })

    for (const kind of platformKinds.kinds) {
      if (kind.element === null) continue
      describe(kind.name, () => {
        for (const field of Object.keys((kind.element as TObject).properties)) {
          if (isIdentity(kind, field)) continue
          it(`${field}, once, with an entry in the audit log`, async () => {
            const { changes } = await apply(platformWith(kind, field))
            const [change, ...others] = changes
            assert.ok(change?.action === 'update' && others.length === 0, JSON.stringify(changes))
            assert.equal(platformKinds.get(change.kind).section, kind.section)
            if (isLongRun) assert.deepEqual((await apply(platformWith(kind, field))).changes, [])
            const { rows } = await sql<Record<string, unknown>>`
              select actor, action, target, before, after from audit_entries order by id desc limit 1`.execute(
              database.postgres.owner,
            )
            const [{ actor, action, target, ...states }] = rows as [Record<string, unknown>]
            const { id } = change.row
            assert.deepEqual(
              [actor, action, target],
              ['operator', `${change.kind}.update`, `${change.kind}:${id}`],
            )
            assert.doesNotMatch(JSON.stringify(states), /argon2|secret_mac/)
            await leftOutIsDefault(kind, field, change)
            await undo(change)
          })
        }

        after(restore)
      })
    }

    function platformWith(kind: Kind, field: string): SamplePlatform {
      const base = sampleElement(kind.section)
      const changed = elementSamples[kind.section]!.fields[field] ?? assert.fail(`no sample of ${field}`)
      const given = Object.entries({ ...base, ...changed }).filter(([, value]) => value !== undefined)
      return { [kind.section]: [Object.fromEntries(given)] }
    }

    /** An optional field that the file no longer has returns to its default, unless others set it too. */
    async function leftOutIsDefault(
      kind: Kind,
      field: string,
      { kind: name, key, changes }: Update,
    ): Promise<void> {
      const { element } = kind
      const changedKind = platformKinds.get(name)
      const declared = changedKind.fields
      if ((element as TObject).required?.includes(field) || !(field in declared)) return
      const { [kind.section]: elements } = platformWith(kind, field)
      const { [field]: _, ...left } = elements![0]!
      try {
        await apply({ [kind.section]: [left] }, { enforce: false })
      } catch (error) {
        // Needed together with the other fields of the element.
        if (error instanceof PlatformError) return
        throw error
      }
      const { isShared = false, initial } = declared[field]!
      const stored = await readCurrent({ kinds: [changedKind] }, database.postgres.owner)
      const row = rowsByKey(stored, changedKind).get(key)!
      const now = row.fields[field]
      const changed = changes.find((one) => one.field === field)
      if (isShared || row.setByOwner.includes(field))
        assert.deepEqual(now, changed!.after, `${name} ${field} is kept`)
      else if (initial !== undefined) assert.deepEqual(now, initial, `${name} ${field} takes its default`)
      else assert.notEqual(now, undefined)
    }

    /** Applying the sample again would not undo the change of a field that the sample omits. */
    async function undo(change: Update): Promise<void> {
      const { row, fields } = change
      const before = Object.fromEntries(Object.keys(fields).map((field) => [field, row.fields[field]]))
      const inverse: Update = {
        ...change,
        fields: before,
        row: { ...row, fields: { ...row.fields, ...fields } },
      }
      const { owner } = database.postgres
      await owner.transaction().execute((trx) => platformKinds.get(change.kind).update(trx, inverse, now))
    }

    async function restore(): Promise<void> {
      if ((await fieldsOfAll()) === stored) return
      await empty()
      await apply(samplePlatform)
      await addSampleZone(database.postgres.owner)
    }

    async function fieldsOfAll(): Promise<string> {
      const current = await read()
      const rows = platformKinds.kinds.map((kind) =>
        [...rowsByKey(current, kind)].map(([key, { fields }]) => [key, fields]),
      )
      return JSON.stringify(rows, (_, value) => (typeof value === 'bigint' ? String(value) : value))
    }
  })

  describe('deletion by pruning', () => {
    before(empty)

    for (const kind of platformKinds.kinds) {
      it(`deletes ${kind.name}, unless something refers to it`, async () => {
        await apply(samplePlatform)
        await sql`update announcements set enabled = false`.execute(database.postgres.owner)
        await sql`update announcement_regions set state = 'withdrawn'`.execute(database.postgres.owner)
        const endAssignments = () => sql`delete from port_assignments`.execute(database.postgres.owner)
        if (kind.name === 'port') await endAssignments()
        const plan = await apply({ [kind.section]: [] }, { prune: true })
        const isReferredTo = platformKinds.kinds.some(
          ({ section, fields }) =>
            section !== kind.section &&
            Object.values(fields).some(({ reference }) => reference?.kind.name === kind.name),
        )
        const changes = changesOf(plan, kind)
        const count = samplePlatform[kind.section]!.length
        if (isReferredTo) {
          assert.deepEqual(
            changes.filter(({ action }) => action === 'delete'),
            [],
          )
          const kept = plan.notices.filter((notice) =>
            /^\w+ .+ is not in the file and is kept: .* refers? to it$/.test(notice),
          )
          assert.equal(kept.length, count)
        } else {
          assert.ok(changes.length >= count && changes.every(({ action }) => action === 'delete'))
        }
        const nothing = Object.fromEntries(platformKinds.sections.map((section) => [section, []]))
        await endAssignments()
        await apply(nothing, { prune: true })
        const rest = await read()
        for (const one of platformKinds.kinds) assert.equal(rowsByKey(rest, one).size, 0, one.name)
      })
    }
  })
})
