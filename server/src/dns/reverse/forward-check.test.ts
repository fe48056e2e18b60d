// The check of names against their addresses, with zones in a database and a resolver in memory.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { sql } from 'kysely'
import { createTestDatabase, type TestDatabase } from '../../db/testing.ts'
import { parseAddress } from '../../net/address.ts'
import { parseName } from '../../net/dns/name.ts'
import { DriverError } from '../../runtime/driver-error.ts'
import { seedZone } from '../testing.ts'
import { createForwardCheck } from './forward-check.ts'

const claim = (name: string, address: string) => ({ name: parseName(name), address: parseAddress(address) })

describe('the forward check', () => {
  let database: TestDatabase
  let teamId = 0
  before(async () => {
    database = await createTestDatabase()
    const { owner } = database.postgres
    const { rows } = await sql<{
      id: number
    }>`insert into teams (slug, name) values ('red', 'Red') returning id`.execute(owner)
    teamId = rows[0]!.id
    await seedZone(database.postgres, {
      teamId,
      name: 'own.example',
      records: [{ name: 'www', type: 'A', records: ['203.0.113.1'] }],
    })
  })
  after(() => database[Symbol.asyncDispose]())

  it('is decided by the zones of the team, and otherwise by the resolver, once for each name', async () => {
    const asked: string[] = []
    const answers: Record<string, readonly string[]> = {
      'alias.own.example.': ['203.0.113.2'],
      'www.elsewhere.example.': ['203.0.113.3', '203.0.113.4'],
      'six.elsewhere.example.': ['2001:db8:0:0::1'],
      'absent.elsewhere.example.': [],
    }
    const check = createForwardCheck({
      resolver: {
        async resolveAddresses(name, family) {
          asked.push(`${name} ${family}`)
          const found = answers[name]
          if (!found) throw new DriverError('unreachable', 'no answer')
          return found.map((address) => ({ address, ttl: 60 }))
        },
      },
    })
    const results = await check.check(database.postgres.front, teamId, [
      claim('www.own.example', '203.0.113.1'),
      claim('www.own.example', '203.0.113.9'),
      claim('alias.own.example', '203.0.113.2'),
      claim('www.elsewhere.example', '203.0.113.3'),
      claim('www.elsewhere.example', '203.0.113.4'),
      claim('www.elsewhere.example', '203.0.113.5'),
      claim('six.elsewhere.example', '2001:db8::1'),
      claim('absent.elsewhere.example', '203.0.113.6'),
      claim('silent.elsewhere.example', '203.0.113.7'),
    ])
    assert.deepEqual(results, [true, false, true, true, true, false, true, false, null])
    assert.deepEqual(asked.toSorted(), [
      'absent.elsewhere.example. 4',
      'alias.own.example. 4',
      'silent.elsewhere.example. 4',
      'six.elsewhere.example. 6',
      'www.elsewhere.example. 4',
      'www.own.example. 4',
    ])
  })

  it('asks no more than its limit at a time, and ends in time with what it knows', async () => {
    let running = 0
    let most = 0
    const check = createForwardCheck({
      queriesMax: 3,
      timeoutMs: 200,
      resolver: {
        async resolveAddresses(name, _family, signal) {
          signal.throwIfAborted()
          most = Math.max(most, ++running)
          if (name.startsWith('slow'))
            await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))
          running--
          signal.throwIfAborted()
          return [{ address: '203.0.113.1', ttl: 60 }]
        },
      },
    })
    const names = ['fast1', 'fast2', 'slow1', 'slow2', 'slow3', 'late']
    const results = await check.check(
      database.postgres.front,
      teamId,
      names.map((name) => claim(`${name}.example.net`, '203.0.113.1')),
    )
    assert.deepEqual(results, [true, true, null, null, null, null])
    assert.equal(most, 3)
  })
})
