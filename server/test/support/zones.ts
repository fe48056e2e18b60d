// Zones for generated requests, with the same ids and names after each restore; and the values that requests to DNS use.
import { sql } from 'kysely'
import { seedSignedZone, seedTemplate, seedZone } from '../../src/dns/testing.ts'
import type { TestApi } from '../api.ts'
import type { Fixtures } from './fixtures.ts'
import type { Hints } from './request-drafts.ts'

/** Id of the first zone and template. */
const firstId = 900_001

/** Replaces all zones and templates: red has three zones, one of them deleted, and blue has one. */
export async function restoreZones(api: TestApi, { red, blue }: Fixtures): Promise<void> {
  const { postgres } = api.database
  for (const table of ['dns_zones', 'dns_ptr_templates']) {
    await sql`delete from ${sql.table(table)}`.execute(postgres.owner)
    await sql`alter table ${sql.table(table)} alter column id restart with ${sql.lit(firstId)}`.execute(
      postgres.owner,
    )
  }
  const ofRed = { teamId: red.teamId }
  await seedZone(postgres, { ...ofRed, name: 'deleted.example', deleted: true })
  await seedZone(postgres, { ...ofRed, name: 'red.example' })
  await seedSignedZone(postgres, api.config.secret, { ...ofRed, name: 'signed.example' })
  await seedZone(postgres, { teamId: blue.teamId, name: 'blue.example' })
  await seedTemplate(postgres, red.teamId, red.marks[0]!, 251)
}

/** Ids and names in paths. */
export const zoneHints: Hints = {
  zone: ['red.example', 'red.example', 'RED.example.', firstId + 1, 'blue.example', 'missing.example'],
  version: [1, 2, 99],
  template_id: [firstId, firstId, 99],
}

const ofSet: Hints = {
  name: ['www', 'www', '@', '*.wild', 'a.b', 'www.red.example.', 'elsewhere.example.', '..'],
  type: ['A', 'A', 'a', 'MX', 'TXT', 'CNAME', 'TYPE65280', 'SOA', 'NOPE'],
  records: ['192.0.2.1', '192.0.2.2', '192.0.2.300', '10 mail', 'text', '\\# 1 00'],
  add: ['192.0.2.3', '192.0.2.4'],
  remove: ['192.0.2.5', '192.0.2.1'],
  ttl: [300, 3600, 3600],
  content: ['192', 'nothing'],
}
/** A body, or a part of one. */
const www = { name: 'www', type: 'A', records: ['192.0.2.1'] }
const newNames = Array.from({ length: 40 }, (_, at) => `new-${at}.example`)
const ofNewZone: Hints = {
  ...ofSet,
  name: [...newNames, 'blue.example', 'co.uk', 'www'],
  address: ['192.0.2.1'],
  server: ['127.0.0.1'],
  nameservers: ['ns1.example.net', 'ns2.example.net.'],
  tsig_key: ['nothing.example'],
  zonefile: ['www 300 A 192.0.2.1\n', '@ 300 IN MX 10 mail\n', '$TTL 1h\na A 192.0.2.1\n', 'a A x\n', ''],
}

/** Values for the fields of single operations. */
export const zoneHintsOf: Readonly<Record<string, Hints>> = {
  listZones: { name: ['red.example', 'nothing.example'], owns_qname: ['www.red.example', 'a.test'] },
  createZone: {
    ...ofNewZone,
    body: newNames.flatMap((name) => [
      { name, dnssec: false },
      { name, ttl: 3600, recordsets: [www] },
    ]),
  },
  importZone: {
    ...ofNewZone,
    body: [
      ...newNames.slice(30).map((name) => ({ name, mode: 'create', zonefile: 'www 300 A 192.0.2.1\n' })),
      ...['merge', 'replace', 'create'].map((mode) => ({
        name: 'red.example',
        mode,
        zonefile: 'a 300 TXT b\n',
      })),
      { name: 'missing.example', mode: 'merge', zonefile: 'a 300 TXT b\n' },
    ],
  },
  deleteZone: { zone: ['red.example', 'signed.example'], confirm: ['red.example', 'signed.example.'] },
  restoreZone: { zone: [firstId, firstId, firstId, 'red.example'] },
  listRecordSets: ofSet,
  getRecordSet: { name: ['www', '@', 'www.red.example.', '..'], type: ['A', 'a', 'SOA', 'NOPE'] },
  createRecordSets: {
    ...ofSet,
    body: newNames.flatMap((_, at) => [
      { ...www, name: `n${at}` },
      [
        { ...www, name: `n${at}` },
        { ...www, name: 'm' },
      ],
    ]),
  },
  updateRecordSet: {
    zone: ['red.example', 'red.example', 'red.example', 'blue.example'],
    name: ['www', 'new', 'new', '@', '..'],
    type: ['TXT', 'TXT', 'txt', 'A'],
    // There are two definitions of the records; a request must have exactly one.
    body: [
      { records: ['a'] },
      { ttl: 600, records: ['b', 'c'], comment: 'new' },
      { add: ['d'], remove: ['e'] },
      {},
    ],
  },
  changeRecordSets: {
    ...ofSet,
    body: [
      {
        recordsets: [
          { ...www, records: [] },
          { ...www, name: 'new' },
        ],
      },
      { recordsets: [www, www] },
    ],
  },
  deleteRecordSet: { name: ['www', 'www', '@', 'nothing'], type: ['A', 'a', 'SOA'] },
  updateZoneSettings: {
    rname: ['hostmaster.example.'],
    nameservers: ['ns1.example.net.'],
    address: ['192.0.2.1'],
    allow_transfer: ['192.0.2.0/24', '192.0.2.1'],
    default_ttl: [3600],
    minimum_ttl: [300],
    body: [{ default_ttl: 7200, protect_delete: true }, { soa: { refresh: 7200, retry: 900 } }, {}],
  },
  listPtrRecords: { cidr: ['203.0.113.0/24', '203.0.113.7', '192.0.2.0/24'] },
  updatePtrRecords: {
    ip: Array.from({ length: 60 }, (_, at) => `203.0.113.${at}`),
    ptrdname: ['a.example.net', 'b.example.net.', 'localhost'],
    cidr: ['203.0.113.64/30', '203.0.113.128/29', '0.0.0.0/0'],
    pattern: ['{ip-dashed}.example.net', 'host.example.net', '{x}'],
  },
  enableDnssec: { dnskey: ['257 3 13 AAAA'], body: [{}, { nsec3: true }, { algorithm: 'ED25519' }] },
  rollOverDnssecKey: { zone: ['signed.example', 'red.example'] },
}

/** Requests that the server may refuse although the document allows them: see generated-requests.test.ts. */
export const zoneRules: Readonly<Record<string, readonly RegExp[]>> = {
  // Not a domain name.
  listZones: [/^query\.(name|owns_qname): /],
  // Names, types, records and addresses of a wrong form, fields that exclude each other, and contents that a zone
  // cannot have.
  createZone: [/^body(\.|:)/],
  importZone: [/^body(\.|:)/],
  createRecordSets: [/^body(\.|:)/],
  updateRecordSet: [/^(body|path)(\.|:)/],
  changeRecordSets: [/^body(\.|:)/],
  updateZoneSettings: [/^body(\.|:)/],
  enableDnssec: [/^body\.keys: key$/],
  deleteZone: [/^query\.confirm: confirm$/],
  listRecordSets: [/^query\.(name|type): /],
  // Not an address or a network of the team.
  listPtrRecords: [/^query\.cidr: /],
  updatePtrRecords: [/^body\.(records|templates): /],
}

/** The number of requests after which zones are restored, for operations that use them up. */
export const zonesRestoredAfter: Readonly<Record<string, number>> = {
  createZone: 10,
  importZone: 10,
  createRecordSets: 5,
  deleteRecordSet: 2,
  deleteZone: 2,
  restoreZone: 4,
  deletePtrTemplate: 2,
  enableDnssec: 10,
  disableDnssec: 5,
  rollOverDnssecKey: 2,
}
