// Records the examples of DNSSEC: enabling it, the DS records to enter at the registrar, a rollover, and disabling it.
import {
  disableDnssecRoute,
  enableDnssecRoute,
  getDnssecRoute,
  rollOverDnssecKeyRoute,
  type DnssecKey,
} from '@pharos/contract/dns/dnssec'
import { sql } from 'kysely'
import { evaluateZone } from '../../../src/dns/dnssec/evaluate-dnssec.ts'
import { parseRdata } from '../../../src/net/dns/rdata/rdata.ts'
import { recordType } from '../../../src/net/dns/type.ts'
import { publish, zone } from './dns.ts'
import type { Recorder } from './recorder.ts'

const inZone = { params: { zone } }

/** Replaces a key by one that belongs to nobody. */
function replaceKey(
  { replace }: Recorder,
  key: DnssecKey,
  shown: Pick<DnssecKey, 'key_tag' | 'dnskey' | 'ds'>,
) {
  replace(`"key_tag":${key.key_tag},`, `"key_tag":${shown.key_tag},`)
  replace(key.dnskey, shown.dnskey)
  for (const [at, ds] of key.ds.entries()) replace(ds, shown.ds[at]!)
}

/** All servers of the parent have given this answer three times in a row. */
async function checkParent({ owner, at }: Recorder, time: string, ds: readonly string[]): Promise<void> {
  await at(time)
  const octets = ds.map((text) => Buffer.from(parseRdata(recordType.DS, text)))
  await sql`
    update dns_delegations set status = 'delegated', ns = '{ns1.example.net.,ns2.example.net.}', checked = now(),
      ds = ${octets}::bytea[], is_ds_everywhere = true, equal_answers = 3, ds_ttl = 3600, ds_last_seen = now()`.execute(
    owner,
  )
}

export async function recordDnssec(recorder: Recorder): Promise<void> {
  const { api, owner, at, call, record, nextId } = recorder
  const { rows } = await sql<{ id: number }>`select id from dns_zones where name = ${`${zone}.`}`.execute(
    owner,
  )
  const { id } = rows[0]!
  const evaluate = async (time: string): Promise<void> => {
    await at(time)
    await evaluateZone({ db: owner, ring: api.config.secret, now: () => new Date() }, id)
  }
  await publish(recorder, id, '2026-04-01T10:02:11.790Z')
  await nextId('dns_keys', 51)
  await at('2026-04-01T10:30:12.004Z')
  const enabled = await record(enableDnssecRoute, { ...inZone, body: { algorithm: 'ECDSAP256SHA256' } })
  replaceKey(recorder, enabled.keys[0]!, {
    key_tag: 34_217,
    dnskey:
      '257 3 13 mdsswUyr3DPW132mOi8V9xESWE8jTo0dxCjjnopKl+GqJxpVXckHAeF+KkxLbxILfDLUT0rAK9iUzy1L53eKGQ==',
    ds: [
      '34217 13 2 5f0c2e3b7c9a4c1d8e6f1a2b3c4d5e6f708192a3b4c5d6e7f8091a2b3c4d5e6f',
      '34217 13 4 1b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3d4e5f60718293a4b5c6d7e8f90a',
    ],
  })
  await publish(recorder, id, '2026-04-01T10:30:12.030Z')
  await evaluate('2026-04-01T10:30:17.030Z')
  // Caches no longer have the unsigned zone.
  await evaluate('2026-04-01T11:40:00.000Z')
  await publish(recorder, id, '2026-04-01T11:40:00.020Z')
  await checkParent(recorder, '2026-04-02T09:04:31.204Z', enabled.ds_records)
  await evaluate('2026-04-02T09:04:32.000Z')
  await record(getDnssecRoute, inZone)
  await record(disableDnssecRoute, { ...inZone, query: { request_removal: true } })

  // Enabling it again cancels the request.
  await call(enableDnssecRoute, inZone)
  await checkParent(recorder, '2026-04-03T07:58:02.611Z', enabled.ds_records)
  await evaluate('2026-04-03T08:00:00.000Z')
  const rolling = await record(rollOverDnssecKeyRoute, inZone)
  replaceKey(recorder, rolling.keys[1]!, {
    key_tag: 50_128,
    dnskey:
      '257 3 13 oJMRESz5E4gYzS/q6XDrvU1qMPYIjCWzJaOau8XNEZeqCYKD5ar0IRd8KqXXFJkqmVfRvMGPmM1x8fGAa2XhSA==',
    ds: [
      '50128 13 2 c1d2e3f405162738495a6b7c8d9eaf0b1c2d3e4f5061728394a5b6c7d8e9fa0b',
      '50128 13 4 0a1b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3d4e5f60718293a4b5c6d7e8f9',
    ],
  })
}
