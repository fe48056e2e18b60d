// Records the examples of DNS: a zone of the team, served by two name servers, and reverse DNS of its prefix.
import { exportZoneRoute, importZoneRoute } from '@pharos/contract/dns/import'
import {
  deletePtrTemplateRoute,
  listPtrRecordsRoute,
  listPtrTemplatesRoute,
  updatePtrRecordsRoute,
} from '@pharos/contract/dns/ptr'
import {
  changeRecordSetsRoute,
  createRecordSetsRoute,
  deleteRecordSetRoute,
  getRecordSetRoute,
  listRecordSetsRoute,
  updateRecordSetRoute,
} from '@pharos/contract/dns/recordset'
import { getZoneSettingsRoute, updateZoneSettingsRoute } from '@pharos/contract/dns/settings'
import {
  createTsigKeyRoute,
  deleteTsigKeyRoute,
  getTsigKeyRoute,
  listTsigKeysRoute,
} from '@pharos/contract/dns/tsig'
import { getZoneVersionRoute, listZoneVersionsRoute, rollBackZoneRoute } from '@pharos/contract/dns/version'
import {
  createZoneRoute,
  deleteZoneRoute,
  getZoneRoute,
  listZonesRoute,
  restoreZoneRoute,
} from '@pharos/contract/dns/zone'
import { team, web } from '@pharos/contract/examples/world'
import { sql } from 'kysely'
import { publishZone } from '../../../src/dns/publish/publish-zone.ts'
import { signZone } from '../../../src/dns/sign/sign-zone.ts'
import type { Recorder } from './recorder.ts'

export const zone = 'lindholm.example'
const zoneId = 4711
const inZone = { params: { zone } }
const www = { params: { zone, name: 'www', type: 'A' } }

const zonefile = `$ORIGIN ${zone}.
$TTL 3600
@    SOA ns1.old.example. hostmaster 2026032901 7200 900 1209600 300
     NS  ns1.old.example.
www  A   203.0.113.80
`

/** Publishes a zone, and the name servers serve it 20 ms later. */
export async function publish({ api, owner, at }: Recorder, id: number, time: string): Promise<void> {
  await at(time)
  await publishZone({ db: owner, ring: api.config.secret, signWhole: signZone, now: () => new Date() }, id)
  await sql`
    insert into dns_server_zones (server_id, zone_id, serial, state, checked, since, reached)
    select s.id, z.id, z.serial, 'serving', n.at, n.at, n.at
    from dns_servers s cross join dns_zones z cross join lateral (select now() + interval '20 ms' as at) n where z.id = ${id}
    on conflict (server_id, zone_id) do update
      set serial = excluded.serial, checked = excluded.checked, since = excluded.since, reached = excluded.reached`.execute(
    owner,
  )
  await sql`update dns_zones set status = 'ok', served_version = version where id = ${id}`.execute(owner)
}

async function addServers({ owner }: Recorder): Promise<void> {
  await sql`
    insert into dns_servers (name, kind, address, region) values
      ('ns1.example.net.', 'dns', '192.0.2.53', 'ams'), ('ns2.example.net.', 'dns', '198.51.100.53', 'fra')`.execute(
    owner,
  )
  await sql`
    insert into dns_defaults (key, hostmaster) values ('dns', 'hostmaster.example.net.')
    on conflict (key) do update set hostmaster = excluded.hostmaster`.execute(owner)
  await sql`insert into prefixes (team_id, prefix) values (${team.id}, ${web.cidr}::cidr)`.execute(owner)
}

export async function recordDns(recorder: Recorder): Promise<void> {
  const { record, call, replace, at, nextId, owner } = recorder
  await addServers(recorder)
  await nextId('dns_zones', zoneId)
  await nextId('dns_ptr_templates', 12)
  await at('2026-03-02T09:14:07.318Z')
  await record(createZoneRoute, {
    body: { name: zone, dnssec: false, recordsets: [{ name: 'www', type: 'A', records: ['203.0.113.80'] }] },
  })
  await publish(recorder, zoneId, '2026-03-02T09:14:07.341Z')
  await nextId('dns_tsig_keys', 3)
  await sql`
    insert into dns_tsig_keys (team_id, name, secret_sealed, may_transfer)
    values (${team.id}, ${`secondary.${zone}.`}, '', true)`.execute(owner)
  const acmeKey = await record(createTsigKeyRoute, {
    body: {
      label: 'acme-web1',
      may_update: true,
      resources: { zones: [{ zone, names: ['_acme-challenge'], types: ['TXT'] }] },
    },
  })
  replace(acmeKey.name, 'acme-web1-x5w3ztk7.')
  replace(acmeKey.secret, 'RVhBTVBMRSBzZWNyZXQgb2YgMzIgb2N0ZXRzLCBub25lIQ==')
  const keys = await record(listTsigKeysRoute, { query: { ordering: '-name' } })

  await at('2026-03-02T09:15:21.110Z')
  await record(createRecordSetsRoute, {
    ...inZone,
    body: { name: 'shop', type: 'A', records: ['203.0.113.90', '203.0.113.91'], comment: 'Load balancers' },
  })
  await publish(recorder, zoneId, '2026-03-02T09:15:21.131Z')
  await sql`
    insert into dns_delegations (zone_id, status, checked, ns)
    values (${zoneId}, 'delegated', '2026-04-01T09:04:31.204Z', '{ns1.example.net.,ns2.example.net.}')`.execute(
    owner,
  )

  await at('2026-04-01T09:28:40.507Z')
  await record(updateZoneSettingsRoute, {
    ...inZone,
    body: { allow_transfer: ['192.0.2.53'], tsig_key_ids: [keys.results[0]!.id], protect_delete: true },
  })
  await record(getZoneSettingsRoute, inZone)
  await at('2026-04-01T09:30:12.004Z')
  await record(updateRecordSetRoute, {
    ...www,
    body: { records: ['203.0.113.80', '203.0.113.81'], comment: 'Web servers' },
  })
  await record(getRecordSetRoute, www)
  await record(listRecordSetsRoute, { ...inZone, query: { type: ['A'], ordering: 'name' } })
  await publish(recorder, zoneId, '2026-04-01T09:30:12.026Z')
  await record(getZoneRoute, { ...inZone, query: { include: 'servers' } })
  await record(listZonesRoute, { query: { owns_qname: `www.${zone}` } })
  const versions = await record(listZoneVersionsRoute, { ...inZone, query: { limit: 2 } })
  const { version } = versions.results[0]!
  await record(getZoneVersionRoute, { params: { zone, version } })
  await at('2026-04-01T09:34:55.310Z')
  await record(rollBackZoneRoute, { params: { zone, version: version - 1 } })
  await at('2026-04-01T09:36:02.875Z')
  await record(changeRecordSetsRoute, {
    ...inZone,
    body: {
      recordsets: [
        { name: 'www', type: 'A', records: ['203.0.113.80', '203.0.113.81'] },
        { name: '@', type: 'MX', records: [`10 mail.${zone}.`] },
      ],
    },
  })
  await record(exportZoneRoute, inZone)
  await record(deleteRecordSetRoute, { params: { zone, name: 'shop', type: 'A' } })

  await at('2026-04-01T09:40:02.118Z')
  await record(updatePtrRecordsRoute, {
    body: {
      records: [
        { ip: '203.0.113.80', ptrdname: `www.${zone}.` },
        { ip: '203.0.113.81', ptrdname: `www.${zone}.` },
      ],
      templates: [{ cidr: '203.0.113.128/25', pattern: `{ip-dashed}.cust.${zone}.` }],
    },
  })
  await record(listPtrRecordsRoute, { query: { cidr: web.cidr, limit: 3 } })
  const { results: templates } = await record(listPtrTemplatesRoute)
  await record(deletePtrTemplateRoute, { params: { template_id: templates[0]!.id } })

  await at('2026-04-01T09:51:40.020Z')
  await record(getTsigKeyRoute, { params: { tsig_key_id: acmeKey.id } })
  await record(deleteTsigKeyRoute, { params: { tsig_key_id: acmeKey.id } })
  await call(updateZoneSettingsRoute, { ...inZone, body: { protect_delete: false } })
  // The registrar has other name servers now: a zone that the parent delegates is not deleted.
  await sql`update dns_delegations set status = 'elsewhere', ns = '{ns1.old.example.}' where zone_id = ${zoneId}`.execute(
    owner,
  )
  await record(deleteZoneRoute, { ...inZone, query: { confirm: zone } })
  await record(restoreZoneRoute, { params: { zone: String(zoneId) } })
  await call(deleteZoneRoute, { ...inZone, query: { confirm: zone } })
  await sql`delete from dns_zones where id = ${zoneId}`.execute(owner)
  await at('2026-04-01T10:02:11.764Z')
  await record(importZoneRoute, { body: { name: zone, zonefile, mode: 'create', dnssec: false } })
}
