// Calls of the functions whose statements are only known when they run. statements.test.ts prepares the statements of
// these calls: it reports each statement of the server that neither it nor the statement check has prepared, which then
// needs a call here.
import { sql, type RawBuilder } from 'kysely'
import {
  endAttacks,
  listSharedAttacks,
  saveAttacks,
} from '../../src/collector/detector/shared-attack.store.ts'
import { listEveryEvent, listEventsOfTeams } from '../../src/events/list/events-of-teams.store.ts'
import { saveAsNames } from '../../src/flow/as-name.store.ts'
import { saveRollup } from '../../src/events/relate/event-rollup.store.ts'
import { listSeriesRows } from '../../src/events/list/event-timeseries.store.ts'
import {
  firstCursor,
  insertEvents,
  listEventsAround,
  listEventsInside,
  saveEvents,
} from '../../src/events/event/event.store.ts'
import type { Event } from '../../src/events/event/event.ts'
import {
  listCutOff,
  listNeighbors,
  saveMoved,
  type PlacedEvent,
} from '../../src/events/relate/incident.store.ts'
import {
  deleteReports,
  findIncidentRow,
  listIncidentRows,
  listIncidentsOfEvents,
  listKinds,
  listReportedIncidents,
  saveReports,
  type IncidentFigures,
} from '../../src/events/list/incident-list.store.ts'
import type { StoredMatch } from '../../src/events/relate/match.ts'
import { parseEventQuery } from '../../src/events/list/event-query.ts'
import { insertRelationships, saveRelationships } from '../../src/events/relate/relationship.store.ts'
import { markMatched } from '../../src/events/relate/rematch.store.ts'
import { listRollupRows } from '../../src/events/list/rollup-series.store.ts'
import { listSourcePage } from '../../src/events/ingest/source-list.store.ts'
import { listStaffIncidentRows } from '../../src/events/list/staff-incident.store.ts'
import { deleteTeamEvents, saveShown, saveTeamEvents } from '../../src/events/relate/team-event.store.ts'
import { listSeals, listWaiting } from '../../src/audit/seal.store.ts'
import { listSetRows } from '../../src/dns/recordset/recordset.store.ts'
import type { Zone } from '../../src/dns/zone/zone.ts'
import type { ZoneLimit } from '../../src/operation/limits.ts'
import { listAnnouncementRows } from '../../src/byoip/announcement/announcement.store.ts'
import { notifyCheckedStatuses, notifyStatusChanges } from '../../src/byoip/status/status-message.store.ts'
import { saveStatuses } from '../../src/byoip/status/status.store.ts'
import { readBlackholeRows } from '../../src/byoip/regions/blackhole.store.ts'
import { insertOpen, listDecisionRows, lockOpen } from '../../src/approval/approval.store.ts'
import { confirmWithdrawals } from '../../src/byoip/regions/reconcile.store.ts'
import type { Postgres, Trx } from '../../src/db/postgres.ts'
import { countRows } from '../../src/db/lost-keys.store.ts'
import {
  replaceSealed,
  countByKey,
  findSealed,
  hasKeys,
  listSealed,
  listSealedByAnother,
} from '../../src/db/reseal.store.ts'
import { sealedPlaces } from '../../src/db/reseal.ts'
import { readServedSets } from '../../src/dns/serve/served.store.ts'
import { saveAnswered, saveDeviceIdentity, saveStates } from '../../src/inventory/collect/collect.store.ts'
import {
  findCrossConnect,
  listCrossConnectRows,
  readCrossConnect,
} from '../../src/inventory/cross-connect/cross-connect.store.ts'
import { countDevices, findDevice, listDeviceRows } from '../../src/inventory/device/device.store.ts'
import { findStaffDevice } from '../../src/inventory/device/staff-device.store.ts'
import { keepingFacts } from '../../src/inventory/assignment/link-ports.store.ts'
import { findPort } from '../../src/inventory/port/port.store.ts'
import { findPrefix } from '../../src/inventory/holding/prefix.store.ts'
import { findService } from '../../src/inventory/holding/service.store.ts'
import { compactUsage } from '../../src/inventory/usage/compact.store.ts'
import { listMarginPorts, listMargins } from '../../src/inventory/optics/light-margins.store.ts'
import { listSpeeds, readHeldBuckets } from '../../src/inventory/usage/port-loads.store.ts'
import { readUsage } from '../../src/inventory/usage/usage.store.ts'
import { listPoints } from '../../src/inventory/gauge/gauge.store.ts'
import { claimMails } from '../../src/mail/mail.store.ts'
import { parsePrefix } from '../../src/net/prefix.ts'
import { saveCounterChecks } from '../../src/collector/counter-check.store.ts'
import { listLetterOccurrences } from '../../src/notification/notification.store.ts'
import { insertMessages } from '../../src/outbox/outbox.store.ts'
import { platformKinds } from '../../src/platform/kinds/index.ts'
import type { Kind } from '../../src/platform/engine/kind.ts'
import { deleteRow, insertRows, readRows, updateRow } from '../../src/platform/engine/table.store.ts'
import { parseSearchTerm } from '../../src/net/search-term.ts'
import { searchSources } from '../../src/search/sources.store.ts'
import { countParts } from '../../src/session/delete-account.store.ts'
import { rotateSessions } from '../../src/session/session.store.ts'
import {
  listExporterRows,
  listNameServerRows,
  listScrubberRows,
} from '../../src/status/network-list.store.ts'
import { countPartStates } from '../../src/status/part-states.store.ts'
import { findProvider, lockProvider } from '../../src/identity/provider.store.ts'
import { insertMembers, linkMembers, readProvisioned } from '../../src/scim/provision.store.ts'
import {
  countGroups,
  findGroup,
  findScimUser,
  isTaken,
  listGroupRows,
  listUserRows,
  lockUserRow,
} from '../../src/scim/scim.store.ts'
import { lockDomain } from '../../src/team/domain.store.ts'
import { hasObject } from '../../src/alert/alert-rule.store.ts'
import { saveEvaluated } from '../../src/alert/watch.store.ts'
import { listShares, listWatched } from '../../src/byoip/visibility/heard-by.store.ts'
import type { ReadStatement } from '../../src/db/postgres.ts'

/** A call is made without rows, and with a row of null columns: it may fail after its statement. */
export type StatementCall = (deps: { readonly db: Trx; readonly postgres: Postgres }) => Promise<unknown>

const [team, id, limit, now] = [7, 42, 10, new Date('2026-03-01T12:00:00Z')]
const slice = { limit, offset: 0 }
const prefix = parsePrefix('192.0.2.0/24')
const related = parseEventQuery({ ordering: 'event__start', ...slice })
const series = {
  of: 'events' as const,
  filter: related,
  borders: [now, new Date('2026-03-02T12:00:00Z'), new Date('2026-03-03T12:00:00Z')],
  now,
}
const target = { key: 1, teamId: team, portId: id, start: now, end: now }
const reading =
  (db: Trx): ReadStatement =>
  async (query) =>
    (await query.execute(db)).rows
const incidentReport: IncidentFigures = {
  team_id: team,
  incident_id: 'a',
  start_at: now,
  end_at: null,
  affected_bps: 1,
  affected_pps: 1,
  event_count: 1,
  sources: [],
}
const placed: PlacedEvent = {
  team_id: team,
  event_id: 'a',
  start_at: now,
  end_at: now,
  flags: 0,
  networks: [prefix],
}
const event = {
  flags: [],
  status: [],
  parsedData: {},
  mergeState: { signals: [], stamps: {} },
} as unknown as Event
const match = { eventId: 'a', id } as StoredMatch
const teamEvent = { team_id: team, event_id: 'a', facet: { flags: 0, status: 0 } }
const counted = {
  team_id: team,
  start_at: now,
  end_at: now,
  affected_bps: 1,
  affected_pps: 1,
  classification_key: 'udp.flood',
  facet: 1,
} as const
const statusChange = { id, before: 'valid', after: 'announced' } as unknown as Parameters<
  typeof notifyStatusChanges
>[1][number]
const zoneLimit: ZoneLimit = {
  id: 1,
  name: 'example.com.',
  names: [
    { kind: 'name', name: 'www.example.com.' },
    { kind: 'below', name: 'dyn.example.com.' },
    { kind: 'first_label', label: 'www' },
  ],
  types: new Set([16]),
  text: '',
}
const recordSets = { ordering: 'name', ...slice } as Parameters<typeof listSetRows>[3]
const announcements = { ordering: 'status', ...slice } as Parameters<typeof listAnnouncementRows>[2]
const sealed = Buffer.from('sealed')
const sharedAttack = { id: 'a', collector: 'c', ended: null, observed: now }
const plannedApproval = {
  kind: 'catalog',
  findings: [{ reason: 'many_removals', attrs: {} }],
  items: [],
  evidence: 'a',
} as const

const scimProvider = { id, teamId: team }
const scimId = '0f8fad5b-d9cb-469f-a165-70867728950e'
const joiningUser = {
  id: scimId,
  email: 'a@red.example',
  display_name: '',
  given_name: '',
  family_name: '',
  user_id: null,
  roles: ['reader'] as const,
}

export const statementCalls: readonly StatementCall[] = [
  ({ db }) => listSharedAttacks(db, 'outgoing', ['192.0.2.0/24']),
  ({ db }) => saveAttacks(db, 'outgoing', new Map([['192.0.2.0/24', sharedAttack]])),
  ({ db }) => endAttacks(db, ['a'], now),
  ({ db }) => listEveryEvent(db, related),
  ({ db }) => listEventsOfTeams(db, [team], related),
  ({ db }) => saveRollup(db, [{ before: counted, after: null }]),
  ({ postgres }) => listSeriesRows(postgres, team, { ...series, metric: 'max_bps', groupBy: undefined }),
  ({ postgres }) =>
    listSeriesRows(postgres, team, { ...series, of: 'incidents', metric: 'count', groupBy: 'peak_bps' }),
  ({ postgres }) => listIncidentRows(postgres, team, related),
  ({ postgres }) => listIncidentRows(postgres, team, { ...related, flags: 1 }),
  ({ postgres }) => listIncidentRows(postgres, team, { ...related, bps: 1 }),
  ({ db }) => listStaffIncidentRows(db, { ...related, teamIds: [team], ongoing: true, start: now, end: now }),
  ({ postgres }) => listKinds(postgres, team, { ...related, falsePositive: false }),
  ({ postgres }) => findIncidentRow(postgres, team, 'event'),
  ({ db }) => listIncidentsOfEvents(db, team, ['event']),
  ({ db }) => listReportedIncidents(db, [{ team_id: team, event_id: 'a' }]),
  ({ db }) => saveReports(db, [incidentReport]),
  ({ db }) => deleteReports(db, [incidentReport]),
  ({ db }) => listNeighbors(db, [placed]),
  ({ db }) => listCutOff(db, [placed]),
  ({ db }) => saveMoved(db, team, [{ event_id: 'event', incident: null }]),
  ({ postgres }) => listRollupRows(postgres, team, { ...series, metric: 'count', groupBy: undefined }),
  ({ postgres }) =>
    listRollupRows(postgres, team, { ...series, metric: 'max_pps', groupBy: 'classification_key' }),
  ({ db }) => insertEvents(db, [event]),
  ({ db }) => saveEvents(db, [event]),
  ({ db }) => listEventsInside(db, prefix, firstCursor, limit),
  ({ db }) => listEventsAround(db, prefix, firstCursor, limit),
  ({ db }) => insertRelationships(db, [match]),
  ({ db }) => saveRelationships(db, [match]),
  ({ db }) => markMatched(db, { kind: 'prefix', id, prefixes: [], version: undefined }, 'version'),
  ({ db }) => listSourcePage(db, { ordering: 'key', ...slice }),
  ({ db }) => saveTeamEvents(db, [teamEvent as unknown as Parameters<typeof saveTeamEvents>[1][number]]),
  ({ db }) => saveShown(db, team, [teamEvent as unknown as Parameters<typeof saveShown>[2][number]]),
  ({ db }) => deleteTeamEvents(db, [teamEvent]),
  ({ db }) => listWaiting(db, limit),
  ({ db }) => listSeals(db, 0, limit),
  ({ postgres }) => listAnnouncementRows(postgres, team, announcements, undefined, true, null),
  ({ postgres }) =>
    listAnnouncementRows(postgres, team, { ...announcements, search: '::1' }, undefined, true, null),
  ({ postgres }) => listSetRows(postgres, team, { id } as Zone, recordSets, undefined, undefined, zoneLimit),
  ({ db }) => notifyStatusChanges(db, [statusChange]),
  ({ db }) => notifyCheckedStatuses(db),
  ({ db }) => saveStatuses(db, [id]),
  ({ db }) => readBlackholeRows(db, id),
  ({ db }) => lockOpen(db as Trx, 'shield', {}),
  ({ db }) =>
    lockOpen(db as Trx, 'shield', { kind: 'a', regionId: id, zoneId: id, listId: id, scrubber: null }),
  ({ db }) => listDecisionRows(db, 'dns'),
  ({ db }) => listDecisionRows(db, 'dns', ['a']),
  ({ db }) => insertOpen(db as Trx, 'dns', plannedApproval, id),
  ({ db }) => confirmWithdrawals(db, id, [prefix], []),
  ({ db }) => claimMails(db, limit, 60),
  ...sealedPlaces.flatMap((place): StatementCall[] => [
    ({ db }) => countByKey(db, place),
    ({ db }) => hasKeys(db, place, ['00000000']),
    ({ db }) => countRows(db, place.table),
    ({ db }) => listSealedByAnother(db, place, '00000000'),
    ({ db }) => findSealed(db, place, place.keys),
    ({ db }) => Array.fromAsync(listSealed(db, place)),
    ({ db }) => replaceSealed(db, place, place.keys, sealed, sealed),
  ]),
  ({ db }) => Array.fromAsync(readServedSets(db, [id])),
  ({ db }) => saveDeviceIdentity(db, id, { uptimeMs: 0 } as Parameters<typeof saveDeviceIdentity>[2], 60),
  ({ db }) =>
    saveStates(db, id, [
      { key: 'lo', errorsIn: null, errorsOut: null, discardsIn: null, discardsOut: null } as Parameters<
        typeof saveStates
      >[2][number],
    ]),
  ({ db }) => saveAsNames(db, new Map([[1, 'a']])),
  ({ db }) =>
    saveAnswered(db, id, {
      pollSeconds: 60,
      gaugeSeconds: 60,
      failure: null,
      hasSurveyFailed: false,
      hasChanged: true,
    }),
  ({ postgres }) =>
    listCrossConnectRows(postgres, team, { ordering: 'id', waits_for: ['provider'], ...slice }),
  ({ postgres }) => findCrossConnect(postgres, team, id),
  ({ db }) => readCrossConnect(db, id),
  ({ postgres }) => countDevices(postgres, team, ['location', 'role', 'vendor', 'status', 'tag'], {}),
  ({ postgres }) => listDeviceRows(postgres, team, { ordering: 'vendor', limit: 1, offset: 0 }),
  ({ postgres }) => findDevice(postgres, team, 1),
  ({ db }) => findStaffDevice(db, id),
  ({ db }) => listNameServerRows(db, { ordering: 'name', state: ['failing'], search: 'ns', ...slice }),
  ({ db }) => listScrubberRows(db, { ordering: 'name', ...slice }),
  ({ db }) => listExporterRows(db, { ordering: 'address', search: '192', ...slice }),
  ({ db }) => countPartStates(db),
  ({ postgres }) => findPort(postgres, team, id),
  ({ postgres }) => findPrefix(postgres, team, id),
  ({ postgres }) => findService(postgres, team, id),
  ({ postgres }) => readUsage(postgres, team, id, ['octets_in'], { start: now, end: now, seconds: 300 }),
  ({ postgres }) =>
    listPoints(postgres, team, sql`select g.id, g.metric, g.lane, g.part, now() as since from gauges g`, {
      borders: series.borders,
      isDaily: true,
    }),
  ({ db }) => keepingFacts(db, null, async () => {}),
  ({ db }) => hasObject(db, team, 'port', id),
  ({ db }) => saveEvaluated(db, []),
  ({ db }) => listSpeeds(reading(db), [target]),
  ({ db }) => readHeldBuckets(reading(db), [target]),
  ({ db }) => listMarginPorts(reading(db), [target]),
  ({ db }) => listMargins(reading(db), [target]),
  ({ db }) => listWatched(reading(db), [{ ...target, announcementId: id }]),
  ({ db }) => listShares(reading(db), [{ ...target, announcementId: id }]),
  ({ db }) => compactUsage(db),
  ({ db }) => listLetterOccurrences(db, now),
  ({ db }) => saveCounterChecks(db, now, []),
  ({ db }) =>
    insertMessages(
      db,
      [{ teamId: team, userId: null, type: 'event.started', data: '{}' }],
      [{ type: 'event.started', module: 'lighthouse' }],
    ),
  ...platformKinds.kinds.flatMap((one): StatementCall[] => {
    const kind = one as unknown as Kind<object>
    const fields = Object.fromEntries(Object.keys(kind.fields).map((name) => [name, null]))
    const row = { id, fields } as unknown as Parameters<typeof deleteRow>[2]
    const change = { fields, row } as unknown as Parameters<typeof insertRows>[2][number] &
      Parameters<typeof updateRow>[2]
    return [
      ({ db }) => readRows(db, one),
      ({ db }) => insertRows(db, kind, [change], now),
      ({ db }) => updateRow(db, kind, change, now),
      ({ db }) => deleteRow(db, kind, row),
      ({ db }) => kind.delete(db, row),
    ]
  }),
  ...searchSources.flatMap((source): StatementCall[] => {
    const sought = parseSearchTerm('192.0.2.0/24')
    return [
      ({ db }) =>
        execute(db, source.find(team, sought, limit, { kind: 'user' } as Parameters<typeof source.find>[3])),
      ({ db }) => execute(db, source.findInAll?.(team, sought, limit)),
    ]
  }),
  ({ db }) => countParts(db, id, 'ada@acme.example'),
  ({ db }) => rotateSessions(db, [], { idleSeconds: 60, absoluteSeconds: 60 }, { skipLocked: true }),
  ({ db }) => lockDomain(db, team, id),
  ({ postgres }) => listUserRows(postgres, scimProvider, [sql`s.active`], slice),
  ({ postgres }) => findScimUser(postgres, scimProvider, scimId),
  ({ db }) => lockUserRow(db, scimProvider, scimId),
  ({ db }) => isTaken(db, scimProvider, scimId, { user_name: 'anna', email: 'anna@red.example' }),
  ({ db }) => countGroups(db, scimProvider),
  ({ postgres }) => listGroupRows(postgres, scimProvider, [sql`g.id is not null`], slice, true),
  ({ postgres }) => findGroup(postgres, scimProvider, scimId, true),
  ({ db }) => readProvisioned(db, scimProvider, [scimId]),
  ({ db }) => readProvisioned(db, scimProvider, [scimId, scimId]),
  ({ db }) => readProvisioned(db, scimProvider, null),
  ({ db }) => insertMembers(db, scimProvider, [joiningUser]),
  ({ db }) => linkMembers(db, scimProvider, [{ id: scimId, user_id: id, member_id: id }]),
  ({ db }) => lockProvider(db, team, id),
  ({ postgres }) => findProvider(postgres, team, id),
]

const execute = async (db: Trx, statement: RawBuilder<unknown> | null | undefined) => statement?.execute(db)
