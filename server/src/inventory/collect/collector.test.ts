// The collector with simulated devices: surveys, polls, silence, leases shared by two processes.
import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import { sql } from 'kysely'
import { createTestDatabase, emptyTables, type TestDatabase } from '../../db/testing.ts'
import { createDeviceSource } from '../../drivers/device-sources.ts'
import type { Db } from '../../db/postgres.ts'
import { DriverError } from '../../runtime/driver-error.ts'
import { fail } from '../../runtime/error.ts'
import { createLog } from '../../runtime/log.ts'
import { DeviceCollector, type DeviceCollectorDeps } from './collector.ts'
import type { DeviceSource } from './device-source.ts'

const options = { credential: null, readSamples: async () => [], now: () => new Date() }

let database: TestDatabase
before(async () => void (database = await createTestDatabase()))
after(() => database[Symbol.asyncDispose]())
beforeEach(() => emptyTables(database.postgres.owner, ['devices']))

const wire = { speed_bps: 1e11 }
const bundle = {
  interfaces: [
    { name: 'ae0', is_lag: true, ...wire },
    { name: 'et-0/0/1', lag: 'ae0', ...wire },
    { name: 'et-0/0/2', lag: 'ae0', oper: 'down', ...wire },
  ],
}

async function addDevice(name: string, settings: object): Promise<number> {
  const { rows } = await sql<{ id: number }>`
    insert into devices (name, driver, settings) values (${name}, 'sandbox', ${JSON.stringify(settings)})
    returning id`.execute(database.postgres.owner)
  return rows[0]!.id
}

const createCollector = (deps: Partial<DeviceCollectorDeps> = {}) =>
  new DeviceCollector({
    postgres: database.postgres,
    log: createLog({ logLevel: 'fatal', logFormat: 'json' }),
    owner: 'one',
    createSource: (device) => createDeviceSource({ ...device, ...options }),
    ...deps,
  })

async function run(collector: DeviceCollector): Promise<void> {
  await collector.startDue()
  await collector.settle()
}

const makeDue = (column: 'next_poll' | 'next_survey') =>
  sql`update device_states set ${sql.ref(column)} = now()`.execute(database.postgres.owner)

const all = async <Row>(statement: ReturnType<typeof sql<Row>>) =>
  (await statement.execute(database.postgres.owner)).rows

const interfaces = () =>
  all(sql<{ key: string; oper: string; lag: string | null; changed: boolean; missing: number }>`
    select i.key, i.oper, l.key as lag, i.last_change is not null as changed, i.missing_surveys as missing
    from interfaces i left join interfaces l on l.id = i.lag_id order by i.key`)
const states = () =>
  all(sql<{ error: string | null; missed: number; seen: boolean; lease: string | null }>`
    select error, missed, seen is not null as seen, lease_owner as lease from device_states order by device_id`)

describe('the collector', () => {
  test('lists the interfaces of a new device, with the members of its LAG, and links its ports', async () => {
    const id = await addDevice('r1', bundle)
    await sql`insert into ports (circuit_id, name, device_id, interface_key)
      values ('C1', 'et-0/0/1', ${id}, 'et-0/0/1'), ('C2', 'gone', ${id}, 'gone')`.execute(
      database.postgres.owner,
    )
    await using collector = disposable(createCollector())
    await run(collector)
    assert.deepEqual(await interfaces(), [
      { key: 'ae0', oper: 'up', lag: null, changed: false, missing: 0 },
      { key: 'et-0/0/1', oper: 'up', lag: 'ae0', changed: false, missing: 0 },
      { key: 'et-0/0/2', oper: 'down', lag: 'ae0', changed: false, missing: 0 },
    ])
    assert.deepEqual(await states(), [{ error: null, missed: 0, seen: true, lease: null }])
    const ports = await all(sql<{ key: string | null }>`
      select i.key from ports p left join interfaces i on i.id = p.interface_id order by p.circuit_id`)
    assert.deepEqual(ports, [{ key: 'et-0/0/1' }, { key: null }])
  })

  test('a poll notes changes of states; a survey counts what is missing and forgets nothing', async () => {
    const id = await addDevice('r1', bundle)
    await using collector = disposable(createCollector())
    await run(collector)
    const [ae0, first] = bundle.interfaces
    const changed = JSON.stringify({ interfaces: [ae0, { ...first, oper: 'down' }] })
    await sql`update devices set settings = ${changed} where id = ${id}`.execute(database.postgres.owner)
    await makeDue('next_poll')
    await run(collector)
    assert.deepEqual(
      (await interfaces()).map(({ key, oper, changed }) => [key, oper, changed]),
      [
        ['ae0', 'up', false],
        ['et-0/0/1', 'down', true],
        ['et-0/0/2', 'down', false],
      ],
    )
    await makeDue('next_survey')
    await run(collector)
    assert.deepEqual(
      (await interfaces()).map(({ missing }) => missing),
      [0, 0, 1],
    )
  })

  test('an interface is not present from the third survey in a row without it on', async () => {
    const id = await addDevice('r1', bundle)
    await using collector = disposable(createCollector())
    await run(collector)
    const change = (settings: object) =>
      sql`update devices set settings = ${JSON.stringify(settings)} where id = ${id}`.execute(
        database.postgres.owner,
      )
    const survey = async (settings: object) => {
      await change(settings)
      await makeDue('next_survey')
      await run(collector)
      return (await interfaces()).map(({ oper, missing }) => [oper, missing])
    }
    const [ae0, gone, last] = bundle.interfaces
    const without = { interfaces: [ae0, last] }
    assert.deepEqual((await survey(without))[1], ['up', 1])
    assert.deepEqual((await survey({ ...without, silent: true }))[1], ['up', 1])
    assert.deepEqual((await survey({ interfaces: [] }))[1], ['up', 1])
    assert.deepEqual((await survey(without))[1], ['up', 2])
    assert.deepEqual(await survey(without), [
      ['up', 0],
      ['not_present', 3],
      ['down', 0],
    ])
    await survey(without)
    const log = () =>
      all(sql<{ before: string; after: string }>`
        select before, after from interface_log where kind = 'oper' order by id`)
    assert.deepEqual(await log(), [{ before: 'up', after: 'not_present' }])
    assert.deepEqual((await survey({ interfaces: [ae0, gone, last] }))[1], ['up', 0])
    assert.deepEqual((await log())[1], { before: 'not_present', after: 'up' })
  })

  test('a table that cannot be read keeps what it had, and a survey that fails stops no counters', async () => {
    const id = await addDevice('r1', {
      interfaces: bundle.interfaces.map((one) => ({ ...one, addresses: ['192.0.2.1/30'] })),
    })
    await sql`insert into ports (circuit_id, name, device_id, interface_key) values ('C1', 'C1', ${id}, 'et-0/0/1')`.execute(
      database.postgres.owner,
    )
    const failing = new DriverError('protocol', 'a table without an end')
    let change = (_source: DeviceSource): void => {}
    await using collector = disposable(
      createCollector({
        createSource: (device) => {
          const source = createDeviceSource({ ...device, ...options })!
          change(source)
          return source
        },
      }),
    )
    const survey = async (next: typeof change) => {
      change = next
      await sql`update devices set settings = settings || ${JSON.stringify({ vendor: String(Math.random()) })}::jsonb`.execute(
        database.postgres.owner,
      )
      await emptyTables(database.postgres.owner, ['interface_counters'])
      await makeDue('next_survey')
      await run(collector)
      const known = await all(sql<{ lag: string | null; addresses: string[]; counted: boolean }>`
        select l.key as lag, i.addresses, exists (select from interface_counters) as counted
        from interfaces i left join interfaces l on l.id = i.lag_id where i.key = 'et-0/0/1'`)
      const [state] = await all(sql<{ error_text: string | null; due: boolean }>`
        select error_text, next_survey <= now() as due from device_states`)
      return { ...known[0]!, ...state! }
    }
    const known = { lag: 'ae0', addresses: ['192.0.2.1/30'], counted: true, due: false }
    assert.deepEqual(await survey(() => {}), { ...known, error_text: null })
    const withoutTables = await survey((source) => {
      const listInterfaces = source.listInterfaces.bind(source)
      source.listInterfaces = async (signal, readPart) => {
        const seen = await listInterfaces(signal)
        await readPart!('lags', () => Promise.reject(failing))
        return seen.map((one) => ({ ...one, lagKey: undefined, addresses: undefined }))
      }
    })
    assert.deepEqual(withoutTables, { ...known, error_text: 'lags: a table without an end' })
    const withoutSurvey = await survey((source) => {
      source.listInterfaces = () => Promise.reject(failing)
    })
    assert.deepEqual(withoutSurvey, { ...known, error_text: 'interfaces: a table without an end' })
  })

  test('a device that is not due is left alone', async () => {
    await addDevice('r1', bundle)
    let sources = 0
    await using collector = disposable(
      createCollector({
        createSource: (device) => {
          sources++
          return createDeviceSource({ ...device, ...options })
        },
      }),
    )
    await run(collector)
    await run(collector)
    assert.equal(sources, 1)
    assert.deepEqual(await all(sql`select from device_states where next_poll <= now()`), [])
  })

  test('a device that was removed has no open source', async () => {
    const id = await addDevice('r1', bundle)
    let closed = 0
    await using collector = disposable(
      createCollector({
        createSource: (device) => {
          const source = createDeviceSource({ ...device, ...options })!
          source.close = async () => void closed++
          return source
        },
      }),
    )
    await run(collector)
    await collector.closeUnused()
    assert.equal(closed, 0)
    await sql`delete from devices where id = ${id}`.execute(database.postgres.owner)
    await collector.closeUnused()
    assert.equal(closed, 1)
  })

  test('silence is counted and costs other devices nothing; an answer clears it', async () => {
    const id = await addDevice('r1', { ...bundle, silent: true })
    await addDevice('r2', bundle)
    await using collector = disposable(createCollector())
    for (let polls = 0; polls < 3; polls++) {
      await run(collector)
      await makeDue('next_poll')
    }
    assert.deepEqual(await states(), [
      { error: 'unreachable', missed: 3, seen: false, lease: null },
      { error: null, missed: 0, seen: true, lease: null },
    ])
    await sql`update devices set settings = ${JSON.stringify(bundle)} where id = ${id}`.execute(
      database.postgres.owner,
    )
    await makeDue('next_survey')
    await run(collector)
    assert.deepEqual((await states())[0], { error: null, missed: 0, seen: true, lease: null })
  })

  test('two processes share the devices, and each is read once', async () => {
    for (let n = 0; n < 40; n++) await addDevice(`r${n}`, bundle)
    const read: string[] = []
    const collectorOf = (owner: string) =>
      createCollector({
        owner,
        createSource: (device) => {
          read.push(device.name)
          return createDeviceSource({ ...device, ...options })
        },
      })
    await using one = disposable(collectorOf('one'))
    await using two = disposable(collectorOf('two'))
    await Promise.all([run(one), run(two)])
    assert.equal(read.length, 40)
    assert.equal(new Set(read).size, 40)
  })

  test('an answer that cannot be saved ends the lease, and the next poll has its increase', async () => {
    const id = await addDevice('r1', bundle)
    await using collector = disposable(createCollector())
    await run(collector)
    const [ae0, first, second] = bundle.interfaces
    const changed = JSON.stringify({ interfaces: [ae0, { ...first, oper: 'down' }, second] })
    await sql`update devices set settings = ${changed} where id = ${id}`.execute(database.postgres.owner)
    await sql`create function refuse_test() returns trigger language plpgsql as 'begin raise exception ''full''; end'`.execute(
      database.postgres.owner,
    )
    await sql`create trigger refuse_test before update on interfaces for each row execute function refuse_test()`.execute(
      database.postgres.owner,
    )
    await makeDue('next_poll')
    await run(collector)
    const [state] = await all(sql<{ lease: string | null; error_text: string; waits: boolean }>`
      select lease_owner as lease, error_text, next_poll > now() as waits from device_states`)
    assert.deepEqual(state, { lease: null, error_text: 'its answer could not be saved', waits: true })
    await sql`drop function refuse_test cascade`.execute(database.postgres.owner)
    await makeDue('next_poll')
    await run(collector)
    assert.deepEqual((await interfaces())[1]!.oper, 'down')
  })

  test('a reading that was finished while the database was away is saved later, once, and ends its lease', async () => {
    const id = await addDevice('r1', bundle)
    await sql`insert into ports (circuit_id, name, device_id, interface_key) values ('C1', 'C1', ${id}, 'et-0/0/1')`.execute(
      database.postgres.owner,
    )
    const owner = awayDatabase(database.postgres.owner)
    await using collector = disposable(
      createCollector({ postgres: { ...database.postgres, owner: owner.db } }),
    )
    owner.awayFrom = 'transaction'
    await run(collector)
    assert.deepEqual(await interfaces(), [])
    assert.deepEqual(await states(), [{ error: null, missed: 0, seen: false, lease: 'one' }])
    owner.awayFrom = undefined
    await run(collector)
    const counted = await all(sql<{ state: { at: number } }>`select state from interface_counters`)
    assert.equal(counted.length, 1)
    assert.equal((await interfaces()).length, 3)
    assert.deepEqual(await states(), [{ error: null, missed: 0, seen: true, lease: null }])
    await run(collector)
    assert.deepEqual(await all(sql`select state from interface_counters`), counted)
  })

  test('a device that is silent while the database is away has missed one poll', async () => {
    await addDevice('r1', { ...bundle, silent: true })
    const owner = awayDatabase(database.postgres.owner)
    await using collector = disposable(
      createCollector({ postgres: { ...database.postgres, owner: owner.db } }),
    )
    owner.awayFrom = 'transaction'
    await run(collector)
    owner.awayFrom = undefined
    await run(collector)
    assert.deepEqual(await states(), [{ error: 'unreachable', missed: 1, seen: false, lease: null }])
  })

  test('a collector that stops gives its leases up', async () => {
    await addDevice('r1', bundle)
    const reading = Promise.withResolvers<void>()
    const collector = createCollector({
      createSource: (device) => {
        const source = createDeviceSource({ ...device, ...options })!
        source.probe = () => {
          reading.resolve()
          return new Promise(() => {})
        }
        return source
      },
    })
    await collector.startDue()
    await reading.promise
    await collector.stop()
    assert.deepEqual(await states(), [{ error: null, missed: 0, seen: false, lease: null }])
  })

  test('a process that lost its lease saves nothing', async () => {
    await addDevice('r1', bundle)
    await using collector = disposable(
      createCollector({
        createSource: (device) => {
          const source = createDeviceSource({ ...device, ...options })!
          const listInterfaces = source.listInterfaces.bind(source)
          source.listInterfaces = async (signal) => {
            await sql`update device_states set lease_owner = 'another'`.execute(database.postgres.owner)
            return listInterfaces(signal)
          }
          return source
        },
      }),
    )
    await run(collector)
    assert.deepEqual(await interfaces(), [])
    assert.deepEqual(await states(), [{ error: null, missed: 0, seen: false, lease: 'another' }])
  })
})

/** A database that cannot begin transactions at times: reads of it still succeed, as if it had just gone. */
function awayDatabase(db: Db) {
  const away: { awayFrom: 'transaction' | undefined; readonly db: Db } = {
    awayFrom: undefined,
    db: new Proxy(db, {
      get(target, name) {
        if (name === 'transaction' && away.awayFrom !== undefined)
          throw fail('unavailable', 'database', { degraded: ['postgresql'], retryAfterSeconds: 2 })
        const value: unknown = Reflect.get(target, name, target)
        return typeof value === 'function' ? (value as (...args: unknown[]) => unknown).bind(target) : value
      },
    }),
  }
  return away
}

const disposable = (collector: DeviceCollector) =>
  Object.assign(collector, { [Symbol.asyncDispose]: () => collector.stop() })
