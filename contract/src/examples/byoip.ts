// Examples of announcements and regions.
import {
  countAnnouncementsRoute,
  createAnnouncementsRoute,
  deleteAnnouncementRoute,
  getAnnouncementRoute,
  listAnnouncementHistoryRoute,
  listAnnouncementsOfTeamRoute,
  listAnnouncementsRoute,
  listRegionsRoute,
  restoreAnnouncementRoute,
  resumeAnnouncementRoute,
  suspendAnnouncementRoute,
  updateAnnouncementRoute,
  validateAnnouncementRoute,
  type Announcement,
} from '../byoip/announcement.ts'
import { checkReasonText } from '../reason/check-reason.ts'
import { example } from '../example.ts'
import { changesBetween } from '../field-change.ts'
import type { ResponseOf } from '../route.ts'
import { admin, team, tokenId, web, web6 } from './world.ts'

const announced: Announcement = {
  ...web,
  regions: ['ams', 'fra'],
  status: 'announced',
  irr_validated: '2026-03-02T09:14:07.318Z',
  rpki_validated: '2026-03-02T09:12:40.102Z',
  loa_validated: '2026-03-02T13:05:51.770Z',
  last_check: '2026-04-01T09:21:04.512Z',
  last_check_result: true,
  enabled: true,
  created: '2026-03-02T09:12:39.871Z',
}

const created: Announcement = {
  ...announced,
  status: 'pending_validation',
  irr_validated: null,
  rpki_validated: null,
  loa_validated: null,
  last_check: null,
  last_check_result: null,
  enabled: false,
}

const announced6: Announcement = {
  ...announced,
  ...web6,
  created: '2026-03-02T09:12:39.904Z',
}

const withdrawn: Announcement = { ...announced, status: 'withdrawn', enabled: false }
const inBothRegions: Announcement = { ...announced, status: 'partially_announced' }

const createdPage = {
  results: [
    {
      ...created,
      validations: [
        {
          name: 'rpki',
          state: 'missing',
          reason: 'roa_missing',
          attrs: {},
          note: checkReasonText('roa_missing', {}),
          evidence: { vrps: [] },
          fix: 'Create a ROA\nPrefix: 203.0.113.0/24\nOrigin: AS64496\nmaxLength: 24',
          checked: '2026-03-02T09:12:39.861Z',
        },
        {
          name: 'asn',
          state: 'valid',
          reason: 'asn_verified',
          attrs: { asn: web.origin_asn },
          note: checkReasonText('asn_verified', { asn: web.origin_asn }),
          evidence: {},
          fix: null,
          checked: '2026-03-02T09:12:39.861Z',
        },
      ],
    },
  ],
  count: 1,
} satisfies ResponseOf<typeof createAnnouncementsRoute>

const reason = 'The holder of the prefix has withdrawn the permission. Contact our network desk.'
/** Fields that the record shows only with `include=details`, and that a dry run reports. */
const suspension = { suspended: true, suspended_reason: reason }
const noSuspension = { suspended: false, suspended_reason: null }
const suspended: Announcement = { ...announced, status: 'withdrawing' }
const resumed: Announcement = { ...announced, status: 'announcing' }

const announcementIn = { params: { announcement_id: web.id } }

export const byoipExamples = [
  example(updateAnnouncementRoute, {
    ...announcementIn,
    body: { enabled: true, region: 'fra' },
    response: inBothRegions,
    changes: changesBetween({ ...announced, regions: ['ams'] }, inBothRegions),
  }),
  example(getAnnouncementRoute, {
    ...announcementIn,
    query: { include: 'region_states' },
    response: {
      ...announced,
      region_states: [
        {
          region: 'ams',
          desired: true,
          state: 'announced',
          since: '2026-03-02T13:06:02.411Z',
          reason: null,
          message: null,
          requested: '2026-03-02T13:06:02.399Z',
          took_ms: 12,
        },
        {
          region: 'fra',
          desired: true,
          state: 'announced',
          since: '2026-04-01T09:21:06.730Z',
          reason: null,
          message: null,
          requested: '2026-04-01T09:21:06.721Z',
          took_ms: 9,
        },
      ],
    },
  }),
  example(countAnnouncementsRoute, {
    response: {
      total: 11,
      in_sync: 5,
      out_of_sync: 1,
      off: 2,
      blocked: 3,
      statuses: {
        pending_validation: 1,
        validating: 0,
        validation_failed: 1,
        ready: 2,
        announcing: 1,
        announced: 5,
        partially_announced: 0,
        withdrawing: 0,
        withdrawn: 0,
        suspended: 1,
        error: 0,
      },
    },
  }),
  example(listAnnouncementsRoute, {
    query: { origin_asn: [64496], enabled: true, ordering: 'cidr', limit: 100 },
    response: { results: [announced, announced6], count: 2 },
  }),
  example(listAnnouncementsOfTeamRoute, {
    params: { team_id: team.id },
    query: { status: ['announced'], limit: 100 },
    response: { results: [announced, announced6], count: 2 },
  }),
  example(createAnnouncementsRoute, {
    query: { include: 'validations' },
    body: {
      cidr: web.cidr,
      origin_asn: web.origin_asn,
      regions: ['ams', 'fra'],
      description: 'Web servers',
      loa_signatory: admin.name,
    },
    response: createdPage,
    changes: changesBetween({}, createdPage),
  }),
  example(deleteAnnouncementRoute, { ...announcementIn, changes: changesBetween(withdrawn, {}) }),
  example(restoreAnnouncementRoute, {
    ...announcementIn,
    response: withdrawn,
    changes: changesBetween({}, withdrawn),
  }),
  example(validateAnnouncementRoute, {
    ...announcementIn,
    response: announced,
    changes: changesBetween({ check_requested: null }, { check_requested: '2026-04-01T09:30:12.655Z' }),
  }),
  example(listAnnouncementHistoryRoute, {
    ...announcementIn,
    query: { kind: ['enabled', 'announced'], ordering: '-at' },
    response: {
      results: [
        {
          id: 90_412,
          at: '2026-04-01T09:21:06.730Z',
          kind: 'announced',
          region: 'fra',
          actor: 'reconciler',
          detail: {},
          took_ms: 9,
        },
        {
          id: 90_411,
          at: '2026-04-01T09:21:06.721Z',
          kind: 'enabled',
          region: 'fra',
          actor: `token:${tokenId}`,
          detail: {},
          took_ms: null,
        },
      ],
      count: 2,
    },
  }),
  example(suspendAnnouncementRoute, {
    ...announcementIn,
    body: { reason },
    response: suspended,
    changes: changesBetween({ ...announced, ...noSuspension }, { ...suspended, ...suspension }),
  }),
  example(resumeAnnouncementRoute, {
    ...announcementIn,
    response: resumed,
    changes: changesBetween(
      { ...announced, status: 'suspended', ...suspension },
      { ...resumed, ...noSuspension },
    ),
  }),
  example(listRegionsRoute, {
    response: {
      results: [
        {
          slug: 'ams',
          name: 'Amsterdam',
          location: 'Amsterdam',
          country: 'NL',
          timezone: 'Europe/Amsterdam',
          last_check: '2026-04-01T09:21:04.512Z',
          last_check_result: true,
        },
        {
          slug: 'fra',
          name: 'Frankfurt',
          location: 'Frankfurt',
          country: 'DE',
          timezone: 'Europe/Berlin',
          last_check: '2026-04-01T09:21:05.020Z',
          last_check_result: true,
        },
      ],
      count: 2,
    },
  }),
]
