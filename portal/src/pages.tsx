// The pages of the portal: one entry each. The router, the navigation, the command palette and the keyboard shortcuts are
// derived from these tables, and the server answers any address of a page with the portal. Pages are loaded when they are
// first opened, and must not import this file.
import type { listAlertRulesRoute } from '@pharos/contract/alert/alert-rule'
import type { listStaffBillsRoute } from '@pharos/contract/operator/bill'
import type { listStaffDevicesRoute } from '@pharos/contract/operator/device'
import type { listMailsRoute } from '@pharos/contract/operator/mail'
import type {
  listExportersRoute,
  listNameServersRoute,
  listScrubbersRoute,
} from '@pharos/contract/operator/network'
import type { listPlatformElementsRoute } from '@pharos/contract/operator/platform'
import type { listProcessesRoute } from '@pharos/contract/operator/status'
import type { listUsersRoute } from '@pharos/contract/operator/user'
import type { listAccessRoute } from '@pharos/contract/operator/access-review'
import type { listStaffAccessesRoute } from '@pharos/contract/operator/staff-access'
import type { listCustomersRoute } from '@pharos/contract/operator/team'
import type { Grant } from '@pharos/contract/role'
import type { StaffGrant } from '@pharos/contract/staff-role'
import type { User } from '@pharos/contract/session/session'
import type { listIncidentsRoute, listStaffIncidentsRoute } from '@pharos/contract/events/incident'
import type { listAuditEntriesRoute, listStaffAuditEntriesRoute } from '@pharos/contract/team/audit'
import type {
  listAnnouncementsOfTeamRoute,
  listAnnouncementsRoute,
} from '@pharos/contract/byoip/announcement'
import type {
  listCrossConnectsRoute,
  listStaffCrossConnectsRoute,
} from '@pharos/contract/inventory/cross-connect'
import type { listDeliveriesRoute } from '@pharos/contract/events/delivery'
import type { listDevicesRoute } from '@pharos/contract/inventory/device'
import type { listZonesRoute } from '@pharos/contract/dns/zone'
import type { listAsnsRoute } from '@pharos/contract/inventory/asn'
import type { listMembersRoute } from '@pharos/contract/team/member'
import type { listNotificationsRoute } from '@pharos/contract/messages/notification'
import type { listPortsRoute } from '@pharos/contract/inventory/port'
import type { QueryOf } from '@pharos/contract/route'
import type { listServicesRoute } from '@pharos/contract/inventory/service'
import type { listShieldListsRoute } from '@pharos/contract/shield/shield'
import type { listTeamAccessRoute } from '@pharos/contract/team/access-review'
import type { listServiceAccountsRoute } from '@pharos/contract/team/service-account'
import type { listTokensRoute } from '@pharos/contract/team/token'
import type { listTsigKeysRoute } from '@pharos/contract/dns/tsig'
import type { listWebhookDeliveriesRoute, listWebhooksRoute } from '@pharos/contract/messages/webhook'
import {
  IconActivity,
  IconAlertCircle,
  IconBroadcast,
  IconBuilding,
  IconChartAreaLine,
  IconContract,
  IconCpu,
  IconDatabase,
  IconFilter,
  IconGauge,
  IconHistory,
  IconHome,
  IconId,
  IconInbox,
  IconMail,
  IconPlug,
  IconPlugConnected,
  IconRadar,
  IconReceipt,
  IconReport,
  IconRouter,
  IconServer,
  IconShieldBolt,
  IconShieldCheck,
  IconSitemap,
  IconStack2,
  IconUser,
  IconListCheck,
  IconUserShield,
  IconUsers,
  IconWorld,
  IconWorldSearch,
} from '@tabler/icons-react'
import { lazyRouteComponent, type RouteComponent, type SearchSchemaInput } from '@tanstack/react-router'
import type { AlertDraft } from './alerts/condition.ts'
import { detailNames } from './announcements/details.ts'
import type { DraftSearch } from './announcements/draft.ts'
import type { May } from './api/use-grant.ts'
import type { AnnouncementTab } from './announcements/tabs.ts'
import { parameters } from './ui/search-params.ts'
import type { ViewAddress } from './traffic/traffic-view.ts'
import type { ZoneTab } from './zones/tabs.ts'

/** `Written`: parameters that a link may set. `Read`: parameters that the page reads. */
export type Page<Path extends string, Written, Read> = {
  readonly path: Path
  /** Name in the navigation and the palette; a page without one is reached from another page only. */
  readonly label?: string
  /** A page with an icon has an entry in the sidebar, under the title of its group; without a group it comes first. */
  readonly icon?: typeof IconHome
  readonly group?: Group
  /** On phones the page has an entry in the bottom bar. */
  readonly isOnBar?: true
  /** Its name there, if the other is too long. */
  readonly barLabel?: string
  /** The number beside its entry: `shell/counts.ts`. */
  readonly count?: CountName
  /** Pressed after `g`, opens the page. */
  readonly key?: string
  /** Further search terms for the palette. */
  readonly keywords?: readonly string[]
  /** Path of the sidebar entry whose tab this page is. */
  readonly tabOf?: string
  /** The team needs this module. */
  readonly module?: string
  /** For staff of the provider: a staff role of the user must have it. */
  readonly staffGrant?: StaffGrant
  /** A role of the user must have it. */
  readonly grant?: Grant
  readonly redirectTo?: string
  readonly component?: RouteComponent
  readonly search?: (search: Written & SearchSchemaInput) => Read
}

/** The groups of the sidebar, in their order. `account` is not listed: its pages are reached from the foot of the sidebar. */
export const groupLabels = {
  routing: 'Routing',
  traffic: 'Traffic',
  security: 'Security',
  inventory: 'Inventory',
  dns: 'DNS',
  provider: 'Provider',
  customers: 'Customers',
  network: 'Network',
  system: 'System',
  account: 'Account',
}

export type Group = keyof typeof groupLabels

/** Counts of the sidebar: ongoing attacks; announcements that need the team; requests in the inbox of the provider's staff. */
export type CountName = 'attacks' | 'blocked' | 'inbox'

type NoSearch = Readonly<Record<never, never>>

const page = <const Path extends string, Written = NoSearch, Read = NoSearch>(
  one: Page<Path, Written, Read>,
): Page<Path, Written, Read> => one

/** Pages in the frame, for signed-in users. */
export const pages = [
  page({
    path: '/',
    label: 'Overview',
    icon: IconHome,
    isOnBar: true,
    key: 'o',
    search: parameters<NoSearch>()(),
    component: lazyRouteComponent(() => import('./overview/overview.tsx'), 'Overview'),
  }),
  page({
    path: '/alerts',
    label: 'Alerts',
    icon: IconAlertCircle,
    keywords: ['rule', 'threshold', 'monitoring', 'notify', 'firing'],
    grant: 'alerts.see',
    search: parameters<QueryOf<typeof listAlertRulesRoute>>()(
      'state',
      'severity',
      'kind',
      'search',
      'ordering',
    ),
    component: lazyRouteComponent(() => import('./alerts/alerts.tsx'), 'Alerts'),
  }),
  page({
    path: '/alerts/new',
    label: 'Add alert rule',
    keywords: ['create', 'new', 'threshold', 'monitoring'],
    grant: 'alerts.manage',
    search: parameters<AlertDraft>()('kind', 'object', 'direction', 'measure', 'part'),
    component: lazyRouteComponent(() => import('./alerts/new-alert.tsx'), 'NewAlert'),
  }),
  page({
    path: '/alerts/$id',
    grant: 'alerts.see',
    search: parameters<NoSearch>()(),
    component: lazyRouteComponent(() => import('./alerts/alert.tsx'), 'AlertPage'),
  }),
  page({
    path: '/alerts/$id/edit',
    grant: 'alerts.manage',
    search: parameters<NoSearch>()(),
    component: lazyRouteComponent(() => import('./alerts/edit-alert.tsx'), 'EditAlert'),
  }),
  page({
    path: '/announcements',
    label: 'Announcements',
    icon: IconBroadcast,
    group: 'routing',
    isOnBar: true,
    barLabel: 'Routing',
    count: 'blocked',
    key: 'a',
    module: 'ipam',
    grant: 'ipam.see',
    search: parameters<QueryOf<typeof listAnnouncementsRoute>>()(
      'cidr',
      'origin_asn',
      'region',
      'condition',
      'status',
      'enabled',
      'family',
      'deleted',
      'ordering',
    ),
    component: lazyRouteComponent(() => import('./announcements/announcements.tsx'), 'Announcements'),
  }),
  page({
    path: '/announcements/new',
    label: 'Add prefix',
    keywords: ['create', 'new', 'announcement', 'byoip'],
    module: 'ipam',
    grant: 'ipam.manage',
    search: parameters<DraftSearch>()('cidr', 'asn', 'regions', ...detailNames),
    component: lazyRouteComponent(() => import('./announcements/new-announcement.tsx'), 'NewAnnouncement'),
  }),
  page({
    path: '/announcements/$id',
    module: 'ipam',
    grant: 'ipam.see',
    search: parameters<{ tab: AnnouncementTab; show: string }>()('tab', 'show'),
    component: lazyRouteComponent(() => import('./announcements/announcement.tsx'), 'AnnouncementPage'),
  }),
  page({
    path: '/prefixes',
    label: 'Prefixes',
    icon: IconSitemap,
    group: 'routing',
    keywords: ['tree', 'address space', 'ipam', 'network'],
    grant: 'inventory.see',
    search: parameters<{ find: string }>()('find'),
    component: lazyRouteComponent(() => import('./prefixes/prefixes.tsx'), 'Prefixes'),
  }),
  page({
    path: '/prefixes/$id',
    search: parameters<NoSearch>()(),
    component: lazyRouteComponent(() => import('./prefixes/prefix.tsx'), 'PrefixPage'),
  }),
  page({
    path: '/asns',
    label: 'ASNs',
    icon: IconId,
    group: 'routing',
    key: 'n',
    module: 'ipam',
    grant: 'ipam.see',
    search: parameters<QueryOf<typeof listAsnsRoute>>()('asn', 'verified', 'ordering'),
    component: lazyRouteComponent(() => import('./asns/asns.tsx'), 'Asns'),
  }),
  page({
    path: '/asns/$asn',
    module: 'ipam',
    grant: 'ipam.see',
    // The prefix to continue with once the ASN is verified.
    search: parameters<{ cidr: string }>()('cidr'),
    component: lazyRouteComponent(() => import('./asns/asn.tsx'), 'AsnPage'),
  }),
  page({
    path: '/traffic',
    label: 'Explorer',
    icon: IconChartAreaLine,
    group: 'traffic',
    isOnBar: true,
    barLabel: 'Traffic',
    key: 'x',
    keywords: ['traffic', 'flows', 'netflow', 'sflow', 'ipfix', 'top talkers', 'sankey'],
    module: 'lighthouse',
    grant: 'lighthouse.see',
    search: parameters<ViewAddress>()(
      'chart',
      'metric',
      'direction',
      'by',
      'top',
      'rank',
      'compare',
      'filter',
    ),
    component: lazyRouteComponent(() => import('./traffic/explorer.tsx'), 'Explorer'),
  }),
  page({
    path: '/reports',
    label: 'Reports',
    icon: IconReport,
    group: 'traffic',
    keywords: ['month', 'pdf', 'print', '95th percentile', 'summary'],
    module: 'lighthouse',
    grant: 'report.see',
    search: parameters<{ month: string }>()('month'),
    component: lazyRouteComponent(() => import('./reports/report.tsx'), 'Report'),
  }),
  page({
    path: '/events',
    label: 'Attacks',
    icon: IconShieldBolt,
    group: 'security',
    isOnBar: true,
    count: 'attacks',
    key: 'e',
    keywords: ['event', 'incident', 'ddos', 'security'],
    module: 'lighthouse',
    grant: 'lighthouse.see',
    search: parameters<QueryOf<typeof listIncidentsRoute>>()(
      'flag',
      'status',
      'classification_key',
      'source_key',
      'start',
      'end',
      'ongoing',
      'false_positive',
      'min_bps',
      'min_pps',
      'affected_network',
      'search',
      'ordering',
    ),
    component: lazyRouteComponent(() => import('./events/events.tsx'), 'Events'),
  }),
  page({
    path: '/events/$id',
    module: 'lighthouse',
    grant: 'lighthouse.see',
    component: lazyRouteComponent(() => import('./events/event.tsx'), 'EventPage'),
  }),
  page({
    path: '/shield',
    label: 'Shield rules',
    icon: IconShieldCheck,
    group: 'security',
    key: 's',
    keywords: ['firewall', 'filter', 'flowspec', 'scrubbing', 'block', 'drop', 'rate limit'],
    module: 'shield',
    grant: 'shield.see',
    search: parameters<QueryOf<typeof listShieldListsRoute>>()('prefix'),
    component: lazyRouteComponent(() => import('./shield/lists.tsx'), 'ShieldLists'),
  }),
  page({
    path: '/shield/rules',
    module: 'shield',
    grant: 'shield.see',
    search: parameters<{ prefix: string }>()('prefix'),
    component: lazyRouteComponent(() => import('./shield/rules.tsx'), 'ShieldRules'),
  }),
  page({
    path: '/devices',
    label: 'Devices',
    icon: IconServer,
    group: 'inventory',
    key: 'd',
    module: 'inventory',
    grant: 'inventory.see',
    keywords: ['router', 'switch', 'inventory'],
    search: parameters<QueryOf<typeof listDevicesRoute>>()(
      'search',
      'location',
      'role',
      'vendor',
      'status',
      'tag',
      'ordering',
    ),
    component: lazyRouteComponent(() => import('./inventory/devices.tsx'), 'Devices'),
  }),
  page({
    path: '/devices/$id',
    module: 'inventory',
    grant: 'inventory.see',
    search: parameters<NoSearch>()(),
    component: lazyRouteComponent(() => import('./inventory/device.tsx'), 'DevicePage'),
  }),
  page({
    path: '/ports',
    label: 'Ports',
    icon: IconPlug,
    group: 'inventory',
    module: 'inventory',
    grant: 'inventory.see',
    keywords: ['circuit', 'interface', 'optics', 'usage'],
    search: parameters<QueryOf<typeof listPortsRoute>>()(
      'search',
      'oper_status',
      'admin_status',
      'location',
      'ordering',
    ),
    component: lazyRouteComponent(() => import('./inventory/ports.tsx'), 'Ports'),
  }),
  page({
    path: '/ports/$id',
    module: 'inventory',
    grant: 'inventory.see',
    search: parameters<NoSearch>()(),
    component: lazyRouteComponent(() => import('./inventory/port.tsx'), 'PortPage'),
  }),
  page({
    path: '/services',
    label: 'Services',
    icon: IconContract,
    group: 'inventory',
    keywords: ['contract', 'transit', 'billing'],
    search: parameters<QueryOf<typeof listServicesRoute>>()('search', 'type', 'state', 'ordering'),
    component: lazyRouteComponent(() => import('./inventory/services.tsx'), 'Services'),
  }),
  page({
    path: '/services/$id',
    component: lazyRouteComponent(() => import('./inventory/service.tsx'), 'ServicePage'),
  }),
  page({
    path: '/cross-connects',
    label: 'Cross connects',
    icon: IconPlugConnected,
    group: 'inventory',
    module: 'inventory',
    grant: 'inventory.see',
    keywords: ['cable', 'loa', 'letter', 'panel'],
    search: parameters<QueryOf<typeof listCrossConnectsRoute>>()('search', 'status', 'ordering'),
    component: lazyRouteComponent(() => import('./inventory/cross-connects.tsx'), 'CrossConnects'),
  }),
  page({
    path: '/cross-connects/$id',
    module: 'inventory',
    grant: 'inventory.see',
    component: lazyRouteComponent(() => import('./inventory/cross-connect.tsx'), 'CrossConnectPage'),
  }),
  page({
    path: '/zones',
    label: 'Zones',
    icon: IconWorld,
    group: 'dns',
    key: 'z',
    keywords: ['dns', 'domain', 'records', 'dnssec', 'name servers'],
    module: 'dns',
    grant: 'dns.see',
    search: parameters<QueryOf<typeof listZonesRoute>>()(
      'search',
      'status',
      'dnssec',
      'reverse',
      'kind',
      'deleted',
    ),
    component: lazyRouteComponent(() => import('./zones/zones.tsx'), 'Zones'),
  }),
  page({
    path: '/zones/new',
    label: 'Create zone',
    keywords: ['dns', 'domain', 'new', 'add', 'secondary'],
    module: 'dns',
    grant: 'dns.manage',
    component: lazyRouteComponent(() => import('./zones/new-zone.tsx'), 'NewZone'),
  }),
  page({
    path: '/zones/import',
    label: 'Import zone file',
    keywords: ['dns', 'domain', 'bind', 'axfr'],
    module: 'dns',
    grant: 'dns.manage',
    component: lazyRouteComponent(() => import('./zones/import.tsx'), 'ImportPage'),
  }),
  page({
    path: '/zones/$id',
    module: 'dns',
    grant: 'dns.see',
    search: parameters<{ tab: ZoneTab; find: string; type: string }>()('tab', 'find', 'type'),
    component: lazyRouteComponent(() => import('./zones/zone.tsx'), 'ZonePage'),
  }),
  page({
    path: '/reverse',
    label: 'Reverse DNS',
    icon: IconWorldSearch,
    group: 'dns',
    key: 'v',
    keywords: ['ptr', 'rdns', 'in-addr', 'names of addresses'],
    module: 'dns',
    grant: 'dns.see',
    search: parameters<{ network: string; tab: 'templates' }>()('network', 'tab'),
    component: lazyRouteComponent(() => import('./reverse/reverse.tsx'), 'Reverse'),
  }),
  page({
    path: '/team',
    label: 'Team',
    icon: IconUsers,
    group: 'account',
    key: 't',
    redirectTo: '/team/members',
  }),
  page({
    path: '/team/members',
    label: 'Members',
    tabOf: '/team',
    search: parameters<QueryOf<typeof listMembersRoute>>()('email', 'status', 'is_admin', 'ordering'),
    component: lazyRouteComponent(() => import('./team/members.tsx'), 'Members'),
  }),
  page({
    path: '/team/settings',
    label: 'Settings',
    tabOf: '/team',
    component: lazyRouteComponent(() => import('./team/settings.tsx'), 'TeamSettings'),
  }),
  page({
    path: '/team/domains',
    label: 'Domains',
    tabOf: '/team',
    component: lazyRouteComponent(() => import('./team/domains.tsx'), 'Domains'),
  }),
  page({
    path: '/team/sign-in',
    grant: 'team.manage',
    label: 'Sign-in',
    tabOf: '/team',
    keywords: [
      'sso',
      'single sign-on',
      'oidc',
      'saml',
      'identity provider',
      'okta',
      'entra',
      'scim',
      'provisioning',
      'sign out',
    ],
    component: lazyRouteComponent(() => import('./team/sign-in.tsx'), 'TeamSignIn'),
  }),
  page({
    path: '/team/tokens',
    grant: 'tokens.manage',
    label: 'API tokens',
    tabOf: '/team',
    search: parameters<QueryOf<typeof listTokensRoute>>()('name', 'active', 'service_account_id', 'ordering'),
    component: lazyRouteComponent(() => import('./team/tokens.tsx'), 'Tokens'),
  }),
  page({
    path: '/team/tokens/new',
    grant: 'tokens.manage',
    component: lazyRouteComponent(() => import('./team/new-token.tsx'), 'NewToken'),
  }),
  page({
    path: '/team/service-accounts',
    grant: 'tokens.manage',
    label: 'Service accounts',
    tabOf: '/team',
    keywords: ['robot', 'program', 'machine'],
    search: parameters<QueryOf<typeof listServiceAccountsRoute>>()('ordering'),
    component: lazyRouteComponent(() => import('./team/service-accounts.tsx'), 'ServiceAccounts'),
  }),
  page({
    path: '/team/access',
    grant: 'team.manage',
    label: 'Access review',
    tabOf: '/team',
    keywords: ['review', 'audit', 'unused', 'rights', 'who'],
    search: parameters<QueryOf<typeof listTeamAccessRoute>>()('ordering', 'kind', 'unused_days'),
    component: lazyRouteComponent(() => import('./team/access.tsx'), 'AccessReview'),
  }),
  page({
    path: '/team/tsig-keys',
    module: 'dns',
    grant: 'dns.see',
    label: 'TSIG keys',
    tabOf: '/team',
    keywords: ['nsupdate', 'axfr', 'transfer', 'rfc2136'],
    search: parameters<QueryOf<typeof listTsigKeysRoute>>()('ordering'),
    component: lazyRouteComponent(() => import('./team/tsig-keys.tsx'), 'TsigKeys'),
  }),
  page({
    path: '/team/webhooks',
    label: 'Webhooks',
    tabOf: '/team',
    search: parameters<QueryOf<typeof listWebhooksRoute>>()('enabled', 'ordering'),
    component: lazyRouteComponent(() => import('./team/webhooks.tsx'), 'Webhooks'),
  }),
  page({
    path: '/team/webhooks/$id',
    search: parameters<QueryOf<typeof listWebhookDeliveriesRoute> & { delivery: number }>()(
      'state',
      'type',
      'delivery',
    ),
    component: lazyRouteComponent(() => import('./team/webhook.tsx'), 'WebhookPage'),
  }),
  page({
    path: '/team/audit',
    grant: 'audit.see',
    label: 'Audit log',
    tabOf: '/team',
    search: parameters<QueryOf<typeof listAuditEntriesRoute>>()(
      'actor',
      'action',
      'target',
      'request_id',
      'address',
      'start',
      'end',
      'ordering',
    ),
    component: lazyRouteComponent(() => import('./team/audit.tsx'), 'Audit'),
  }),
  page({
    path: '/profile',
    label: 'Profile',
    icon: IconUser,
    group: 'account',
    key: 'p',
    keywords: ['password', 'two-factor', 'time zone'],
    component: lazyRouteComponent(() => import('./profile/profile.tsx'), 'Profile'),
  }),
  page({
    path: '/profile/notifications',
    label: 'Notification settings',
    group: 'account',
    keywords: ['mail', 'e-mail', 'digest', 'thresholds'],
    component: lazyRouteComponent(
      () => import('./profile/notification-settings.tsx'),
      'NotificationSettingsPage',
    ),
  }),
  page({
    path: '/notifications',
    label: 'Notifications',
    group: 'account',
    keywords: ['bell', 'unread'],
    search: parameters<QueryOf<typeof listNotificationsRoute>>()('unread'),
    component: lazyRouteComponent(() => import('./notifications/notifications.tsx'), 'Notifications'),
  }),
  page({
    path: '/staff',
    label: 'Provider overview',
    icon: IconGauge,
    group: 'provider',
    isOnBar: true,
    barLabel: 'Overview',
    key: 'h',
    keywords: ['status', 'health', 'home', 'problems'],
    staffGrant: 'operator.see',
    component: lazyRouteComponent(() => import('./staff/overview.tsx'), 'StaffOverview'),
  }),
  page({
    path: '/staff/inbox',
    label: 'Inbox',
    icon: IconInbox,
    group: 'provider',
    isOnBar: true,
    count: 'inbox',
    key: 'i',
    keywords: ['approve', 'decide', 'requests', 'staff'],
    staffGrant: 'operator.see',
    search: parameters<{ show: string; state: 'decided' }>()('show', 'state'),
    component: lazyRouteComponent(() => import('./staff/inbox.tsx'), 'InboxPage'),
  }),
  page({
    path: '/staff/attacks',
    label: 'Attacks on customers',
    icon: IconShieldBolt,
    group: 'provider',
    isOnBar: true,
    barLabel: 'Attacks',
    keywords: ['incidents', 'ddos', 'events'],
    staffGrant: 'operator.see',
    search: parameters<QueryOf<typeof listStaffIncidentsRoute> & { show: string }>()(
      'ongoing',
      'start',
      'end',
      'ordering',
      'show',
    ),
    component: lazyRouteComponent(() => import('./staff/attacks.tsx'), 'StaffAttacks'),
  }),
  page({
    path: '/staff/customers',
    label: 'Customers',
    icon: IconBuilding,
    group: 'customers',
    isOnBar: true,
    key: 'c',
    keywords: ['teams', 'suspend', 'switch'],
    staffGrant: 'customers.see',
    search: parameters<QueryOf<typeof listCustomersRoute>>()('search', 'ordering'),
    component: lazyRouteComponent(() => import('./staff/customers.tsx'), 'Customers'),
  }),
  page({
    path: '/staff/customers/new',
    label: 'Create customer',
    keywords: ['team', 'new', 'add', 'prefix', 'port', 'invite'],
    staffGrant: 'platform.manage',
    component: lazyRouteComponent(() => import('./platform/new-customer.tsx'), 'NewCustomerPage'),
  }),
  page({
    path: '/staff/customers/$id',
    staffGrant: 'customers.see',
    search: parameters<QueryOf<typeof listAnnouncementsOfTeamRoute>>()('cidr', 'status', 'ordering'),
    component: lazyRouteComponent(() => import('./staff/customer.tsx'), 'CustomerPage'),
  }),
  page({
    path: '/staff/cross-connects',
    label: 'Cross connects',
    icon: IconPlugConnected,
    group: 'customers',
    keywords: ['cable', 'loa', 'letter'],
    staffGrant: 'customers.see',
    search: parameters<QueryOf<typeof listStaffCrossConnectsRoute>>()(
      'search',
      'status',
      'waits_for',
      'ordering',
    ),
    component: lazyRouteComponent(() => import('./staff/cross-connects.tsx'), 'StaffCrossConnects'),
  }),
  page({
    path: '/staff/bills',
    label: 'Bills',
    icon: IconReceipt,
    group: 'customers',
    keywords: ['invoice', 'credit note', 'money', '95th percentile'],
    staffGrant: 'operator.see',
    search: parameters<QueryOf<typeof listStaffBillsRoute> & { show: string }>()(
      'period',
      'current',
      'needs_decision',
      'ordering',
      'show',
    ),
    component: lazyRouteComponent(() => import('./staff/bills.tsx'), 'StaffBills'),
  }),
  page({
    path: '/staff/users',
    label: 'Users',
    icon: IconUsers,
    group: 'customers',
    keywords: ['accounts', 'people', 'second factor'],
    staffGrant: 'operator.see',
    search: parameters<QueryOf<typeof listUsersRoute>>()(
      'search',
      'team_id',
      'is_staff',
      'has_second_factor',
      'ordering',
    ),
    component: lazyRouteComponent(() => import('./staff/users.tsx'), 'Users'),
  }),
  page({
    path: '/staff/audit',
    label: 'Audit of all customers',
    icon: IconHistory,
    group: 'customers',
    keywords: ['changes', 'log', 'who'],
    staffGrant: 'operator.see',
    search: parameters<QueryOf<typeof listStaffAuditEntriesRoute>>()(
      'team_id',
      'actor',
      'action',
      'target',
      'request_id',
      'address',
      'start',
      'end',
      'ordering',
    ),
    component: lazyRouteComponent(() => import('./staff/audit.tsx'), 'StaffAudit'),
  }),
  page({
    path: '/staff/accesses',
    label: 'Staff access',
    icon: IconUserShield,
    group: 'customers',
    keywords: ['reason', 'ticket', 'entered', 'review'],
    staffGrant: 'staff.see',
    search: parameters<QueryOf<typeof listStaffAccessesRoute>>()('open', 'team_id', 'user_id', 'ordering'),
    component: lazyRouteComponent(() => import('./staff/accesses.tsx'), 'StaffAccesses'),
  }),
  page({
    path: '/staff/access-review',
    label: 'Access review',
    icon: IconListCheck,
    group: 'customers',
    keywords: ['rights', 'roles', 'auditors', 'unused', 'staff'],
    staffGrant: 'staff.see',
    search: parameters<QueryOf<typeof listAccessRoute>>()('kind', 'team_id', 'unused_days', 'ordering'),
    component: lazyRouteComponent(() => import('./staff/access-review.tsx'), 'AccessReviewOfAll'),
  }),
  page({
    path: '/staff/regions',
    label: 'Regions',
    icon: IconRouter,
    group: 'network',
    key: 'r',
    keywords: ['routers', 'drain', 'bgp'],
    staffGrant: 'operator.see',
    component: lazyRouteComponent(() => import('./staff/regions.tsx'), 'Regions'),
  }),
  page({
    path: '/staff/devices',
    label: 'Devices',
    icon: IconServer,
    group: 'network',
    keywords: ['router', 'switch', 'snmp', 'poll'],
    staffGrant: 'operator.see',
    search: parameters<QueryOf<typeof listStaffDevicesRoute>>()('search', 'status', 'error', 'ordering'),
    component: lazyRouteComponent(() => import('./staff/devices.tsx'), 'StaffDevices'),
  }),
  page({
    path: '/staff/name-servers',
    label: 'Name servers',
    icon: IconWorld,
    group: 'network',
    keywords: ['dns', 'serial', 'behind'],
    staffGrant: 'operator.see',
    search: parameters<QueryOf<typeof listNameServersRoute>>()('search', 'state', 'ordering'),
    component: lazyRouteComponent(() => import('./staff/name-servers.tsx'), 'NameServers'),
  }),
  page({
    path: '/staff/scrubbers',
    label: 'Scrubbers',
    icon: IconFilter,
    group: 'network',
    keywords: ['shield', 'flowspec', 'mitigation'],
    staffGrant: 'operator.see',
    search: parameters<QueryOf<typeof listScrubbersRoute>>()('search', 'state', 'ordering'),
    component: lazyRouteComponent(() => import('./staff/scrubbers.tsx'), 'Scrubbers'),
  }),
  page({
    path: '/staff/exporters',
    label: 'Flow exporters',
    icon: IconActivity,
    group: 'network',
    keywords: ['netflow', 'sflow', 'ipfix', 'sampling'],
    staffGrant: 'operator.see',
    search: parameters<QueryOf<typeof listExportersRoute>>()('search', 'state', 'ordering'),
    component: lazyRouteComponent(() => import('./staff/exporters.tsx'), 'Exporters'),
  }),
  page({
    path: '/staff/registries',
    label: 'Registries',
    icon: IconDatabase,
    group: 'network',
    keywords: ['rpki', 'irr', 'roa', 'whois'],
    staffGrant: 'operator.see',
    component: lazyRouteComponent(() => import('./staff/registries.tsx'), 'Registries'),
  }),
  page({
    path: '/staff/detectors',
    label: 'Detectors',
    icon: IconRadar,
    group: 'network',
    key: 'f',
    keywords: ['sources', 'deliveries', 'ingest'],
    staffGrant: 'operator.see',
    search: parameters<QueryOf<typeof listDeliveriesRoute> & { delivery: number }>()(
      'source_key',
      'state',
      'ordering',
      'delivery',
    ),
    component: lazyRouteComponent(() => import('./staff/detectors.tsx'), 'Detectors'),
  }),
  page({
    path: '/staff/processes',
    label: 'Processes',
    icon: IconCpu,
    group: 'system',
    keywords: ['versions', 'releases', 'loops', 'status'],
    staffGrant: 'operator.see',
    search: parameters<QueryOf<typeof listProcessesRoute>>()('role', 'running', 'version', 'ordering'),
    component: lazyRouteComponent(() => import('./staff/processes.tsx'), 'Processes'),
  }),
  page({
    path: '/staff/mails',
    label: 'Mails',
    icon: IconMail,
    group: 'system',
    keywords: ['e-mail', 'queue', 'smtp'],
    staffGrant: 'operator.see',
    search: parameters<QueryOf<typeof listMailsRoute>>()('search', 'state', 'kind', 'team_id', 'ordering'),
    component: lazyRouteComponent(() => import('./staff/mails.tsx'), 'Mails'),
  }),
  page({
    path: '/staff/platform',
    label: 'Platform',
    icon: IconStack2,
    group: 'system',
    keywords: [
      'create',
      'edit',
      'add',
      'prefix',
      'asn',
      'service',
      'port',
      'location',
      'file',
      'configuration',
    ],
    staffGrant: 'operator.see',
    component: lazyRouteComponent(() => import('./platform/kinds.tsx'), 'PlatformKinds'),
  }),
  page({
    path: '/staff/platform/$section',
    staffGrant: 'operator.see',
    search: parameters<QueryOf<typeof listPlatformElementsRoute>>()('search', 'managed_by', 'ordering'),
    component: lazyRouteComponent(() => import('./platform/elements.tsx'), 'PlatformElements'),
  }),
  page({
    path: '/staff/setup',
    label: 'Set up',
    keywords: ['first', 'wizard', 'install', 'router', 'detector', 'device', 'logo'],
    staffGrant: 'platform.manage',
    search: parameters<{ step: string }>()('step'),
    component: lazyRouteComponent(() => import('./setup/wizard.tsx'), 'Setup'),
  }),
  page({
    path: '/staff/restore',
    label: 'Restore',
    keywords: ['backup', 'restored', 'database'],
    staffGrant: 'operator.see',
    component: lazyRouteComponent(() => import('./staff/restore.tsx'), 'RestorePage'),
  }),
  page({
    path: '/staff/letters',
    label: 'Letters of authorization',
    group: 'customers',
    key: 'l',
    keywords: ['loa', 'review'],
    staffGrant: 'operator.see',
    search: parameters<{ status: 'all' }>()('status'),
    component: lazyRouteComponent(() => import('./staff/letters.tsx'), 'Letters'),
  }),
  page({
    path: '/staff/letters/$id',
    staffGrant: 'operator.see',
    component: lazyRouteComponent(() => import('./staff/letter.tsx'), 'LetterPage'),
  }),
] as const

/** Pages without the frame, open to anyone. */
export const guestPages = [
  page({
    path: '/setup',
    component: lazyRouteComponent(() => import('./setup/first-account.tsx'), 'FirstAccountPage'),
  }),
  page({
    path: '/sign-in',
    search: (search: { readonly to?: string } & SearchSchemaInput): { readonly to?: string } => {
      const { to } = search
      // A path of the portal only: no other site, and not this page again.
      return typeof to === 'string' && /^\/(?![/\\]|sign-in)/.test(to) ? { to } : {}
    },
    component: lazyRouteComponent(() => import('./session/sign-in.tsx'), 'SignIn'),
  }),
  page({
    path: '/sign-in/return/$provider',
    component: lazyRouteComponent(() => import('./session/sign-in-return.tsx'), 'SignInReturn'),
  }),
  page({
    path: '/link-account',
    component: lazyRouteComponent(() => import('./session/link-account.tsx'), 'LinkAccount'),
  }),
  page({
    path: '/confirm-email',
    component: lazyRouteComponent(() => import('./session/confirm-email.tsx'), 'ConfirmEmail'),
  }),
  page({
    path: '/reset-password',
    component: lazyRouteComponent(() => import('./session/reset-password.tsx'), 'ResetPassword'),
  }),
  page({
    path: '/invitation',
    component: lazyRouteComponent(() => import('./session/invitation.tsx'), 'InvitationPage'),
  }),
] as const

export type AnyPage = Page<string, never, unknown>
const all: readonly AnyPage[] = pages

/** Reports whether the user's team and roles open the page. */
const isOpenTo = ({ module, staffGrant, grant }: AnyPage, user: User, may: May): boolean =>
  (module === undefined || user.enabled_modules.includes(module)) &&
  (staffGrant === undefined || may(staffGrant)) &&
  (grant === undefined || may(grant))

/** Returns the labelled pages that the user may open, in the order of the table. */
export const pagesOf = (user: User, may: May): readonly (AnyPage & { readonly label: string })[] =>
  all.filter((one) => hasLabel(one)).filter((one) => isOpenTo(one, user, may))

const hasLabel = (one: AnyPage): one is AnyPage & { readonly label: string } => one.label !== undefined

/** Returns the page of an address: the entry whose path matches segment by segment. */
export const pageAt = (path: string): AnyPage | undefined => {
  const given = segmentsOf(path)
  const matches = (one: AnyPage) => {
    const segments = segmentsOf(one.path)
    return (
      segments.length === given.length && segments.every((part, at) => part[0] === '$' || part === given[at])
    )
  }
  return all.find(matches)
}

const segmentsOf = (path: string): string[] => path.split('/').filter((part) => part !== '')

/** Returns whether the address belongs to the sidebar entry or its tabs, or is below them. The overview of the provider is only itself. */
export const isBelow = ({ path: entry }: AnyPage, path: string): boolean =>
  entry === '/staff' ? path === entry : isAt(entry, path)

/** Reports whether the address is the path or below it. */
export const isAt = (entry: string, path: string): boolean =>
  entry === '/' ? path === '/' : path === entry || path.startsWith(`${entry}/`)

/** `to` is absent for the name of a group, which has no page. */
export type Crumb = { readonly label: string; readonly to?: string }

/**
 * Returns the way to the page at the address, without its own title: the group, and every labelled page above it. The pages of the
 * provider are below its overview, without a group.
 */
export function crumbsOf(path: string): readonly Crumb[] {
  const above = all.filter(
    (one) => hasLabel(one) && one.path !== '/' && one.path !== path && isAt(one.path, path),
  )
  const own = pageAt(path)
  const { group } = above.find((one) => one.group !== undefined) ?? own ?? {}
  const pages = above.map(({ label, path: to }) => ({ label: label!, to }))
  return group === undefined || group === 'account' || isAt('/staff', path)
    ? pages
    : [{ label: groupLabels[group] }, ...pages]
}
