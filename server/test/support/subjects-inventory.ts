// The operations of devices, ports, services, bills, cross connects and attachments.
import type { CrossConnectStatus } from '@pharos/contract/inventory/cross-connect'
import { sql } from 'kysely'
import type { Holder } from './fixtures.ts'
import type { FormPart } from './letters.ts'
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

/** Objects that need no module: a team without modules is refused them only because it does not have them. */
export const ownIsFound: Subject['answers'] = (which, identity) =>
  which === 'own' && !('team' in identity && identity.team === 'bare') ? 200 : 'not_found'

export function aboutHoldings(
  request: (holder: Holder) => SubjectRequest,
  missing: SubjectRequest,
): Pick<Subject, 'requests' | 'answers'> {
  return {
    requests: {
      own: async (context) => request(ownOf(context)),
      foreign: async (context) => request(foreignOf(context)),
      missing: async () => missing,
    },
    answers: ownIsFound,
  }
}

const aboutDevices = aboutHoldings(({ deviceId }) => ({ params: { device_id: deviceId } }), {
  params: { device_id: missingId },
})
const aboutPorts = aboutHoldings(({ portId }) => ({ params: { port_id: portId } }), {
  params: { port_id: missingId },
})
const aboutServices = aboutHoldings(({ serviceId }) => ({ params: { service_id: serviceId } }), {
  params: { service_id: missingId },
})

let circuits = 0

/** Adds a cross connect of the holder for each request. */
async function addCrossConnect(
  { api }: Context,
  { teamId, serviceId }: Holder,
  status: CrossConnectStatus,
): Promise<number> {
  const values = { team_id: teamId, service_id: serviceId, circuit_id: `XC ${circuits++}`, name: 'X', status }
  const added = api.database.postgres.owner.insertInto('cross_connects').values(values).returning('id')
  return (await added.executeTakeFirstOrThrow()).id
}

function aboutCrossConnects(
  status: CrossConnectStatus,
  rest: Omit<SubjectRequest, 'params'> = {},
): Required<Pick<Subject['requests'], 'own' | 'foreign' | 'missing'>> {
  const add = async (context: Context, holder: Holder) => ({
    params: { cross_connect_id: await addCrossConnect(context, holder, status) },
    ...rest,
  })
  return {
    own: (context) => add(context, ownOf(context)),
    foreign: (context) => add(context, foreignOf(context)),
    missing: async () => ({ params: { cross_connect_id: missingId }, ...rest }),
  }
}

async function addReadDevice({ api }: Context): Promise<number> {
  const values = { name: `read ${circuits++}`, driver: 'sandbox' as const, settings: '{}' }
  const added = api.database.postgres.owner.insertInto('devices').values(values).returning('id')
  return (await added.executeTakeFirstOrThrow()).id
}

async function addAttachment({ api, fixtures }: Context): Promise<number> {
  const { rows } = await sql<{ id: number }>`
    insert into attachments (subject_kind, subject_id, filename, media_type, kind, sha256, content, created_by)
    values ('device', ${String(fixtures.red.deviceId)}, 'a.txt', 'application/octet-stream', 'other', sha256('a'), 'a', 'operator')
    returning id`.execute(api.database.postgres.owner)
  return rows[0]!.id
}

const letter: readonly FormPart[] = [
  { name: 'file', filename: 'loa.pdf', type: 'application/pdf', content: '%PDF-1.7' },
]
const noToken = `1.${'0'.repeat(64)}`
const ofEveryTeam = 'staff see the inventory of every team'

export const inventorySubjects: readonly Subject[] = [
  { route: 'listServices', requests: only(), answers: () => 200 },
  { route: 'getService', ...aboutServices },
  { route: 'listBillablePorts', ...aboutServices },
  { route: 'listBillingPeriods', ...aboutServices },
  {
    route: 'getBillingSamples',
    ...aboutHoldings(
      ({ serviceId, portId }) => ({ params: { service_id: serviceId }, query: { port_id: String(portId) } }),
      { params: { service_id: missingId }, query: { port_id: '1' } },
    ),
  },
  { route: 'listDevices', requests: only(), answers: () => 200 },
  { route: 'groupDevices', requests: only(), answers: () => 200 },
  { route: 'getDevice', ...aboutDevices },
  { route: 'listInterfaces', ...aboutDevices },
  { route: 'getDeviceMetrics', ...aboutDevices },
  { route: 'listDeviceAttachments', ...aboutDevices },
  { route: 'listPorts', requests: only(), answers: () => 200 },
  { route: 'getPort', ...aboutPorts },
  { route: 'getPortUsage', ...aboutPorts },
  { route: 'getTransceiverMetrics', ...aboutPorts },
  { route: 'getInventoryMetrics', requests: only(), answers: () => 200 },
  { route: 'listCrossConnects', requests: only(), answers: () => 200 },
  { route: 'getCrossConnect', requests: aboutCrossConnects('reserved'), answers: absentIsNotFound },
  {
    route: 'uploadCrossConnectLetter',
    requests: aboutCrossConnects('awaiting_loa', { form: letter }),
    answers: (which) => (which === 'own' ? 201 : 'not_found'),
  },
  {
    route: 'listBillsOfAll',
    requests: only({ query: { period: '2026-03' } }),
    answers: () => 200,
    ofAllTeams: true,
  },
  {
    route: 'exportBillsOfAll',
    requests: only({ query: { period: '2026-03' } }),
    answers: () => 200,
    ofAllTeams: true,
  },
  { route: 'listDevicesOfAll', requests: only(), answers: () => 200, ofAllTeams: true },
  {
    route: 'pollDevice',
    requests: {
      own: async (context) => ({ params: { device_id: await addReadDevice(context) } }),
      missing: async () => ({ params: { device_id: missingId } }),
    },
    answers: (which) => (which === 'own' ? 202 : 'not_found'),
    without: { foreign: ofEveryTeam },
  },
  {
    route: 'maintainDevice',
    requests: {
      own: async (context) => ({ params: { device_id: ownOf(context).deviceId }, body: { until: null } }),
      missing: async () => ({ params: { device_id: missingId }, body: { until: null } }),
    },
    answers: absentIsNotFound,
    without: { foreign: ofEveryTeam },
  },
  { route: 'listCrossConnectsOfAll', requests: only(), answers: () => 200, ofAllTeams: true },
  {
    route: 'moveCrossConnect',
    requests: (({ own, missing }) => ({ own, missing }))(
      aboutCrossConnects('reserved', { body: { status: 'awaiting_loa' } }),
    ),
    answers: absentIsNotFound,
    without: { foreign: ofEveryTeam },
  },
  {
    route: 'getAttachmentFile',
    form: 'with a link of another',
    requests: {
      own: async (context) => ({
        params: { attachment_id: await addAttachment(context) },
        query: { token: noToken },
      }),
      missing: async () => ({ params: { attachment_id: missingId }, query: { token: noToken } }),
    },
    without: { foreign: 'the link decides, and no caller' },
    answers: () => 'not_found',
  },
  {
    route: 'listAttachmentsOfDevice',
    requests: {
      own: async (context) => ({ params: { device_id: ownOf(context).deviceId } }),
      missing: async () => ({ params: { device_id: missingId } }),
    },
    answers: absentIsNotFound,
    without: { foreign: ofEveryTeam },
    ofAllTeams: true,
  },
  {
    route: 'getAttachmentOfAny',
    requests: {
      own: async (context) => ({ params: { attachment_id: await addAttachment(context) } }),
      missing: async () => ({ params: { attachment_id: missingId } }),
    },
    answers: absentIsNotFound,
    without: { foreign: ofEveryTeam },
    ofAllTeams: true,
  },
  {
    route: 'addDeviceAttachment',
    requests: {
      own: async (context) => ({ params: { device_id: ownOf(context).deviceId }, form: letter }),
      missing: async () => ({ params: { device_id: missingId }, form: letter }),
    },
    answers: (which) => (which === 'own' ? 201 : 'not_found'),
    without: { foreign: ofEveryTeam },
  },
  {
    route: 'deleteAttachment',
    requests: {
      own: async (context) => ({ params: { attachment_id: await addAttachment(context) } }),
      missing: async () => ({ params: { attachment_id: missingId } }),
    },
    answers: (which) => (which === 'own' ? 204 : 'not_found'),
    without: { foreign: ofEveryTeam },
  },
]
