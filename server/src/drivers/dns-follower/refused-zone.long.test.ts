// A record that BIND refuses at transfer, stored before records were checked: NSD serves the change, BIND keeps the
// former version, and the zone becomes an error that contains the change.
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { sql } from 'kysely'
import { startFollower } from '@pharos/lab/dns-follower'
import { skipWithout } from '@pharos/lab/program'
import { waitFor } from '@pharos/lab/wait'
import { ServerObserver } from '../../dns/publish/observe-server.ts'
import type { RefusedZoneChange } from '../../dns/publish/observe.store.ts'
import { insertTestZone } from '../../dns/publish/testing.ts'
import { encodeRrsets } from '../../dns/sign/rrset-list.ts'
import { nameKey, parseName } from '../../net/dns/name.ts'
import { recordType } from '../../net/dns/type.ts'
import { startTestPrimary } from '../dns-server/testing.ts'
import { createFollower } from './name-server.ts'

const zone = 'frozen.example.'
const signal = new AbortController().signal

it(
  'a zone that BIND refuses and NSD serves is an error within a minute',
  { skip: skipWithout('named', 'nsd') },
  async () => {
    await using primary = await startTestPrimary()
    const { db } = primary.deps
    const id = await insertTestZone(db, zone, 'www 300 A 192.0.2.1')
    await primary.publish(id)
    const refused: RefusedZoneChange[] = []
    const onRefused = (_: unknown, zones: readonly RefusedZoneChange[]) =>
      Promise.resolve(void refused.push(...zones))
    const peers = await Promise.all(
      (['BIND', 'NSD'] as const).map(async (program) => {
        const peer = await startFollower(program, { primary, key: primary.key, zones: [zone] })
        const name = parseName(`${program.toLowerCase()}.example.`)
        const { address, port } = peer
        const { rows } = await sql<{ id: number }>`
        insert into dns_servers (name, address, port) values (${name}, ${address}, ${port}) returning id`.execute(
          db,
        )
        const client = createFollower({ address, port, key: primary.key })
        const server = { id: rows[0]!.id, name, catalog: true }
        return {
          peer,
          client,
          observer: new ServerObserver({ db, now: () => new Date(), onRefused }, server, client),
        }
      }),
    )
    const status = async (): Promise<Record<string, unknown>> => {
      for (const { observer } of peers) await observer.run(signal)
      const { rows } = await sql<Record<string, unknown>>`
      select status, reason from dns_zones where id = ${id}`.execute(db)
      return rows[0]!
    }
    try {
      await waitFor('both serve the zone', async () => (await status())['status'] === 'ok')
      const bad = {
        name: parseName(`odd.${zone}`),
        type: recordType.NSAP,
        ttl: 300,
        rdata: [new Uint8Array()],
      }
      await sql`update dns_zones set version = version + 1, status = 'updating' where id = ${id}`.execute(db)
      await sql`
      insert into dns_recordsets (zone_id, name_key, type, name, ttl, rdata, content)
      values (${id}, ${Buffer.from(nameKey(bad.name))}, ${bad.type}, ${bad.name}, 300, array[''::bytea], '')`.execute(
        db,
      )
      await sql`
      insert into dns_versions (zone_id, version, actor, what, removed, added, removed_count, changed_count, added_count)
      select id, version, 'test', 'recordset.update', ${encodeRrsets([])}, ${encodeRrsets([bad])}, 0, 0, 1
      from dns_zones where id = ${id}`.execute(db)
      await primary.publish(id)
      await waitFor('the refusal', async () => (await status())['reason'] === 'zone_refused', {
        timeoutMs: 60_000,
        everyMs: 500,
      })
      assert.equal((await status())['status'], 'error')
      assert.deepEqual(
        refused.map(({ name, servers, sets }) => ({ name, servers, sets })),
        [{ name: zone, servers: ['bind.example.'], sets: [`odd.${zone} NSAP`] }],
      )
    } finally {
      for (const { client, peer } of peers) {
        await client.close()
        await peer[Symbol.asyncDispose]()
      }
    }
  },
)
