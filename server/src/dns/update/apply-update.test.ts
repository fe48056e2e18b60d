// An UPDATE is answered once its change is served, on a real database.
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { sql } from 'kysely'
import { startTestPrimary } from '../../drivers/dns-server/testing.ts'
import { parseZoneName } from '../../net/dns/name.ts'
import { writeZoneVersion, insertTestZone } from '../publish/testing.ts'
import { untilServed } from './apply-update.ts'

it('waits for the publication of the change and for the copy that is served', async () => {
  await using primary = await startTestPrimary()
  const { db } = primary.deps
  const zone = parseZoneName('waited.example')
  const id = await insertTestZone(db, zone, 'www 300 A 192.0.2.1')
  await sql`update dns_zones set claimed = now() where id = ${id}`.execute(db)
  const first = await primary.publish(id)
  const served = () => primary.zones.get(zone)?.serial
  await untilServed({ owner: db }, zone, served)
  await writeZoneVersion(db, id, { added: 'www 300 A 192.0.2.2' })
  const answered = untilServed({ owner: db }, zone, served).then(served)
  const second = await primary.publish(id)
  assert.notEqual(second, first)
  assert.equal(await answered, second)
  await untilServed({ owner: db }, parseZoneName('absent.example'), served)
})
