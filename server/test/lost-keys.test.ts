// An installation whose key is gone does not start with another one unless that is accepted.
import assert from 'node:assert/strict'
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, beforeEach, describe, it } from 'node:test'
import { sql } from 'kysely'
import { LostKeyError, macPlaces } from '../src/db/lost-keys.ts'
import { sealedPlaces, type SealedValue } from '../src/db/reseal.ts'
import { createTestDatabase, emptyTables, type TestDatabase } from '../src/db/testing.ts'
import { createLog } from '../src/runtime/log.ts'
import { createKeyRing, seal } from '../src/runtime/secrets.ts'
import { dropRules, listTables, type TableShape } from './support/generated-rows.ts'
import { addRowWith, addSealedRow, allowNoSealedValue } from './support/sealed-rows.ts'
import { readConfiguration } from '../src/commands/configuration.ts'
import { checkKeyFile, checkKeys } from '../src/commands/lost-keys.ts'
import { commands } from '../src/commands/index.ts'

const ring = createKeyRing(['o'.repeat(40)])
const other = createKeyRing(['n'.repeat(40)])
const folder = mkdtempSync(join(tmpdir(), 'pharos-lost-keys-'))
const silent = createLog({ logLevel: 'silent', logFormat: 'json' })

let database: TestDatabase
let tables: readonly TableShape[]
before(async () => {
  database = await createTestDatabase()
  tables = await listTables(owner())
  await dropRules(owner(), tables)
  await allowNoSealedValue(owner())
})
beforeEach(async () => {
  await emptyTables(
    owner(),
    [...sealedPlaces, ...macPlaces].map(({ table }) => table),
  )
  await sql`update installation set lost_keys = '{}'`.execute(owner())
})
after(async () => {
  await database[Symbol.asyncDispose]()
  rmSync(folder, { recursive: true, force: true })
})

const owner = () => database.postgres.owner
const env = () => ({ DATABASE_URL: database.databaseUrl, PHAROS_DATA_DIR: join(folder, 'data') })
const keyFile = join(folder, 'data/secret')

const addSealed = (place: SealedValue, by = ring, n = 1) =>
  addSealedRow(owner(), tables, place, { ring: by, n })
const addRow = (place: { readonly table: string; readonly column: string }) =>
  addRowWith(owner(), tables, place, sql`'\\x01'::bytea`)

const check = (by: typeof ring, isAccepted = false) => checkKeys(owner(), by, { isAccepted, log: silent })

describe('a ring without the key of the values', () => {
  for (const place of sealedPlaces)
    it(`is refused if it opens none of the ${place.noun}, and names what stops working`, async () => {
      await addSealed(place)
      await check(ring)
      await assert.rejects(check(other), (error: Error) => {
        assert.ok(error instanceof LostKeyError)
        assert.ok(
          error.message.includes(
            `--accept-lost-secrets starts without it:\n  ${place.noun} (1): ${place.effect}\n`,
          ),
          error.message,
        )
        return true
      })
      await check(createKeyRing(['n'.repeat(40), 'o'.repeat(40)]))
    })

  it('is accepted if asked for, once: later starts have no such values', async () => {
    const [first, second] = sealedPlaces
    await addSealed(first!)
    await check(other, true)
    await check(other)
    await addSealed(second!)
    await assert.rejects(check(other), new RegExp(`${second!.noun} \\(1\\)`))
  })

  it('is used if it opens some values of each kind', async () => {
    await addSealed(sealedPlaces[0]!)
    await addSealed(sealedPlaces[0]!, other, 2)
    await check(ring)
  })
})

describe('a missing key file', () => {
  for (const { noun, table, column, effect } of macPlaces)
    it(`is refused while there are ${noun}, and none is created`, async () => {
      await addRow({ table, column })
      await assert.rejects(checkKeyFile(env()), (error: Error) => {
        assert.ok(error instanceof LostKeyError)
        assert.match(error.message, new RegExp(`^The key file ${keyFile} is missing`))
        assert.ok(error.message.includes(`  ${noun} (1): ${effect}\n`), error.message)
        return true
      })
      assert.ok(!existsSync(keyFile))
    })

  it('stops every command before a key is created', async () => {
    await addSealed(sealedPlaces[0]!)
    for (const [name, args] of [
      ['serve', []],
      ['start', []],
      ['migrate', []],
      ['status', []],
      ['token', ['list']],
    ] as const) {
      const command = commands.find((one) => one.name === name)!
      const run = command.run({
        args,
        env: env(),
        config: (from = env()) => readConfiguration(from),
        out: () => {},
      })
      await assert.rejects(run, /The key file .* is missing/, name)
    }
    assert.ok(!existsSync(keyFile))
  })

  it('is no problem in an empty database, with a file, with a setting, or if the loss is accepted', async () => {
    assert.deepEqual(await checkKeyFile(env()), [])
    await addSealed(sealedPlaces[0]!)
    assert.deepEqual(
      (await checkKeyFile(env(), { isAccepted: true })).map(({ noun }) => noun),
      [sealedPlaces[0]!.noun],
    )
    assert.deepEqual(await checkKeyFile({ ...env(), PHAROS_SECRET: 's'.repeat(40) }), [])
    mkdirSync(join(folder, 'data'))
    writeFileSync(keyFile, 's'.repeat(40), { mode: 0o600 })
    assert.deepEqual(await checkKeyFile(env()), [])
    rmSync(join(folder, 'data'), { recursive: true })
  })

  it('is refused while the database does not answer', async () => {
    const url = new URL(database.databaseUrl)
    url.searchParams.set('host', join(folder, 'nowhere'))
    await assert.rejects(
      checkKeyFile({ ...env(), DATABASE_URL: url.href }),
      /There is no key file .*, and the database does not answer/,
    )
  })

  it('is found on the schema of an older release, and in an empty database', async () => {
    await using old = await createTestDatabase({ migrations: mkdtempSync(join(folder, 'none-')) })
    const at = { ...env(), DATABASE_URL: old.databaseUrl }
    assert.deepEqual(await checkKeyFile(at), [])
    await sql`create table signing_keys (private_key_sealed bytea)`.execute(old.postgres.owner)
    const sealed = seal(ring, 'signing-key', Buffer.from('x'))
    await sql`insert into signing_keys values (${sealed})`.execute(old.postgres.owner)
    await assert.rejects(checkKeyFile(at), /signing keys \(1\)/)
  })
})

describe('the kinds of values', () => {
  it('are all that the schema has', async () => {
    const { rows } = await sql<{ place: string }>`
      select c.relname || '.' || a.attname as place from pg_class c join pg_attribute a on a.attrelid = c.oid
      where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
        and a.attname ~ '_(mac|sealed)$' and not a.attisdropped`.execute(owner())
    // Counted by another value of their row: a token with a former secret has a present one, and a sign-in under way has its content.
    const counted = [
      { table: 'api_tokens', column: 'previous_mac' },
      { table: 'scim_tokens', column: 'previous_mac' },
      { table: 'auth_flows', column: 'cookie_mac' },
    ]
    const known = [...sealedPlaces.filter(({ inJson }) => !inJson), ...macPlaces, ...counted]
    assert.deepEqual(
      rows.map(({ place }) => place).toSorted(),
      known.map(({ table, column }) => `${table}.${column}`).toSorted(),
    )
  })
})
