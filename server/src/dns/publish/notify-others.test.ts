import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { sql } from 'kysely'
import { createFollower } from '../../drivers/dns-follower/name-server.ts'
import { createHandler } from '../../drivers/dns-server/handler.ts'
import { startListener, type DnsListener } from '../../drivers/dns-server/listener.ts'
import { startTestPrimary, testKey, type TestPrimary } from '../../drivers/dns-server/testing.ts'
import { rcode } from '../../net/dns/message.ts'
import { OtherNotifier } from './notify-others.ts'
import { writeZoneVersion, insertTestZone } from './testing.ts'

describe('NOTIFY to further servers', () => {
  let primary: TestPrimary
  let listener: DnsListener
  let received: string[] = []
  const failures: string[] = []
  let notifier: OtherNotifier
  before(async () => {
    primary = await startTestPrimary()
    const handler = createHandler({
      zones: primary.zones,
      answer: () => new Uint8Array(),
      findKey: (name) => (name === testKey.name ? testKey : undefined),
      transferView: () => undefined,
      notified(zone, { key }) {
        received.push(`${zone} ${key ?? 'unsigned'}`)
        return rcode.NOERROR
      },
      now: () => Date.now() / 1000,
    })
    listener = await startListener({ host: '127.0.0.1', port: 0, handler })
    notifier = new OtherNotifier({
      db: db(),
      connect: ({ address, port, keyName }) =>
        createFollower({ address, port, key: keyName === null ? undefined : testKey, timeoutMs: 500 }),
      onFailure: ({ address }, { kind }) => failures.push(`${address} ${kind}`),
    })
  })
  after(async () => {
    await listener.close()
    await primary[Symbol.asyncDispose]()
  })

  const db = () => primary.deps.db
  const run = async (): Promise<string[]> => {
    received = []
    await notifier.run(new AbortController().signal)
    return received.sort()
  }
  async function insert(name: string, keyIds: number[]): Promise<number> {
    const id = await insertTestZone(db(), name, 'www 300 A 192.0.2.1')
    const targets = [
      { address: '127.0.0.9', port: 9 },
      { address: '127.0.0.1', port: listener.port },
    ]
    const settings = JSON.stringify({ also_notify: targets, tsig_key_ids: keyIds })
    await sql`update dns_zones set settings = ${settings}::jsonb where id = ${id}`.execute(db())
    await primary.publish(id)
    return id
  }

  it('is sent after each publication, once, signed with the first key of the zone', async () => {
    const { rows } = await sql<{ id: number }>`
      insert into dns_tsig_keys (name, secret_sealed) values (${testKey.name}, '') returning id`.execute(db())
    const id = await insert('signed.notified.example', [rows[0]!.id])
    await insert('plain.notified.example', [])
    await primary.publish(await insertTestZone(db(), 'silent.example', 'www 300 A 192.0.2.1'))
    const both = [`plain.notified.example. unsigned`, `signed.notified.example. ${testKey.name}`]
    assert.deepEqual(await run(), both)
    assert.deepEqual(await run(), [])
    await writeZoneVersion(db(), id, { added: 'www 300 A 192.0.2.2' })
    assert.deepEqual(await run(), [], 'it is not published')
    await primary.publish(id)
    assert.deepEqual(await run(), [`signed.notified.example. ${testKey.name}`])
  })

  it('reports a server that does not acknowledge, and delays no other', () => {
    assert.deepEqual(failures, ['127.0.0.9 unreachable', '127.0.0.9 unreachable', '127.0.0.9 unreachable'])
  })
})
