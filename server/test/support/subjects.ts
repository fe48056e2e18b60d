// For every operation of the contract: a valid request for an object of the caller's team, of another team, and for a
// missing object, with the expected responses of an allowed call.
import { sql } from 'kysely'
import { addTeam } from '../api.ts'
import { seedAnnouncement } from '../../src/byoip/announcement/testing.ts'
import type { Identity } from './callers.ts'
import { addLetter, letterForm } from './letters.ts'
import {
  absentIsNotFound,
  foreignOf,
  missingId,
  only,
  ownOf,
  type Context,
  type Subject,
  type SubjectRequest,
  type Which,
} from './subject.ts'
import { auditSubjects } from './subjects-audit.ts'
import { dnsSubjects } from './subjects-dns.ts'
import { identitySubjects } from './subjects-identity.ts'
import { domainSubjects } from './subjects-domain.ts'
import { aboutHoldings, inventorySubjects, ownIsFound } from './subjects-inventory.ts'
import { memberSubjects } from './subjects-member.ts'
import { notificationSubjects } from './subjects-notification.ts'
import { blackholeSubjects } from './subjects-blackhole.ts'
import { shieldSubjects } from './subjects-shield.ts'
import { passkeySubjects } from './subjects-passkey.ts'
import { secondFactorSubjects } from './subjects-second-factor.ts'
import { accountSubjects, sessionSubjects } from './subjects-session.ts'
import { streamSubjects } from './subjects-stream.ts'
import { teamSubjects } from './subjects-team.ts'
import { tokenSubjects } from './subjects-token.ts'
import { viewSubjects } from './subjects-view.ts'
import { alertSubjects } from './subjects-alert.ts'
import { webhookSubjects } from './subjects-webhook.ts'
import {
  addFormerRouter,
  replaceOpenApproval,
  replaceOpenRestore,
  restoreRouters,
  type Holder,
} from './fixtures.ts'

/** Callers whose team has the module; others are refused by the permission before. */
function aboutAnnouncements(request: (id: number) => SubjectRequest): Subject['requests'] {
  return {
    own: async (context) => request(ownOf(context).announcements.off),
    foreign: async (context) => request(foreignOf(context).announcements.off),
    missing: async () => request(missingId),
  }
}

/** Returns a new prefix of the documentation range for each request. */
let prefixes = 0x5000
const newPrefix = () => `2001:db8:${(prefixes++).toString(16)}::/48`

function aboutNewAnnouncements(
  request: (id: number) => SubjectRequest,
  rest: { readonly deleted?: boolean; readonly suspended?: boolean } = {},
): Subject['requests'] {
  const add = async ({ api }: Context, { teamId }: Holder) =>
    request(await seedAnnouncement(api.database.postgres, { teamId, prefix: newPrefix(), ...rest }))
  return {
    own: (context) => add(context, ownOf(context)),
    foreign: (context) => add(context, foreignOf(context)),
    missing: async () => request(missingId),
  }
}

function ofAnyTeam(request: (id: number) => SubjectRequest, suspended = false): Subject['requests'] {
  const { own, missing } = aboutNewAnnouncements(request, { suspended })
  return { own: own!, missing: missing! }
}

/** Creates a new session each time: otherwise the second caller of a refresh would have to wait a minute. */
let unassignedAsn = 200_000

function aboutAsns(query: Record<string, string> = {}): Pick<Subject, 'requests' | 'without'> {
  const about = async () => ({ params: { asn: unassignedAsn++ }, query })
  return {
    requests: {
      own: async (context) => (query['refresh'] ? about() : { params: { asn: ownOf(context).asn }, query }),
      missing: about,
    },
    without: { foreign: "another team's ASN is reported, as `conflict`: see asn-ownership.test.ts" },
  }
}

/** Returns a new ASN each time, which belongs to no team. */
function aboutAsnsOfTeams(): Pick<Subject, 'requests' | 'answers' | 'without'> {
  const about = (team_id: number) => ({
    params: { asn: unassignedAsn++ },
    body: { team_id, reason: 'a test' },
  })
  return {
    requests: {
      own: async (context) => about(ownOf(context).teamId),
      missing: async () => about(missingId),
    },
    answers: absentIsNotFound,
    without: { foreign: 'staff decide about the ASNs of every team' },
  }
}

function aboutApprovals(): Pick<Subject, 'requests' | 'answers' | 'without'> {
  return {
    requests: {
      own: async ({ api, fixtures }) => ({
        params: { approval_id: await replaceOpenApproval(api, fixtures.regions['lon']!) },
      }),
      missing: async () => ({ params: { approval_id: missingId } }),
    },
    answers: absentIsNotFound,
    without: { foreign: 'approvals belong to the provider, not to teams' },
  }
}

/** Each request is about a new restore, which is open. */
function aboutRestores(body?: object, isDecided = false): Pick<Subject, 'requests' | 'answers' | 'without'> {
  const request = (id: number) => ({ params: { restore_id: id }, ...(body ? { body } : {}) })
  return {
    requests: {
      own: async ({ api }) => request(await replaceOpenRestore(api, isDecided)),
      missing: async () => request(missingId),
    },
    answers: absentIsNotFound,
    without: { foreign: 'restores belong to the provider, not to teams' },
  }
}

/** `drained` is the state of the router before the call, so that the call changes it. */
function aboutRouters(drained: boolean): Pick<Subject, 'requests' | 'answers' | 'without'> {
  return {
    requests: {
      own: async ({ api }) => {
        await restoreRouters(api, 'lon', { drained })
        return { params: { slug: 'lon', name: 'r1' } }
      },
      missing: async () => ({ params: { slug: 'lon', name: 'nothing' } }),
    },
    answers: absentIsNotFound,
    without: { foreign: 'routers belong to regions, not to teams' },
  }
}

/** Each request is about a new one. */
function aboutFormerRouters(): Pick<Subject, 'requests' | 'answers' | 'without'> {
  return {
    requests: {
      own: async ({ api, fixtures }) => ({
        params: { former_router_id: await addFormerRouter(api, fixtures.regions['lon']!) },
      }),
      missing: async () => ({ params: { former_router_id: missingId } }),
    },
    answers: absentIsNotFound,
    without: { foreign: 'routers belong to regions, not to teams' },
  }
}

/** Callers whose team has the module, as for announcements. */
function aboutLetters(request: (id: number) => SubjectRequest): Pick<Subject, 'requests' | 'answers'> {
  return {
    requests: {
      own: async (context) => request(ownOf(context).letterId),
      foreign: async (context) => request(foreignOf(context).letterId),
      missing: async () => request(missingId),
    },
    answers: absentIsNotFound,
  }
}

/** Adds a new letter each time: a decision is final. */
function aboutNewLetters(
  body?: object,
  params: SubjectRequest['params'] = {},
): Pick<Subject, 'requests' | 'answers' | 'without' | 'ofAllTeams'> {
  const request = (letter_id: number) => ({ params: { letter_id, ...params }, ...(body ? { body } : {}) })
  return {
    requests: {
      own: async ({ api, fixtures }) =>
        request(await addLetter(api.database.postgres.owner, fixtures.blue.announcements.suspended)),
      missing: async () => request(missingId),
    },
    answers: absentIsNotFound,
    without: { foreign: 'staff review the letters of every team' },
    ofAllTeams: true,
  }
}

const aboutBoth = ({ announcements }: Holder, other: number): SubjectRequest => ({
  params: { announcement_id: announcements.off },
  form: letterForm({ name: 'applies_to', content: String(other) }),
})

const uploads = (which: Which) => (which === 'own' ? 201 : 'not_found')

const delivery = (source_key: string): SubjectRequest => ({ params: { source_key }, body: { any: 'thing' } })

const validation = (source_key: string): SubjectRequest => ({
  ...delivery(source_key),
  query: { validate: 'true' },
})

const eventFile = (source_key: string): SubjectRequest => ({
  params: { source_key, source_event_id: 'an-event' },
  body: { any: 'file' },
})

const sourceOf = (identity: Identity) => ('key' in identity ? identity.key : 'detector')

/** A new location for each request of applyPlatform and changePlatform. */
let appliedLocations = 0

export const subjects: readonly Subject[] = [
  ...sessionSubjects,
  ...accountSubjects,
  ...notificationSubjects,
  ...secondFactorSubjects,
  ...passkeySubjects,
  ...teamSubjects,
  ...memberSubjects,
  ...identitySubjects,
  ...domainSubjects,
  ...tokenSubjects,
  ...viewSubjects,
  ...auditSubjects,
  ...alertSubjects,
  ...webhookSubjects,
  ...streamSubjects,
  ...dnsSubjects,
  ...shieldSubjects,
  ...blackholeSubjects,

  {
    route: 'updateAnnouncement',
    requests: aboutAnnouncements((announcement_id) => ({
      params: { announcement_id },
      body: { enabled: true, region: 'fra' },
    })),
    answers: absentIsNotFound,
  },
  {
    route: 'updateAnnouncement',
    form: 'dry run',
    requests: aboutAnnouncements((announcement_id) => ({
      params: { announcement_id },
      query: { dry_run: 'true' },
      body: { enabled: false },
    })),
    answers: absentIsNotFound,
  },
  {
    route: 'getAnnouncement',
    requests: aboutAnnouncements((announcement_id) => ({ params: { announcement_id } })),
    answers: ownIsFound,
  },
  { route: 'listAnnouncements', requests: only(), answers: () => 200 },
  { route: 'countAnnouncements', requests: only(), answers: () => 200 },
  {
    route: 'listAnnouncements',
    form: 'everything, with states',
    requests: only({ query: { cidr: '::/0', include: 'region_states' } }),
    answers: () => 200,
  },
  {
    route: 'createAnnouncements',
    requests: {
      only: async (context) => ({ body: { cidr: newPrefix(), origin_asn: ownOf(context).asn } }),
    },
    answers: () => 201,
  },
  {
    route: 'createAnnouncements',
    form: 'preflight of several announcements',
    requests: {
      only: async (context) => ({
        query: { dry_run: 'true' },
        body: { announcements: [{ cidr: newPrefix(), origin_asn: ownOf(context).asn }] },
      }),
    },
    answers: () => 200,
  },
  {
    route: 'deleteAnnouncement',
    requests: aboutNewAnnouncements((announcement_id) => ({ params: { announcement_id } })),
    answers: (which) => (which === 'own' ? 204 : 'not_found'),
  },
  {
    route: 'restoreAnnouncement',
    requests: aboutNewAnnouncements((announcement_id) => ({ params: { announcement_id } }), {
      deleted: true,
    }),
    answers: absentIsNotFound,
  },
  {
    route: 'validateAnnouncement',
    requests: aboutAnnouncements((announcement_id) => ({ params: { announcement_id } })),
    answers: (which) => (which === 'own' ? 202 : 'not_found'),
  },
  {
    route: 'listAnnouncementHistory',
    requests: aboutAnnouncements((announcement_id) => ({ params: { announcement_id } })),
    answers: absentIsNotFound,
  },
  {
    route: 'suspendAnnouncement',
    requests: ofAnyTeam((announcement_id) => ({ params: { announcement_id }, body: { reason: 'a test' } })),
    answers: absentIsNotFound,
    without: { foreign: 'staff act on the announcements of every team' },
  },
  {
    route: 'resumeAnnouncement',
    requests: ofAnyTeam((announcement_id) => ({ params: { announcement_id } }), true),
    answers: absentIsNotFound,
    without: { foreign: 'staff act on the announcements of every team' },
  },
  {
    route: 'uploadLetter',
    requests: aboutAnnouncements((announcement_id) => ({ params: { announcement_id }, form: letterForm() })),
    answers: uploads,
  },
  {
    route: 'uploadLetter',
    form: 'dry run',
    requests: aboutAnnouncements((announcement_id) => ({
      params: { announcement_id },
      query: { dry_run: 'true' },
      form: letterForm(),
    })),
    answers: absentIsNotFound,
  },
  {
    route: 'uploadLetter',
    form: 'for further announcements',
    requests: {
      own: async (context) => aboutBoth(ownOf(context), ownOf(context).announcements.on),
      foreign: async (context) => aboutBoth(ownOf(context), foreignOf(context).announcements.on),
      missing: async (context) => aboutBoth(ownOf(context), missingId),
    },
    answers: (which) => (which === 'own' ? 201 : 'invalid'),
  },
  {
    route: 'draftLetter',
    requests: aboutAnnouncements((announcement_id) => ({ params: { announcement_id } })),
    answers: absentIsNotFound,
  },
  { route: 'listLetters', requests: only(), answers: () => 200 },
  { route: 'getLetter', ...aboutLetters((letter_id) => ({ params: { letter_id } })) },
  { route: 'getLetterFile', ...aboutLetters((letter_id) => ({ params: { letter_id } })) },
  { route: 'listLettersToReview', requests: only(), answers: () => 200, ofAllTeams: true },
  { route: 'getLetterToReview', ...aboutNewLetters() },
  { route: 'getLetterFileToReview', ...aboutNewLetters() },
  { route: 'getLetterPageToReview', ...aboutNewLetters(undefined, { page: 1 }) },
  { route: 'acceptLetter', ...aboutNewLetters({}) },
  { route: 'rejectLetter', ...aboutNewLetters({ reason: 'It is not signed.' }) },
  { route: 'listRegions', requests: only(), answers: () => 200 },
  { route: 'listPrefixes', requests: only(), answers: () => 200 },
  {
    route: 'getPrefix',
    ...aboutHoldings(({ prefixId }) => ({ params: { prefix_id: prefixId } }), {
      params: { prefix_id: missingId },
    }),
  },
  ...inventorySubjects,
  { route: 'listAsns', requests: only(), answers: () => 200 },
  {
    route: 'getAsn',
    ...aboutHoldings(({ asn }) => ({ params: { asn } }), { params: { asn: 4_199_999_999 } }),
  },
  {
    route: 'verifyAsn',
    ...aboutAsns(),
    answers: () => 200,
  },
  {
    route: 'verifyAsn',
    form: 'refreshing',
    ...aboutAsns({ refresh: 'true' }),
    answers: (_which, identity) =>
      identity.kind === 'token' && !identity.scopes.includes('ipam:write') ? 'scope_missing' : 200,
  },
  {
    route: 'verifyAsn',
    form: 'of an invalid network',
    requests: only({ params: { asn: 23_456 } }),
    answers: () => 'reserved_asn',
  },
  { route: 'listAsnsOfTeams', requests: only(), answers: () => 200, ofAllTeams: true },
  { route: 'verifyAsnOfTeam', ...aboutAsnsOfTeams() },
  { route: 'revokeAsnOfTeam', ...aboutAsnsOfTeams() },
  { route: 'listApprovals', requests: only(), answers: () => 200, ofAllTeams: true },
  { route: 'getApproval', ...aboutApprovals() },
  { route: 'approveChanges', ...aboutApprovals() },
  { route: 'rejectChanges', ...aboutApprovals() },
  { route: 'listRestores', requests: only(), answers: () => 200 },
  { route: 'getRestore', ...aboutRestores() },
  { route: 'listRestoreItems', ...aboutRestores() },
  { route: 'decideRestore', ...aboutRestores({ area: 'blackholes', action: 'apply' }) },
  { route: 'closeRestore', ...aboutRestores({ accept_uncompared: true }, true) },
  { route: 'listCustomers', requests: only(), answers: () => 200, ofAllTeams: true },
  { route: 'listStaffAccesses', requests: only(), answers: () => 200, ofAllTeams: true },
  ...['listAccess', 'exportAccess'].flatMap((route): Subject[] => [
    { route, requests: only(), answers: () => 200, ofAllTeams: true },
    {
      route,
      form: 'with filters',
      requests: only({ query: { kind: 'account', unused_days: '90', team_id: '1' } }),
      answers: () => 200,
      ofAllTeams: true,
    },
  ]),
  {
    route: 'getCustomer',
    requests: {
      own: async (context) => ({ params: { team_id: ownOf(context).teamId } }),
      missing: async () => ({ params: { team_id: missingId } }),
    },
    answers: absentIsNotFound,
    without: { foreign: 'staff see every team' },
    ofAllTeams: true,
  },
  {
    route: 'inviteFirstAdmin',
    requests: {
      own: async ({ api }) => {
        const { teamId } = await addTeam(api, `customer-${++appliedLocations}`)
        return { params: { team_id: teamId }, body: { email: `first-${teamId}@customer.example` } }
      },
      missing: async () => ({ params: { team_id: missingId }, body: { email: 'first@customer.example' } }),
    },
    answers: (which) => (which === 'own' ? 201 : 'not_found'),
    without: { foreign: 'staff see every team' },
    ofAllTeams: true,
  },
  {
    route: 'listAnnouncementsOfTeam',
    requests: {
      own: async (context) => ({ params: { team_id: ownOf(context).teamId } }),
      missing: async () => ({ params: { team_id: missingId } }),
    },
    answers: absentIsNotFound,
    without: { foreign: 'staff see every team' },
    ofAllTeams: true,
  },
  { route: 'listRegistries', requests: only(), answers: () => 200 },
  ...[
    'listInbox',
    'getStatus',
    'listProcesses',
    'listNameServers',
    'listScrubbers',
    'listExporters',
    'listMails',
    'listUsers',
    'listAuditEntriesOfAll',
  ].map((route) => ({
    route,
    requests: only(),
    answers: () => 200,
    ofAllTeams: true as const,
  })),
  { route: 'listAdminRegions', requests: only(), answers: () => 200 },
  {
    route: 'applyPlatform',
    requests: {
      only: async () => {
        const key = `applied-${++appliedLocations}`
        return { body: { locations: [{ key, name: 'Applied', country: 'NL', timezone: 'UTC' }] } }
      },
    },
    answers: () => 200,
  },
  { route: 'listPlatformKinds', requests: only(), answers: () => 200 },
  {
    route: 'listPlatformElements',
    requests: {
      own: async () => ({ params: { section: 'locations' } }),
      missing: async () => ({ params: { section: 'users' } }),
    },
    answers: absentIsNotFound,
    without: { foreign: 'the elements are of the provider' },
  },
  {
    route: 'changePlatform',
    requests: {
      only: async () => {
        const values = {
          key: `applied-${++appliedLocations}`,
          name: 'Applied',
          country: 'NL',
          timezone: 'UTC',
        }
        return { body: { changes: [{ action: 'create', section: 'locations', values }] } }
      },
    },
    answers: () => 200,
  },
  { route: 'showSetup', requests: only(), answers: () => 200 },
  {
    route: 'createFirstAccount',
    requests: only({
      body: {
        code: 'aaaaa-bbbbb-ccccc-ddddd',
        provider: 'Example Net',
        email: 'first@net.example',
        password: 'seven unlikely words of mine',
      },
    }),
    answers: () => 'conflict',
  },
  { route: 'getSetupProgress', requests: only(), answers: () => 200 },
  {
    route: 'updateSetupProgress',
    requests: {
      // Each call changes something.
      only: async ({ api }) => {
        await sql`update setup set dismissed = null where dismissed is not null`.execute(
          api.database.postgres.owner,
        )
        return { body: { dismissed: true } }
      },
    },
    answers: () => 200,
  },
  { route: 'drainRouter', ...aboutRouters(false) },
  { route: 'undrainRouter', ...aboutRouters(true) },
  { route: 'listFormerRouters', requests: only(), answers: () => 200 },
  { route: 'giveUpFormerRouter', ...aboutFormerRouters() },

  { route: 'listSources', requests: only(), answers: () => 200 },
  { route: 'listDeliveries', requests: only(), answers: () => 200 },
  {
    route: 'getDelivery',
    requests: {
      own: async ({ fixtures }) => ({ params: { delivery_id: fixtures.deliveryId } }),
      missing: async () => ({ params: { delivery_id: missingId } }),
    },
    answers: absentIsNotFound,
    without: { foreign: 'deliveries belong to sources of the operator, not to teams' },
  },

  { route: 'search', requests: only({ query: { q: 'transit' } }), answers: () => 200, ofAllTeams: 'staff' },
  { route: 'listEvents', requests: only(), answers: () => 200, ofAllTeams: 'staff' },
  { route: 'listRelatedEvents', requests: only({ query: { include: 'incident' } }), answers: () => 200 },
  { route: 'listIncidents', requests: only(), answers: () => 200 },
  { route: 'listIncidentsOfAll', requests: only(), answers: () => 200, ofAllTeams: true },
  { route: 'getIncidentTimeseries', requests: only({ query: { group_by: 'peak_bps' } }), answers: () => 200 },
  {
    route: 'getIncident',
    requests: {
      own: async (context) => ({ params: { incident_id: ownOf(context).eventIds[0]! } }),
      foreign: async (context) => ({ params: { incident_id: foreignOf(context).eventIds[0]! } }),
      missing: async () => ({ params: { incident_id: 'there-is-no-such-event' } }),
    },
    answers: absentIsNotFound,
  },
  {
    route: 'getRelatedEventTimeseries',
    requests: only({ query: { group_by: 'affected_network', metric: 'sum_bytes' } }),
    answers: () => 200,
  },
  {
    route: 'getFlowTimeseries',
    requests: only({ body: { group_by: ['protocol', 'remote_asn'], compare: 'previous_period' } }),
    answers: () => 200,
  },
  { route: 'exportFlowTimeseries', requests: only({ body: {} }), answers: () => 200 },
  ...['getMonthlyReport', 'downloadMonthlyReport'].map((route): Subject => ({
    route,
    requests: {
      own: async () => ({ params: { month: '2026-03' } }),
      missing: async () => ({ params: { month: '2099-03' } }),
    },
    without: { foreign: 'a month belongs to every team' },
    answers: (which) => (which === 'own' ? 200 : 'invalid'),
  })),
  {
    route: 'getFlowGraph',
    requests: only({ body: { group_by: ['prefix', 'device', 'interface'] } }),
    answers: () => 200,
  },
  { route: 'getFilterKeys', requests: only({ query: { key: 'remote_asn' } }), answers: () => 200 },
  { route: 'getTimezone', requests: only({ query: { location: 'jfk' } }), answers: () => 200 },
  {
    route: 'getRelatedEvent',
    requests: {
      own: async (context) => ({ params: { event_id: ownOf(context).eventIds[0]! } }),
      foreign: async (context) => ({ params: { event_id: foreignOf(context).eventIds[0]! } }),
      missing: async () => ({ params: { event_id: 'there-is-no-such-event' } }),
    },
    answers: absentIsNotFound,
  },
  {
    route: 'reviewEvent',
    requests: {
      own: async (context) => ({
        params: { event_id: ownOf(context).eventIds[0]! },
        body: { comment: 'Seen.', acknowledged: true },
      }),
      foreign: async (context) => ({
        params: { event_id: foreignOf(context).eventIds[0]! },
        body: { acknowledged: true },
      }),
      missing: async () => ({ params: { event_id: 'there-is-no-such-event' }, body: { verdict: null } }),
    },
    answers: absentIsNotFound,
  },
  {
    route: 'getRelatedEventTraffic',
    requests: {
      own: async (context) => ({ params: { event_id: ownOf(context).eventIds[0]! } }),
      foreign: async (context) => ({ params: { event_id: foreignOf(context).eventIds[0]! } }),
      missing: async () => ({ params: { event_id: 'there-is-no-such-event' } }),
    },
    answers: absentIsNotFound,
  },
  {
    route: 'listEventAttachments',
    requests: {
      own: async (context) => ({ params: { event_id: ownOf(context).eventIds[0]! } }),
      foreign: async (context) => ({ params: { event_id: foreignOf(context).eventIds[0]! } }),
      missing: async () => ({ params: { event_id: 'there-is-no-such-event' } }),
    },
    answers: absentIsNotFound,
  },
  {
    route: 'addEventAttachment',
    requests: {
      own: async ({ identity }) => eventFile(sourceOf(identity)),
      foreign: async ({ identity }) => eventFile(sourceOf(identity) === 'other' ? 'detector' : 'other'),
      missing: async () => eventFile('no-such-source'),
    },
    answers: (which) => (which === 'own' ? 202 : 'unauthenticated'),
  },
  {
    route: 'ingestDelivery',
    requests: {
      own: async ({ identity }) => delivery(sourceOf(identity)),
      // The secret is valid, but for another source than the one in the path.
      foreign: async ({ identity }) => delivery(sourceOf(identity) === 'other' ? 'detector' : 'other'),
      missing: async () => delivery('no-such-source'),
    },
    answers: (which) => (which === 'own' ? 202 : 'unauthenticated'),
  },
  {
    route: 'ingestDelivery',
    form: 'validation',
    requests: {
      own: async ({ identity }) => validation(sourceOf(identity)),
      foreign: async ({ identity }) => validation(sourceOf(identity) === 'other' ? 'detector' : 'other'),
      missing: async () => validation('no-such-source'),
    },
    answers: (which) => (which === 'own' ? 200 : 'unauthenticated'),
  },
]
