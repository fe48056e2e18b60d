// Examples of approvals, restores and routers, for the provider's staff.
import {
  drainRouterRoute,
  listAdminRegionsRoute,
  undrainRouterRoute,
  type AdminRegion,
  type RegionRouter,
} from '../operator/region.ts'
import { example } from '../example.ts'
import { giveUpFormerRouterRoute, listFormerRoutersRoute, type FormerRouter } from '../byoip/former-router.ts'
import { changesBetween } from '../field-change.ts'
import {
  approveChangesRoute,
  getApprovalRoute,
  listApprovalsRoute,
  rejectChangesRoute,
  type Approval,
  type ApprovalItem,
} from '../operator/approval.ts'
import { approvalDetail } from '../reason/approval-reason.ts'
import {
  closeRestoreRoute,
  decideRestoreRoute,
  getRestoreRoute,
  listRestoreItemsRoute,
  listRestoresRoute,
  restoreReasons,
  type Restore,
  type RestoreItem,
} from '../operator/restore.ts'
import { admin, employee, teamReference, web, web6 } from './world.ts'

const findings = [
  { reason: 'too_many_withdrawals', attrs: { max: 3, team_max: 3, minutes: 10, recent: 0 } },
] as const

const withdrawalOf = (value: string): ApprovalItem => ({
  change: 'withdraw',
  value,
  router: null,
  from: null,
  to: null,
  team: teamReference,
  announcement_id: web.id,
  requested: {
    action: 'announcement.update',
    by: `user:${admin.id}`,
    by_name: admin.email,
    by_staff: false,
    at: '2026-04-01T10:02:18.004Z',
  },
})
export const withdrawals = ['198.51.100.0/24', web.cidr, '2001:db8:8::/48', web6.cidr].map(withdrawalOf)

export const approval: Approval = {
  id: 12,
  area: 'routes',
  subject: { type: 'region', id: 2, name: 'fra' },
  team: null,
  reason: 'too_many_withdrawals',
  reasons: [...findings],
  detail: approvalDetail('routes', findings),
  item_count: withdrawals.length,
  state: 'open',
  created: '2026-04-01T10:02:18.410Z',
  decided: null,
  decided_by: null,
  note: null,
  valid_until: null,
  replaces: null,
}

const approvalIn = { params: { approval_id: approval.id } }
export const decided = { decided: '2026-04-01T10:09:44.190Z', decided_by: `user:${employee.id}` }

const approved: Approval = {
  ...approval,
  ...decided,
  state: 'approved',
  note: 'Agreed by telephone.',
  valid_until: '2026-04-01T10:24:44.190Z',
}
const rejected: Approval = {
  ...approval,
  ...decided,
  state: 'rejected',
  valid_until: '2026-04-02T10:09:44.190Z',
}

const restore: Restore = {
  id: 1,
  state: 'open',
  reason: 'head_missing',
  detail: restoreReasons.head_missing,
  detected: '2026-04-01T10:02:18.410Z',
  known_head: '120734:9f3c4d1e7a52b8860c1f2e3d4c5b6a79881726354453627180a9b8c7d6e5f4a3',
  found_head: '120612:5b0a1c2d3e4f5061728394a5b6c7d8e9f00112233445566778899aabbccddeef',
  sessions_ended: 14,
  closed: null,
  closed_by: null,
  areas: [
    { area: 'mails', items: 1, undecided: 0, adoptable: 0 },
    { area: 'routes', items: 1, undecided: 1, adoptable: 1 },
  ],
  sources: [
    { area: 'routes', name: 'fra', compared: '2026-04-01T10:02:19.020Z', problem: null },
    { area: 'zones', name: 'ns1.example.net', compared: '2026-04-01T10:02:19.610Z', problem: null },
  ],
}
const restoreIn = { params: { restore_id: restore.id } }
const restoreItem: RestoreItem = {
  id: 88,
  area: 'routes',
  source: 'fra',
  subject: web.cidr,
  kind: 'add',
  team: teamReference,
  database: { announcement_id: web.id, route: 'AS64496 via 192.0.2.1' },
  network: null,
  adoptable: true,
  decision: null,
  decided_by: null,
}
const decidedRestore: Restore = {
  ...restore,
  areas: [restore.areas[0]!, { area: 'routes', items: 1, undecided: 0, adoptable: 0 }],
}
const closedRestore: Restore = {
  ...decidedRestore,
  state: 'closed',
  closed: '2026-04-01T10:09:44.190Z',
  closed_by: `user:${employee.id}`,
}

const firstRouter: RegionRouter = {
  name: 'fra1',
  kind: 'gobgp',
  drained: null,
  last_check: '2026-04-01T09:21:05.020Z',
  last_check_result: true,
  error: null,
  routes: 214,
  neighbors: [
    {
      address: '192.0.2.1',
      asn: 64_500,
      description: 'edge router',
      state: 'established',
      families: ['ipv4', 'ipv6'],
      since: '2026-03-28T02:11:40.000Z',
      end: null,
      received: 2,
      missing: 0,
      checked: '2026-04-01T09:21:05.020Z',
    },
    {
      address: '192.0.2.2',
      asn: 64_510,
      description: 'exchange',
      state: 'active',
      families: [],
      since: '2026-04-01T08:02:11.000Z',
      end: {
        reason: 'notification_received',
        message: 'The neighbor ended the session with a NOTIFICATION, such as for its prefix limit.',
        detail: null,
      },
      received: null,
      missing: null,
      checked: null,
    },
  ],
}
const formerRouter: FormerRouter = {
  id: 3,
  region: 'fra',
  name: 'fra3',
  router: 'gobgp 192.0.2.7:50051 64500:1:1',
  since: '2026-04-01T08:12:44.310Z',
  last_check: '2026-04-01T08:12:46.120Z',
  error: 'gobgpd at 192.0.2.7:50051: no connection',
  routes: 12,
}
const goneRouter: FormerRouter = { ...formerRouter, routes: 0 }
const secondRouter: RegionRouter = { ...firstRouter, name: 'fra2' }

const region: AdminRegion = {
  slug: 'fra',
  name: 'Frankfurt',
  open: true,
  quorum: 1,
  last_check: '2026-04-01T09:21:05.020Z',
  last_check_result: true,
  error: null,
  neighbors_ipv4: true,
  neighbors_ipv6: true,
  routes_missing: 0,
  routers: [firstRouter, secondRouter],
  open_approval: null,
}
/** The routes of a router are withdrawn after the answer, by the reconciler. */
const drained: AdminRegion = {
  ...region,
  routers: [{ ...firstRouter, drained: '2026-04-01T22:00:04.118Z' }, secondRouter],
}
const router = { params: { slug: 'fra', name: 'fra1' } }

export const operatorExamples = [
  example(listApprovalsRoute, {
    query: { state: ['open'], include: 'items' },
    response: { results: [{ ...approval, items: withdrawals }], count: 1 },
  }),
  example(getApprovalRoute, {
    ...approvalIn,
    response: { ...approval, items: withdrawals, items_truncated: false, details: null },
  }),
  example(approveChangesRoute, {
    ...approvalIn,
    body: { note: 'Agreed by telephone.' },
    response: approved,
    changes: changesBetween(approval, approved),
  }),
  example(rejectChangesRoute, {
    ...approvalIn,
    body: {},
    response: rejected,
    changes: changesBetween(approval, rejected),
  }),
  example(listRestoresRoute, { query: { state: ['open'] }, response: { results: [restore], count: 1 } }),
  example(getRestoreRoute, { ...restoreIn, response: restore }),
  example(listRestoreItemsRoute, {
    ...restoreIn,
    query: { area: ['routes'] },
    response: { results: [restoreItem], count: 1 },
  }),
  example(decideRestoreRoute, {
    ...restoreIn,
    body: { area: 'routes', action: 'adopt', items: [restoreItem.id] },
    response: decidedRestore,
    changes: changesBetween(restore, decidedRestore),
  }),
  example(closeRestoreRoute, {
    ...restoreIn,
    body: {},
    response: closedRestore,
    changes: changesBetween(decidedRestore, closedRestore),
  }),
  example(listAdminRegionsRoute, { response: { results: [region], count: 1 } }),
  example(drainRouterRoute, { ...router, response: drained, changes: changesBetween(region, drained) }),
  example(undrainRouterRoute, { ...router, response: region, changes: changesBetween(drained, region) }),
  example(listFormerRoutersRoute, { response: { results: [formerRouter], count: 1 } }),
  example(giveUpFormerRouterRoute, {
    params: { former_router_id: formerRouter.id },
    response: goneRouter,
    changes: changesBetween(formerRouter, goneRouter),
  }),
]
