// The subjects of DNS for every-route.test.ts: each changing request is about a new zone, since the next would see the change.
import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import { seedSignedZone, seedTemplate, seedZone } from '../../src/dns/testing.ts'
import type { TestApi } from '../api.ts'
import type { Holder } from './fixtures.ts'
import {
  absentIsNotFound,
  foreignOf,
  missingId,
  only,
  ownOf,
  type Context,
  type Subject,
  type SubjectRequest,
} from './subject.ts'

let zones = 0
/** More than the calls that are prepared at the same time need. */
const zonesKept = 20
const newName = () => `z${zones++}.example`

type AboutZone = (zone: string, name: string) => SubjectRequest

function aboutZones(request: AboutZone, { deleted = false, signed = false } = {}): Subject['requests'] {
  const add = async ({ api: { database, config } }: Context, { teamId }: Holder) => {
    const name = newName()
    const { id } = signed
      ? await seedSignedZone(database.postgres, config.secret, { teamId, name })
      : await seedZone(database.postgres, { teamId, name, deleted })
    // Tests read all tables again and again: zones of earlier calls are not kept.
    await sql`delete from dns_zones where id < ${id - zonesKept} and name ~ '^z[0-9]+[.]example[.]$'`.execute(
      database.postgres.owner,
    )
    return request(String(deleted ? id : name), name)
  }
  return {
    own: (context) => add(context, ownOf(context)),
    foreign: (context) => add(context, foreignOf(context)),
    missing: async () => request(String(missingId), 'missing.example'),
  }
}

const readZones = new WeakMap<object, Map<number, Promise<string>>>()

/** Returns the zone of the team that all reading operations share: no caller changes it. */
function readZoneOf({ api: { database } }: Context, { teamId }: Holder): Promise<string> {
  const zonesOfTeams = readZones.get(database) ?? new Map<number, Promise<string>>()
  readZones.set(database, zonesOfTeams)
  const name = `read-by-team-${teamId}.example`
  const zone = zonesOfTeams.get(teamId) ?? seedZone(database.postgres, { teamId, name }).then(() => name)
  zonesOfTeams.set(teamId, zone)
  return zone
}

function read(route: string, params: SubjectRequest['params'] = {}): Subject {
  const request = (zone: string) => ({ params: { zone, ...params } })
  return {
    route,
    requests: {
      own: async (context) => request(await readZoneOf(context, ownOf(context))),
      foreign: async (context) => request(await readZoneOf(context, foreignOf(context))),
      missing: async () => request('missing.example'),
    },
    answers: absentIsNotFound,
  }
}

const written =
  (status: number): Subject['answers'] =>
  (which) =>
    which === 'own' ? status : 'not_found'

let addresses = 0
const newAddress = ({ marks }: Holder) => `${marks[0]}${1 + (addresses++ % 250)}`

let names = 0
/** Another text each time, so that the call changes something. */
const newTarget = () => `host${names++}.example.net`

const www = { name: 'www', type: 'A' }

/** Adds a TSIG key of the team. */
export async function addKey(api: TestApi, { teamId }: { readonly teamId: number }): Promise<number> {
  const name = `test-${randomUUID().slice(0, 8)}.`
  const { id } = await api.database.postgres.owner
    .insertInto('dns_tsig_keys')
    .values({ team_id: teamId, name, managed_by: 'team', may_update: true, secret_sealed: Buffer.alloc(8) })
    .returning('id')
    .executeTakeFirstOrThrow()
  return id
}

const aboutKeys: Subject['requests'] = {
  own: async (context) => ({ params: { tsig_key_id: await addKey(context.api, ownOf(context)) } }),
  foreign: async (context) => ({ params: { tsig_key_id: await addKey(context.api, foreignOf(context)) } }),
  missing: async () => ({ params: { tsig_key_id: missingId } }),
}

export const dnsSubjects: readonly Subject[] = [
  {
    route: 'listZones',
    requests: only({ query: { include: 'details,servers,state_messages' } }),
    answers: () => 200,
  },
  {
    route: 'createZone',
    requests: { only: async () => ({ body: { name: newName(), dnssec: false } }) },
    answers: () => 201,
  },
  read('getZone'),
  {
    route: 'deleteZone',
    requests: aboutZones((zone, name) => ({ params: { zone }, query: { confirm: name } })),
    answers: written(204),
  },
  {
    route: 'restoreZone',
    requests: aboutZones((zone) => ({ params: { zone } }), { deleted: true }),
    answers: absentIsNotFound,
  },
  {
    route: 'importZone',
    requests: {
      only: async () => ({
        body: { name: newName(), zonefile: 'www 300 A 192.0.2.1\n', mode: 'create', dnssec: false },
      }),
    },
    answers: () => 201,
  },
  read('exportZone'),
  read('getDnssec'),
  {
    route: 'enableDnssec',
    requests: aboutZones((zone) => ({ params: { zone }, body: {} })),
    answers: written(202),
  },
  {
    route: 'rollOverDnssecKey',
    requests: aboutZones((zone) => ({ params: { zone } }), { signed: true }),
    answers: written(202),
  },
  {
    route: 'disableDnssec',
    requests: aboutZones((zone) => ({ params: { zone } }), { signed: true }),
    // The servers of the parent were not queried yet.
    answers: written(202),
  },
  read('listRecordSets'),
  {
    route: 'createRecordSets',
    requests: aboutZones((zone) => ({
      params: { zone },
      body: { name: 'new', type: 'A', records: ['192.0.2.7'], ptr: false },
    })),
    answers: written(201),
  },
  {
    route: 'changeRecordSets',
    requests: aboutZones((zone) => ({
      params: { zone },
      body: { recordsets: [{ ...www, records: ['192.0.2.8'], ptr: false }] },
    })),
    answers: absentIsNotFound,
  },
  read('getRecordSet', www),
  {
    route: 'updateRecordSet',
    requests: aboutZones((zone) => ({
      params: { zone, ...www },
      body: { records: ['192.0.2.9'], ptr: false },
    })),
    answers: absentIsNotFound,
  },
  {
    route: 'deleteRecordSet',
    requests: aboutZones((zone) => ({ params: { zone, ...www } })),
    answers: written(204),
  },
  read('getZoneSettings'),
  {
    route: 'updateZoneSettings',
    requests: aboutZones((zone) => ({ params: { zone }, body: { default_ttl: 7200 } })),
    answers: absentIsNotFound,
  },
  read('listZoneVersions'),
  read('getZoneVersion', { version: 2 }),
  {
    route: 'rollBackZone',
    requests: aboutZones((zone) => ({ params: { zone, version: 1 } })),
    answers: absentIsNotFound,
  },
  {
    route: 'listPtrRecords',
    requests: { only: async (context) => ({ query: { cidr: `${ownOf(context).marks[0]}0/24` } }) },
    answers: () => 200,
  },
  {
    route: 'updatePtrRecords',
    requests: {
      only: async (context) => ({
        body: {
          records: [newAddress(ownOf(context)), newAddress(ownOf(context))].map((ip) => ({
            ip,
            ptrdname: newTarget(),
          })),
        },
      }),
    },
    answers: () => 200,
  },
  { route: 'listPtrTemplates', requests: only(), answers: () => 200 },
  { route: 'listTsigKeys', requests: only(), answers: () => 200 },
  { route: 'getTsigKey', requests: aboutKeys, answers: absentIsNotFound },
  {
    route: 'createTsigKey',
    requests: only({ body: { label: 'test-1', may_update: true } }),
    answers: () => 201,
  },
  { route: 'deleteTsigKey', requests: aboutKeys, answers: (which) => (which === 'own' ? 204 : 'not_found') },
  {
    route: 'deletePtrTemplate',
    requests: {
      own: async (context) => ({ params: { template_id: await addTemplate(context, ownOf(context)) } }),
      foreign: async (context) => ({
        params: { template_id: await addTemplate(context, foreignOf(context)) },
      }),
      missing: async () => ({ params: { template_id: missingId } }),
    },
    answers: written(204),
  },
]

const addTemplate = ({ api }: Context, { teamId, marks }: Holder): Promise<number> =>
  seedTemplate(api.database.postgres, teamId, marks[0]!, 251)
