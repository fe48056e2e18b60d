// Sends requests generated from the published OpenAPI document, valid and mutated, to the whole API on a database with
// rows. For all of them: no 5xx except 503; every response as declared for its status; invalid requests are refused;
// refused requests have no effect; valid requests are refused only for the reasons listed here. Validity is decided by
// support/expected-validity.ts. PHAROS_TEST_SEED repeats a run.
import { addAlertRule } from '../src/alert/testing.ts'
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from 'node:zlib'
import { sql } from 'kysely'
import fc, { type Arbitrary } from 'fast-check'
import { flowKeyNames } from '@pharos/contract/flow/flow-key'
import { formatInvitationToken, invitationMac, type InvitationToken } from '../src/team/invitation-token.ts'
import { writeAudit } from '../src/db/audit.ts'
import { sandboxIssuer } from '../src/drivers/sandbox-identity/provider.ts'
import { createTestApi, testPassword, type TestApi } from './api.ts'
import { parseApiToken } from '../src/session/api-token-format.ts'
import {
  createSpareAccounts,
  sparePasskeys,
  spareSessions,
  type SpareAccounts,
} from './support/account-fixtures.ts'
import { addApiToken, openSession } from './support/credentials.ts'
import { metadataOf } from '../src/drivers/saml/testing.ts'
import { addProvider, samlMetadata } from './support/identity.ts'
import { restoreDomains, restoredDomainIds } from './support/domains.ts'
import { draftOf, type Hints } from './support/request-drafts.ts'
import { trackChanges, type Changes } from './support/changes.ts'
import { attachmentIds, crossConnectIds, readDeviceId, restoreInventory } from './support/inventory.ts'
import { restoreLetters } from './support/letters.ts'
import { mutationOf } from './support/request-mutations.ts'
import {
  nonconformityOf,
  documentText,
  readOperations,
  type Answer,
  type Operation,
} from './support/openapi-operations.ts'
import { invalidReasonOf, type Draft } from './support/expected-validity.ts'
import { testSeed } from './support/random.ts'
import { addPendingFactor, addSecondFactor, removeSecondFactors } from './support/second-factor.ts'
import { deliveryIds, restoreWebhooks, webhookIds } from './support/webhooks.ts'
import { addBlackhole } from './support/subjects-blackhole.ts'
import { restoreZones, zoneHints, zoneHintsOf, zoneRules, zonesRestoredAfter } from './support/zones.ts'
import {
  createFixtures,
  replaceOpenApproval,
  replaceOpenRestore,
  replaceUnconfirmedList,
  openRegions,
  restoreRouters,
  type Fixtures,
  type Holder,
} from './support/fixtures.ts'
import { scaled } from '../src/runtime/testing-scale.ts'

const requests = scaled(20_000)

/** Fewer runs for slow operations: signing in hashes a password for 12 ms, signing out needs new credentials each time. */
const shares: Readonly<Record<string, number>> = {
  createSessionToken: 0.4,
  logout: 0.3,
  changePassword: 0.3,
  changeEmail: 0.3,
  deleteSession: 0.3,
  resetPassword: 0.3,
  createTotp: 0.5,
  deleteTotp: 0.5,
  createRecoveryCodes: 0.5,
  createPasskeyOptions: 0.5,
  createPasskey: 0.5,
  deletePasskey: 0.3,
  acceptInvitation: 0.3,
  // Each page is rendered in a thread, which takes 250 ms.
  draftLetter: 0.05,
  downloadMonthlyReport: 0.05,
  getMonthlyReport: 0.3,
  getLetterPageToReview: 0.05,
  updateAnnouncement: 3,
  // Few are accepted: prefix, ASN and region must fit.
  createAnnouncements: 3,
  listRelatedEvents: 2,
  getPortUsage: 2,
  getRelatedEventTraffic: 2,
  getShieldTraffic: 2,
  getFlowTimeseries: 3,
  exportFlowTimeseries: 2,
  getFlowGraph: 2,
  getTransceiverMetrics: 2,
  getDeviceMetrics: 2,
  getBillingSamples: 3,
  updateShieldRules: 3,
  suggestShieldRules: 3,
}

/**
 * A code of an authenticator is valid for a minute, so it cannot be generated in advance, and a passkey signs a challenge: see second-factor.test.ts and
 * passkey.test.ts. An invitation is
 * sent again only some minutes after the first time: see invitations.test.ts. A restore with an item that waits is not closed: see restore.test.ts.
 * An element of the platform follows the rules of its kind: see platform-changes.test.ts, as the first admin of a team without
 * members. The first account exists: see setup.test.ts. An answer of an identity provider and the link of a mail belong to a sign-in: see
 * single-sign-on.test.ts.
 */
const neverSucceeding: readonly string[] = [
  'confirmTotp',
  'createPasskey',
  'resendInvitation',
  'getAttachmentFile',
  'closeRestore',
  'changePlatform',
  'createFirstAccount',
  'inviteFirstAdmin',
  'completeSingleSignOn',
  'linkIdentity',
  'recoverSession',
]

/** The number of requests after which the fixtures are restored, for operations that use them up. */
const restoredAfter: Readonly<Record<string, number>> = {
  logout: 1,
  // After five failures for one account it returns 429.
  createSessionToken: 5,
  changePassword: 1,
  resetPassword: 1,
  deleteSession: 1,
  // A code is accepted once, and ten wrong codes are allowed.
  confirmTotp: 5,
  deleteTotp: 1,
  createRecoveryCodes: 1,
  // Ten wrong codes are allowed.
  recoverSession: 5,
  deletePasskey: 1,
  deleteIdentity: 1,
  createProvider: 2,
  updateProvider: 5,
  deleteProvider: 1,
  approveChanges: 20,
  decideRestore: 5,
  giveUpFormerRouter: 1,
  rejectChanges: 20,
  createAnnouncements: 5,
  deleteAnnouncement: 5,
  uploadLetter: 40,
  acceptLetter: 5,
  rejectLetter: 5,
  addDomain: 5,
  removeDomain: 3,
  // Each domain is queried at most once a minute.
  verifyDomain: 5,
  updateTeam: 5,
  updateMember: 5,
  removeMember: 3,
  acceptInvitation: 5,
  deleteWebhook: 3,
  deleteAttachment: 3,
  deleteToken: 3,
  updateToken: 20,
  closeRestore: 1,
  revertShieldList: 1,
  ...zonesRestoredAfter,
}

const flowRules: readonly RegExp[] = [
  /^body\.(end|interval): range$/,
  /^body\.timezone: unknown$/,
  /^body\.points: conflict$/,
  /^body\.filters: /,
  /^body\.all_teams: exclusive$/,
  /^body\.team_id: unknown$/,
]

/**
 * Requests that the server may refuse although the document allows them: rules that a schema cannot express. Place of the error,
 * and its type.
 */
const semanticRules: Readonly<Record<string, readonly RegExp[]>> = {
  // Not a prefix, or not in canonical form; not a region.
  listAnnouncements: [/^query\.cidr: /, /^query\.region: unknown$/],
  listAnnouncementsOfTeam: [/^query\.cidr: /, /^query\.region: unknown$/],
  // Of any media type, but only captures, JSON and text in UTF-8.
  addEventAttachment: [/^body: unsupported_media_type$/],
  // Roles in only one form.
  updateMember: [/^body\.is_admin: exclusive$/, /^body\.roles: required$/],
  // Neither an address nor a provider, or both.
  startSingleSignOn: [/^body\.email: exclusive$/],
  // Not an https address, or one that companies share; a domain of another team or provider, or a group twice. Of SAML: no metadata, or fields of the other kind.
  createProvider: [/^body\.(issuer|domain_ids|mappings|metadata|metadata_url|sign_on_url|certificates): /],
  updateProvider: [/^body\.(domain_ids|mappings|metadata|metadata_url|sign_on_url|certificates): /],
  // Spaces only.
  search: [/^query\.q: length$/],
  listPrefixes: [/^query\.cidr: /],
  listApprovals: [/^query\.region: unknown$/],
  listFormerRouters: [/^query\.region: unknown$/],
  // Almost a prefix: host bits, an impossible length, IPv4-mapped. Other text is a search term.
  listEvents: [/^query\.affected_network: (host_bits|length_range|mapped)$/, /^query\.end: range$/],
  listRelatedEvents: [/^query\.affected_network: (host_bits|length_range|mapped)$/, /^query\.end: range$/],
  listIncidentsOfAll: [/^query\.end: range$/],
  listIncidents: [/^query\.affected_network: (host_bits|length_range|mapped)$/, /^query\.end: range$/],
  // Two definitions of the buckets, too many of them, not a time zone, or a window too long for the sum of bytes.
  getRelatedEventTimeseries: [
    /^query\.affected_network: (host_bits|length_range|mapped)$/,
    /^query\.(end|interval): range$/,
    /^query\.timezone: unknown$/,
    /^query\.points: conflict$/,
  ],
  getIncidentTimeseries: [
    /^query\.affected_network: (host_bits|length_range|mapped)$/,
    /^query\.(end|interval): range$/,
    /^query\.timezone: unknown$/,
    /^query\.points: conflict$/,
  ],
  getRelatedEventTraffic: [
    /^query\.(end|interval): range$/,
    /^query\.timezone: unknown$/,
    /^query\.points: conflict$/,
  ],
  getShieldTraffic: [
    /^query\.prefix: /,
    /^query\.(end|interval): range$/,
    /^query\.timezone: unknown$/,
    /^query\.points: conflict$/,
  ],
  // Not a prefix of the team, or rules that contradict it or themselves; a window that is too long.
  listShieldRules: [/^query\.prefix: /],
  listShieldLists: [/^query\.prefix: /],
  updateShieldRules: [/^body\.(prefix|rules): /],
  simulateShield: [/^body\.(prefix|rules): /, /^body\.end: range$/],
  // Not one address, not inside an announced prefix of the team, or not a region of it; another event; too long.
  listBlackholes: [/^query\.host: /],
  createBlackhole: [/^body\.(host|event_id|expires|regions): /],
  // Two definitions of the buckets, too many of them, not a time zone, or a filter that the key does not accept.
  suggestShieldRules: [/^body\.rate_bps: not_accepted$/],
  getFlowTimeseries: flowRules,
  exportFlowTimeseries: flowRules,
  getFlowGraph: flowRules,
  getFilterKeys: [/^query\.key: unknown$/, /^query\.prefix: required$/],
  // A month that has not begun.
  getMonthlyReport: [/^path\.month: range$/],
  downloadMonthlyReport: [/^path\.month: range$/],
  // Neither a location nor coordinates, both, or half of them; degrees beyond the poles.
  getTimezone: [/^query\.(location|latitude|longitude): (required|exclusive|range)$/],
  // Two definitions of the buckets, too many of them, or not a time zone.
  getPortUsage: [/^query\.(end|interval): range$/, /^query\.timezone: unknown$/, /^query\.points: conflict$/],
  getTransceiverMetrics: [
    /^query\.(end|interval): range$/,
    /^query\.timezone: unknown$/,
    /^query\.points: conflict$/,
  ],
  // The same, and a metric that the device does not report.
  getDeviceMetrics: [
    /^query\.(end|interval): range$/,
    /^query\.timezone: unknown$/,
    /^query\.points: conflict$/,
    /^query\.metric: not_reported$/,
  ],
  // A port if all are billed as one, or no port if each is billed separately.
  getBillingSamples: [/^query\.port_id: (required|not_accepted)$/],
  // Not a PDF or an image.
  uploadCrossConnectLetter: [/^body\.file: media_type$/],
  // The sections of the platform file, which follow the rules of its kinds.
  applyPlatform: [/^body(\..*)?: /s],
  changePlatform: [/^body(\..*)?: /s],
  // Has passed.
  maintainDevice: [/^body\.until: past$/],
  // Not a team.
  addDeviceAttachment: [/^body\.team_id: unknown$/],
  // Not an address or a network, or not in canonical form.
  listAuditEntries: [/^query\.address: /, /^query\.end: range$/],
  listAuditEntriesOfAll: [/^query\.address: /, /^query\.end: range$/],
  // Rejected by the password policy, which counts the characters of the composed form.
  changePassword: [/^body\.new_password: (length|personal|pattern|common|same)$/],
  resetPassword: [/^body\.new_password: (length|personal|pattern|common)$/],
  changeEmail: [/^body\.email: (same|email)$/],
  // Reserved, and not a documentation ASN of a lab.
  verifyAsn: [/^path\.asn: reserved$/],
  verifyAsnOfTeam: [/^path\.asn: reserved$/],
  // In the past, or a century ahead; not an announcement of the team.
  uploadLetter: [/^body\.valid_until: range$/, /^body\.applies_to: not_found$/],
  draftLetter: [/^query\.applies_to: not_found$/],
  acceptLetter: [/^body\.valid_until: range$/],
  // Not a domain, or a domain that no team can have.
  addDomain: [/^body\.domain: /],
  // Not a code of the second factor, or already used.
  confirmTotp: [/^body\.otp: wrong_code$/],
  deleteTotp: [/^body\.otp: wrong_code$/],
  // Also left out by an account with an authenticator.
  createRecoveryCodes: [/^body\.otp: (wrong_code|required)$/],
  recoverSession: [/^body\.code: wrong_code$/],
  // Fields of a staff access without its reason, and a reason of a member.
  createSessionToken: [/^body\.reason: /],
  // Not the answer of an authenticator to a challenge.
  createPasskey: [/^body\.response: passkey$/],
  // Neither a password nor a passkey, or both; not the answer of an authenticator to a challenge.
  deleteAccount: [/^body\.current_password: required$/, /^body\.passkey: passkey$/],
  // Not an existing address, country or time zone.
  updateTeam: [/^body\.(billing_email|technical_email|abuse_email|country|timezone): unknown$/],
  inviteFirstAdmin: [/^body\.email: email$/],
  addMember: [/^body\.email: email$/, /^body\.is_admin: exclusive$/],
  // For a new account: no password, or a password that the policy rejects.
  acceptInvitation: [/^body\.password: /],
  // Not an address of the public internet.
  // An object that the team does not have; a window that is too long or ends before it starts.
  createAlertRule: [/^body\.condition: unknown$/],
  updateAlertRule: [/^body\.condition: unknown$/],
  tryAlertCondition: [/^body\.(start|end): /],
  createWebhook: [/^body\.url: /],
  updateWebhook: [/^body\.url: /],
  // Not a network; in the past, or a decade ahead. Resources that do not exist or do not fit the scopes; more than the
  // service account or the team allows.
  createToken: [/^body\.(allowed_subnets|expires|is_admin|resources|scopes|service_account_id): /],
  // Neither use is enabled; invalid networks.
  createTsigKey: [/^body\.may_update: required$/, /^body\.(allowed_subnets|expires|resources): /],
  updateToken: [/^body\.(allowed_subnets|expires): /],
  // Of an account with more rights than the token.
  transferToken: [/^body\.service_account_id: widens$/],
  // Not an id of a stream event.
  followStream: [/^header\.Last-Event-ID: pattern$/],
  // Not a region in which the team may announce, no region, or fields that need or exclude each other.
  updateAnnouncement: [/^body\.(region|regions): /, /^body\.enabled: required$/],
  // Not a prefix or ASN that the team may announce, a prefix that it already announces, or not a region.
  createAnnouncements: [
    /^body\.(cidr|announcements): /,
    /^body\.origin_asn: (reserved_asn|asn_not_verified)$/,
    /^body\.regions: unknown$/,
  ],
  ...zoneRules,
}

let api: TestApi
let fixtures: Fixtures
let changesSince: Changes
/** The tables that requests changed since the fixtures were restored; undefined before the first time. */
let changedTables: Set<string> | undefined
let authorizations: Record<string, string | undefined>
let hints: Hints
let spareAccounts: SpareAccounts
let restoreId: number
/** Far from the ids that the database gives. */
const formerRouterId = 900_001
const providerId = 900_002
const identityId = 900_003
const providerKey = 'aaaabbbbcccc'
let shieldListId: number
let blackholeId: number
/** Of red, blue and red. */
const tokenIds: string[] = []
/** Of red: with a role of every token, and with more. */
let serviceAccountIds: readonly number[]

const operations = readOperations()
const total = operations.reduce((sum, { id }) => sum + (shares[id] ?? 1), 0)
const runsOf = ({ id }: Operation): number => Math.ceil((requests * (shares[id] ?? 1)) / total)

before(async () => {
  api = await createTestApi({
    PHAROS_SIGN_IN_LIMIT_PER_MINUTE: '100000',
    PHAROS_API_TOKENS_PER_TEAM: '100000',
  })
  // Ids far from small numbers, which are tried often: the callers stay members of their teams.
  await sql`alter sequence member_ids restart with 700000`.execute(api.database.postgres.owner)
  fixtures = await createFixtures(api, { events: 30 })
  await replaceOpenApproval(api, fixtures.regions['ams']!)
  restoreId = await replaceOpenRestore(api)
  shieldListId = await replaceUnconfirmedList(api, fixtures.red.teamId, revertedPrefix)
  blackholeId = await addBlackhole({ api }, fixtures.red)
  for (const { teamId } of [fixtures.red, fixtures.blue, fixtures.red])
    tokenIds.push(parseApiToken(await addApiToken(api, teamId))!.id)
  serviceAccountIds = await addServiceAccounts()
  changesSince = await trackChanges(api.database.postgres.owner)
  spareAccounts = await createSpareAccounts(api, fixtures)
  hints = await createHints()
})
after(() => api[Symbol.asyncDispose]())

const recoveryCode = 'abcde-fgh27'

/** A member of red, and an invitation with its link, both to be changed and removed. */
const spare = { memberId: 800_001, invitationId: 800_002, email: 'spare@red.example' }
const link: InvitationToken = { id: spare.invitationId, secret: 'A'.repeat(43) }
const guests = Array.from({ length: 300 }, (_, at) => `guest-${at}@elsewhere.example`)

const nextYear = new Date(Date.now() + 300 * 86_400_000).toISOString()

const newPrefixes = ['198.51.100.0/24', '2001:db8:77::/48', '2001:db8:78::/48', '2001:db8:79::/48']
const oddPrefixes = [
  '203.0.113.0/24',
  '203.0.113.7',
  '::/0',
  '0.0.0.0/0',
  '2001:db8::/32',
  '203.0.113.1/24',
  'any',
]

/** The last rule belongs to the second team. */
const alertRuleIds = [900_001, 900_002, 900_003] as const

async function restoreAlertRules(red: Holder, blue: Holder): Promise<void> {
  const { owner } = api.database.postgres
  await owner.deleteFrom('alert_rules').execute()
  for (const id of alertRuleIds) {
    const { teamId, portId } = id === alertRuleIds.at(-1) ? blue : red
    await addAlertRule(owner, teamId, { id, portId, isFiring: true })
  }
}

const conditionsOn = (red: Holder, blue: Holder) => [
  ...[red.portId, red.portId, blue.portId].map((port_id) => ({
    kind: 'port_utilisation',
    port_id,
    direction: 'in',
    above_percent: 80,
    for_minutes: 15,
  })),
  { kind: 'light_margin', port_id: red.portId, below_db: 2, for_minutes: 15 },
  { kind: 'commit', service_id: red.serviceId, port_id: null, measure: 'forecast', above_percent: 100 },
  { kind: 'visibility', announcement_id: red.announcements.on, heard_below_percent: 50, for_minutes: 15 },
]

const webhookUrls = ['https://hooks.example.net/pharos', 'https://hooks.example.org:8443/a?b=c']

async function addServiceAccounts(): Promise<number[]> {
  const rows = await api.database.postgres.owner
    .insertInto('service_accounts')
    .values([
      { team_id: fixtures.red.teamId, name: 'reading robot', roles: ['reader'] },
      { team_id: fixtures.red.teamId, name: 'ruling robot', roles: ['admin'] },
    ])
    .returning('id')
    .execute()
  return rows.map(({ id }) => id)
}

async function createHints(): Promise<Hints> {
  const { red, blue, people } = fixtures
  const { owner } = api.database.postgres
  const sessions = [
    await openSession(api, people.member.userId, red.teamId),
    await openSession(api, people.blue.userId, blue.teamId),
  ]
  const approvals = await owner.selectFrom('approvals').select('id').execute()
  for (const { teamId } of [red, red, blue])
    await writeAudit(owner, { teamId, actor: 'operator', action: 'test.write', target: 'test:1' })
  const entries = await owner
    .selectFrom('audit_entries')
    .select('id')
    .where('team_id', '=', red.teamId)
    .execute()
  return {
    announcement_id: [
      ...Object.values(red.announcements),
      red.announcements.off,
      blue.announcements.off,
      999_999,
    ],
    region: [...openRegions, 'closed', 'nowhere', 'AMS'],
    regions: [...openRegions, ...openRegions, ...openRegions, 'nowhere'],
    cidr: [...newPrefixes, ...oddPrefixes],
    affected_network: ['203.0.113.0/24', '203.0.113.7', '203.0', '::/0', '203.0.113.1/24', '%', '1/33'],
    description: ['UDP', '%', '_', '\\'],
    origin_asn: [...Array.from({ length: 8 }, () => red.asn), 64496, 4294967295],
    asn: [red.asn, red.asn, blue.asn, 3333, 64512, 23456],
    audit_id: [...entries.map(({ id }) => id), 999_999],
    action: ['test.write', 'test.*', 'announcement.*', 'nothing'],
    actor: ['operator', 'staff', `user:${people.admin.userId}`],
    address: ['127.0.0.1', '::/0', '192.0.2.0/24'],
    event_id: [red.eventIds[0], red.eventIds[1], blue.eventIds[0], 'nothing'],
    incident_id: [red.eventIds[0], red.eventIds[1], blue.eventIds[0], 'nothing'],
    blackhole_id: [blackholeId, blackholeId, 999_999],
    prefix_id: [red.prefixId, red.prefixId, blue.prefixId, 999_999],
    service_account_id: [...serviceAccountIds, serviceAccountIds[0], 999_999],
    service_id: [red.serviceId, red.serviceId, blue.serviceId, 999_999],
    device_id: [red.deviceId, red.deviceId, blue.deviceId, 999_999],
    port_id: [red.portId, red.portId, blue.portId, 999_999],
    letter_id: [red.letterId, red.letterId, blue.letterId, 999_999],
    cross_connect_id: [crossConnectIds[0], crossConnectIds[0], 999_999],
    attachment_id: [...attachmentIds, 999_999],
    page: [1, 1, 1, 2],
    applies_to: [red.announcements.on, red.announcements.unvalidated, 999_999],
    valid_until: ['2029-01-31', '2029-01-31T12:00:00+01:00'],
    domain_id: [...restoredDomainIds, 999_999],
    domain: ['acme.example', 'Ums.Example.', 'münchen.example', 'a.b.example', 'co.uk', '192.0.2.1'],
    approval_id: [...approvals.map(({ id }) => id), 999_999],
    source_key: ['detector', 'detector', 'detector', 'other', 'nothing'],
    token: [fixtures.sources.detector, formatInvitationToken(link)],
    member_id: [spare.memberId, spare.memberId, spare.invitationId, 999_999],
    billing_email: ['billing@red.example', '', 'nobody'],
    technical_email: ['noc@red.example'],
    abuse_email: ['abuse@red.example'],
    country: ['NL', 'DE', '', 'XX'],
    timezone: ['UTC', 'Europe/Amsterdam', 'Europe/Atlantis'],
    token_id: [...tokenIds, tokenIds[0], 'aaaaaaaaaaaa'],
    allowed_subnets: ['192.0.2.0/24', '198.51.100.7', '2001:db8::/32', '192.0.2.1/24'],
    expires: [nextYear, nextYear, '2020-01-01'],
    team_id: [red.teamId, red.teamId, 'current', 'current', blue.teamId, 999_999],
    email: [people.member.email, people.blue.email, 'nobody@nowhere.example'],
    password: [testPassword],
    current_password: [testPassword],
    otp: [recoveryCode, recoveryCode.toUpperCase(), '123456'],
    refresh: [...sessions.map(({ refresh }) => refresh), 'phr_unknown'],
    new_password: ['blue kettle rainy tram', 'seven more of my words', 'Password1234'],
    session_id: [spareSessions[0], spareSessions[0], spareSessions[1]],
    provider_id: [providerId, providerId, 999_999],
    provider: [providerKey, providerKey, 'aaaaaaaaaaaa'],
    identity_id: [identityId, identityId, 999_999],
    issuer: [sandboxIssuer, 'https://login.example.net/realms/acme', 'https://192.0.2.1'],
    entity_id: [samlMetadata.entityId],
    sign_on_url: [samlMetadata.signOnUrl, 'javascript:alert(1)'],
    certificates: [[samlMetadata.certificate]],
    metadata: [metadataOf(samlMetadata.entityId, samlMetadata.signOnUrl, [samlMetadata.certificate]), '<a/>'],
    metadata_url: ['http://10.0.0.1/metadata'],
    passkey_id: [sparePasskeys[0], sparePasskeys[0], sparePasskeys[1]],
    alert_rule_id: [...alertRuleIds, alertRuleIds[0], alertRuleIds[0], 999_999],
    condition: conditionsOn(red, blue),
    webhook_id: [...webhookIds, webhookIds[0], webhookIds[0], 999_999],
    delivery_id: [...deliveryIds, ...deliveryIds, 999_999],
    restore_id: [restoreId, restoreId, 999_999],
    former_router_id: [formerRouterId, formerRouterId, 999_999],
    url: [...webhookUrls, ...webhookUrls, 'https://[::1]/', 'http://hooks.example.net/', 'any'],
    ...zoneHints,
    limit: [1, 2, 1000],
    offset: [0, 1, 29, 30, 999_999_999_999_999],
  }
}

const router: Hints = { slug: ['lon', 'lon', 'lon', 'nowhere'], name: ['r1', 'r1', 'r1', 'r2', 'nothing'] }

/** For operations that need other values for the same names. */
const ownHints = (id: string): Hints => ownHintsOf()[id] ?? {}

/** A window and buckets that fit. */
const oneDay: Hints = {
  start: ['2026-03-01T00:00:00Z'],
  end: ['2026-03-02T00:00:00Z'],
  interval: [3_600],
}

/** Filters that fit are rare otherwise: the key decides about the operator and the value. */
const flowHints: Hints = {
  ...oneDay,
  key: ['protocol'],
  op: ['eq', 'ne'],
  value: ['udp', '17', 6],
}

/** Of the team red: no other request uses it. */
const revertedPrefix = '203.0.113.64/26'

/** Fields of a list of the team red. */
const shieldHints: Hints = {
  prefix: ['203.0.113.0/24', '203.0.113.0/24', '203.0.113.128/25', '198.51.100.0/24', '203.0.113.1/24'],
  protocol: ['udp', 'udp', 'tcp', 'any'],
  source: ['192.0.2.0/24', '192.0.2.7', '2001:db8::/32'],
  destination: ['203.0.113.200', '198.51.100.7'],
  source_port: ['53', '53,123', '70000'],
  force: [true],
}

const ownHintsOf = (): Readonly<Record<string, Hints>> => ({
  addMember: { email: guests },
  listPlatformElements: { section: ['locations', 'devices', 'users'] },
  changeEmail: { email: guests },
  // Otherwise the caller is gone: personal-data.test.ts deletes accounts.
  deleteAccount: { current_password: ['not this one'], dry_run: ['true'] },
  confirmEmail: { token: [spareAccounts.confirmToken] },
  resetPassword: { token: [spareAccounts.resetToken] },
  pollDevice: { device_id: [readDeviceId, readDeviceId, 999_999] },
  uploadCrossConnectLetter: { cross_connect_id: [crossConnectIds[1], crossConnectIds[1], 999_999] },
  moveCrossConnect: {
    cross_connect_id: [crossConnectIds[0], crossConnectIds[0], 999_999],
    status: ['awaiting_loa', 'awaiting_loa', 'connected'],
  },
  getPortUsage: oneDay,
  getRelatedEventTraffic: oneDay,
  getFlowTimeseries: { ...flowHints, team_id: [fixtures.red.teamId] },
  exportFlowTimeseries: { ...flowHints, team_id: [fixtures.red.teamId] },
  getFlowGraph: { ...flowHints, team_id: [fixtures.red.teamId] },
  getMonthlyReport: { month: ['2026-03', '2025-12', '2099-01'] },
  downloadMonthlyReport: { month: ['2026-03', '2099-01'] },
  getFilterKeys: { key: [...flowKeyNames, 'flag', 'nothing'], prefix: ['', '1', 'A'] },
  getTimezone: { location: ['ams', 'JFK', 'nowhere'], latitude: ['52.37', '-90'], longitude: ['4.9', '180'] },
  getTransceiverMetrics: oneDay,
  getDeviceMetrics: oneDay,
  drainRouter: router,
  undrainRouter: router,
  getDelivery: { delivery_id: [fixtures.deliveryId, fixtures.deliveryId, 'no-such-delivery'] },
  getShieldTraffic: { ...shieldHints, ...oneDay },
  listShieldRules: shieldHints,
  listShieldLists: shieldHints,
  updateShieldRules: shieldHints,
  revertShieldList: { list_id: [shieldListId, shieldListId, 999_999] },
  simulateShield: { ...shieldHints, ...oneDay },
  createBlackhole: {
    host: [1, 2, 3].map((at) => `${fixtures.red.marks[1]}::${at}`),
    regions: ['ams'],
    event_id: [fixtures.red.eventIds[0]],
    expires: [new Date(Date.now() + 7_200_000).toISOString()],
    force: [true],
  },
  suggestShieldRules: { action: ['rate_limit'], coverage: [0.5] },
  ...zoneHintsOf,
})

/** Restores the member and the invitation that requests change or remove. */
async function restoreMembers(): Promise<void> {
  const { red, people } = fixtures
  const { owner } = api.database.postgres
  await owner.updateTable('teams').set({ require_2fa: false }).where('id', '=', red.teamId).execute()
  const known = sql`insert into users (email, username, password_hash) values (${spare.email}, 'spare', '-')
    on conflict (lower(email)) do update set username = excluded.username returning id`
  const { id } = (await known.execute(owner)).rows[0] as { id: number }
  await sql`delete from invitations where id = ${spare.invitationId}`.execute(owner)
  await sql`delete from memberships where id in (${spare.memberId}, ${spare.invitationId})`.execute(owner)
  await sql`insert into memberships (id, team_id, user_id, roles) values (${spare.memberId}, ${red.teamId}, ${id}, '{editor}')
    on conflict do nothing`.execute(owner)
  await sql`insert into invitations (id, team_id, email, roles, token_mac, invited_by, inviter, inviter_name, expires)
    values (${spare.invitationId}, ${red.teamId}, 'invited@elsewhere.example', '{editor}',
      ${invitationMac(api.config.secret, link)}, ${people.admin.userId}, ${`user:${people.admin.userId}`}, 'Ann',
      now() + interval '1 day')`.execute(owner)
}

/** Black holes need an announcement that is enabled in a region. */
async function announceAgain(id: number, regionId: number): Promise<void> {
  const { owner } = api.database.postgres
  await sql`update announcements set enabled = true, suspended = false, suspended_by = null, claimed = coalesce(claimed, now())
    where id = ${id}`.execute(owner)
  await sql`insert into announcement_regions (announcement_id, region_id, team_id, configured)
    select id, ${regionId}, team_id, true from announcements where id = ${id}
    on conflict (announcement_id, region_id) do update set configured = true`.execute(owner)
}

async function takeChanges(): Promise<readonly string[]> {
  const changes = await changesSince()
  for (const change of changes) changedTables?.add(change.split(' ')[1]!)
  return changes
}

const isUsed = (tables = /(?:)/): boolean =>
  changedTables === undefined || [...changedTables].some((name) => tables.test(name))

/** An active provider of the team red, with a linked account; the team has at most three. */
async function restoreProvider(): Promise<void> {
  const { owner } = api.database.postgres
  const { red, people } = fixtures
  await sql`delete from identity_providers where key <> ${providerKey}`.execute(owner)
  await addProvider(api, red, { id: providerId, key: providerKey, issuer: sandboxIssuer })
  await sql`
    insert into user_identities (id, provider_id, subject, user_id, email) overriding system value
    values (${identityId}, ${providerId}, 'ann', ${people.admin.userId}, 'ann@sso.example') on conflict do nothing`.execute(
    owner,
  )
}

async function restoreFormerRouter(): Promise<void> {
  await sql`
    insert into former_speakers (id, region_id, name, settings, identity, prefixes) overriding system value
    values (${formerRouterId}, ${fixtures.regions['lon']!}, 'r9', '{"kind": "sandbox"}', 'sandbox former', '{198.18.0.0/24}')
    on conflict (id) do nothing`.execute(api.database.postgres.owner)
}

/** Restores the open approval and the credentials: some operations decide the former and revoke the latter. */
async function restoreFixtures(): Promise<void> {
  const { red, blue, bare, people, sources } = fixtures
  const { owner } = api.database.postgres
  await takeChanges()
  await owner.updateTable('approvals').set({ state: 'open', decided: null }).execute()
  await owner.updateTable('restores').set({ closed: null }).where('id', '=', restoreId).execute()
  await owner
    .updateTable('restore_items')
    .set({ decision: null })
    .where('restore_id', '=', restoreId)
    .execute()
  await restoreFormerRouter()
  await restoreProvider()
  await replaceUnconfirmedList(api, red.teamId, revertedPrefix)
  // Most of the statements.
  if (isUsed(/^dns_/)) await restoreZones(api, fixtures)
  await restoreRouters(api, 'lon', { drained: false })
  await owner.deleteFrom('announcements').where('managed_by', '=', 'team').execute()
  await owner.updateTable('announcements').set({ deleted: null }).execute()
  await owner
    .updateTable('announcements')
    .set({ enabled: false })
    .where('id', '=', red.announcements.off)
    .execute()
  await announceAgain(red.announcements.on, fixtures.regions['ams']!)
  await owner
    .updateTable('announcement_regions')
    .set({ state: 'withdrawn' })
    .where('announcement_id', '=', red.announcements.off)
    .execute()
  await restoreInventory(owner, red)
  await restoreLetters(owner, [red.letterId, blue.letterId])
  if (isUsed(/^alert_/)) await restoreAlertRules(red, blue)
  if (isUsed(/^webhook/)) await restoreWebhooks(api, red.teamId, blue.teamId)
  await owner
    .updateTable('api_tokens')
    .set({ revoked: null, expires: null, service_account_id: null })
    .where('id', 'in', tokenIds)
    .execute()
  await restoreMembers()
  await owner.deleteFrom('sign_in_failures').execute()
  await removeSecondFactors(api)
  for (const { userId } of [people.admin, people.staff]) await addSecondFactor(api, userId, [recoveryCode])
  // The passkeys too.
  await spareAccounts.restore()
  await restoreDomains(owner, red.teamId, blue.teamId)
  for (const { userId } of [people.member, people.blue]) await addPendingFactor(api, userId)
  // Signing out everywhere increases it, which invalidates every access token of these users.
  await api.database.postgres.owner.updateTable('users').set({ session_version: 1 }).execute()
  const bearer = async (userId: number, teamId: number) =>
    `Bearer ${(await openSession(api, userId, teamId)).access}`
  const token = async (scopes: string[]) => `Token ${await addApiToken(api, red.teamId, { scopes })}`
  authorizations = {
    admin: await bearer(people.admin.userId, red.teamId),
    member: await bearer(people.member.userId, red.teamId),
    staff: await bearer(people.staff.userId, red.teamId),
    blue: await bearer(people.blue.userId, blue.teamId),
    bare: await bearer(people.bare.userId, bare.teamId),
    token: await token(['ipam:read', 'ipam:write', 'lighthouse:read', 'team:read', 'dns:read', 'dns:write']),
    reader: await token(['ipam:read']),
    detector: `Token ${sources.detector}`,
    stranger: 'Bearer abc.def.ghi',
    nobody: undefined,
  }
  await changesSince()
  changedTables = new Set()
}

function mainCallers({ id }: Operation): string[] {
  if (id === 'ingestDelivery' || id === 'addEventAttachment') return ['detector']
  if (id === 'deleteSession' || /^(get|update|delete)Passkey$/.test(id)) return ['admin']
  if (/Passkey/.test(id)) return ['admin', 'staff']
  if (/^(change(Password|Email)|listSessions|updateUser)$/.test(id)) return ['admin', 'staff']
  if (id === 'deleteTotp' || id === 'createRecoveryCodes') return ['admin', 'staff']
  if (id === 'createTotp' || id === 'confirmTotp') return ['member', 'blue']
  if (
    /Approval|Changes$|suspend|resume|ToReview|OfAny$|OfAll$|^(accept|reject)Letter|^(getDelivery|listDeliveries|listSources)$/.test(
      id,
    ) ||
    /^(poll|maintain)Device$|^(add|delete).*Attachment$|AttachmentsOfDevice$|^moveCrossConnect$|^(apply|change)Platform$/.test(
      id,
    )
  )
    return ['staff']
  if (/Webhook/.test(id) && !/^(list|get)/.test(id)) return ['admin', 'admin', 'staff']
  if (/AuditEntr/.test(id)) return ['admin', 'staff']
  if (/Tokens?$/.test(id) && !/Session/.test(id)) return ['admin', 'admin', 'staff']
  if (/^(update|remove|add|verify)(Team|Member|Domain)$/.test(id)) return ['admin', 'admin', 'staff']
  if (/^(create|import|delete|restore)Zone$|ZoneSettings|Dnssec/.test(id)) return ['admin']
  return /^(create|delete|restore)Announcement|^uploadLetter/.test(id)
    ? ['admin']
    : ['admin', 'token', 'staff']
}

/** Callers with the most permissions are more frequent: otherwise almost all requests would be refused by authorization. */
const callers = (operation: Operation): Arbitrary<string> =>
  fc.oneof(
    { weight: 8, arbitrary: fc.constantFrom(...mainCallers(operation)) },
    fc.constantFrom('member', 'blue', 'bare', 'reader', 'detector', 'stranger', 'nobody'),
  )

/** Generates valid requests and requests with one or two mutations. */
function mutatedDrafts(operation: Operation): Arbitrary<Draft> {
  const mutations = fc.oneof(
    { weight: 2, arbitrary: fc.constant([]) },
    { weight: 3, arbitrary: fc.array(mutationOf(operation), { minLength: 1, maxLength: 2 }) },
  )
  return fc
    .tuple(draftOf(operation, { ...hints, ...ownHints(operation.id) }), mutations)
    .map(([draft, changes]) => changes.reduce(applied, draft))
}

const validRequests = (operation: Operation): Arbitrary<[Draft, string]> =>
  fc.tuple(
    draftOf(operation, { ...hints, ...ownHints(operation.id) }),
    fc.constantFrom(...mainCallers(operation)),
  )

/** A mutation of a JSON value does not apply to a body that is no longer JSON. */
function applied(draft: Draft, change: (draft: Draft) => Draft): Draft {
  try {
    return { ...change(draft), ...(draft.broken ? { broken: draft.broken } : {}) }
  } catch (error) {
    if (error instanceof SyntaxError) return draft
    throw error
  }
}

const encode = (text: string): string => encodeURIComponent(text.toWellFormed())

function urlOf({ path }: Operation, draft: Draft): string {
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => encode(draft.path[name] ?? ''))
  const pairs = draft.query.map(([name, text]) => (name === 'raw' ? text : `${encode(name)}=${encode(text)}`))
  return pairs.length === 0 ? filled : `${filled}?${pairs.join('&')}`
}

const decompressors: Readonly<Record<string, (bytes: Buffer) => Buffer>> = {
  zstd: zstdDecompressSync,
  br: brotliDecompressSync,
  gzip: gunzipSync,
}

async function send(operation: Operation, draft: Draft, authorization: string | undefined): Promise<Answer> {
  const { statusCode, headers, rawPayload } = await api.server.inject({
    method: operation.method,
    url: urlOf(operation, draft),
    headers: {
      ...draft.headers,
      ...(draft.contentType === undefined ? {} : { 'content-type': draft.contentType }),
      ...(authorization === undefined ? {} : { authorization }),
    },
    ...(draft.body === undefined ? {} : { payload: draft.body }),
  })
  const decompress = decompressors[String(headers['content-encoding'])]
  return { status: statusCode, headers, body: (decompress?.(rawPayload) ?? rawPayload).toString() }
}

type Problem = { code: string; errors?: { loc: (string | number)[]; type: string }[] }

/** Returns why a valid request was refused as invalid, if no rule explains it. */
function unexplained({ id }: Operation, { status, body }: Answer): string | undefined {
  if (![400, 413, 415, 422].includes(status)) return undefined
  const { code, errors = [] } = JSON.parse(body) as Problem
  // The validity of an idempotency key or token is not described by the document.
  if (code === 'idempotency_mismatch' || code === 'invalid_token') return undefined
  const rules = semanticRules[id] ?? []
  // A body that is nested too deeply is refused as a whole, without a place.
  const places =
    errors.length > 0
      ? errors.map(({ loc, type }) => `${loc.slice(0, 2).join('.')}: ${type}`)
      : [`body: ${code}`]
  return places.every((place) => rules.some((rule) => rule.test(place))) ? undefined : body
}

const isDryRun = ({ query }: Draft) => query.some(([name, text]) => name === 'dry_run' && text === 'true')

/** The only reading operation that may store its result. */
const isRefresh = ({ id }: Operation, { query }: Draft) =>
  id === 'verifyAsn' && query.some(([name, text]) => name === 'refresh' && text === 'true')

/** Each export of an account is recorded in the audit log. */
const isRecorded = ({ id }: Operation) => id === 'exportAccount'

/** Reuse of an old refresh token ends the session: an intended change. */
const maySignOut = ({ id }: Operation, { body }: Answer) =>
  id === 'refreshSession' && body.includes('"token_not_valid"')

async function assertAnswer(operation: Operation, draft: Draft, answer: Answer): Promise<void> {
  const { status, body } = answer
  const invalidReason = invalidReasonOf(operation, draft)
  const said = `${status} ${body.slice(0, 600)}`
  assert.equal(nonconformityOf(operation, answer), undefined, said)
  assert.ok(status < 500 || status === 503, said)
  if (invalidReason) assert.ok(status >= 400, `accepted although invalid (${invalidReason}): ${said}`)
  else assert.equal(unexplained(operation, answer), undefined, `refused although valid: ${said}`)
  // Post-response tasks belong to the request.
  await api.settled()
  const changes = await takeChanges()
  const reads = operation.method === 'GET' && !isRefresh(operation, draft) && !isRecorded(operation)
  const mustKeep = status >= 400 || reads || isDryRun(draft)
  if (mustKeep && !maySignOut(operation, answer)) assert.deepEqual(changes, [], `changed by ${said}`)
}

const written = (operation: Operation, draft: Draft): string =>
  `${operation.method} ${urlOf(operation, draft)}\n${draft.contentType ?? '-'} ${JSON.stringify(draft.headers)}\n${draft.body?.toString().slice(0, 500) ?? ''}`

describe('the published document', () => {
  it('is what the server serves, with its own address', async () => {
    const { body } = await api.server.inject('/v3/openapi.json')
    const { servers, info, externalDocs, ...served } = JSON.parse(body)
    const { servers: _, info: published, externalDocs: __, ...rest } = JSON.parse(documentText)
    assert.deepEqual(served, rest)
    assert.deepEqual({ ...info, contact: published.contact }, published)
    assert.equal(servers[0].url, 'http://127.0.0.1:8080')
    assert.deepEqual([info.contact.url, externalDocs.url], Array(2).fill('http://127.0.0.1:8080/docs'))
  })
})

describe('requests made from the published document', () => {
  for (const operation of operations) {
    it(`conform to it: ${operation.id}, ${runsOf(operation)} times`, async (t) => {
      const statuses = new Map<number, number>()
      let invalidCount = 0
      let runs = 0
      async function attempt(draft: Draft, caller: string): Promise<void> {
        if (
          runs++ % (restoredAfter[operation.id] ?? 1_000) === 0 &&
          (isUsed() || operation.id in restoredAfter)
        )
          await restoreFixtures()
        const answer = await send(operation, draft, authorizations[caller])
        statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1)
        if (invalidReasonOf(operation, draft)) invalidCount++
        await assertAnswer(operation, draft, answer).catch(async (error: Error) => {
          // Otherwise changes of a failed attempt would make each attempt to shrink it fail.
          await restoreFixtures()
          throw new Error(`${error.message}\n${caller}: ${written(operation, draft)}`, { cause: error })
        })
      }
      const succeeded = () => [...statuses.keys()].some((status) => status < 300)
      const property = fc.asyncProperty(mutatedDrafts(operation), callers(operation), attempt)
      await fc.assert(property, { numRuns: runsOf(operation), seed: testSeed, verbose: 0 })
      t.diagnostic(
        `${invalidCount} invalid; responses by status ${JSON.stringify(Object.fromEntries(statuses))}`,
      )
      // If no request was accepted or refused, the other assertions prove little. With few runs that can happen by
      // chance.
      if (runs < 50) return
      assert.ok(invalidCount > 0, `none of ${runs} was invalid`)
      if (neverSucceeding.includes(operation.id)) return
      // Few requests to some operations are accepted: these operations get valid requests until one succeeds.
      for (const [draft, caller] of fc.sample(validRequests(operation), { numRuns: 1_000, seed: testSeed }))
        if (succeeded()) break
        else await attempt(draft, caller)
      assert.ok(succeeded(), `none of ${runs} succeeded`)
    })
  }

  it('are answered with the greatest number that the document allows in each parameter', async () => {
    // Chance finds few of them: an id is greater than its column can hold.
    const numbers = operations.flatMap((operation) =>
      operation.parameters.flatMap(({ in: place, name, schema }) => {
        const { maximum } = (schema.items ?? schema) as { maximum?: number }
        return place === 'header' || maximum === undefined ? [] : [{ operation, place, name, maximum }]
      }),
    )
    assert.ok(numbers.length > 100)
    await restoreFixtures()
    for (const { operation, place, name, maximum } of numbers) {
      const [[draft, caller]] = fc.sample(validRequests(operation), { numRuns: 1, seed: testSeed }) as [
        [Draft, string],
      ]
      const query = draft.query.filter(([key]) => key !== name && key !== 'dry_run')
      const greatest: Draft =
        place === 'path'
          ? { ...draft, path: { ...draft.path, [name]: String(maximum) } }
          : { ...draft, query: [...query, [name, String(maximum)]] }
      const { status, body } = await send(operation, greatest, authorizations[caller])
      await api.settled()
      assert.ok(status < 500 || status === 503, `${caller}: ${written(operation, greatest)}: ${body}`)
    }
    await restoreFixtures()
  })
})
