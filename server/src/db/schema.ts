// The tables, as Kysely knows them. Generated from the migrations by `npm run generate`; never edited by hand.
import type { ColumnType, Generated, GeneratedAlways } from 'kysely'

export type JsonValue = string | number | boolean | null | JsonValue[] | { [key: string]: JsonValue }

/** Written as text, by JSON.stringify(): the driver would write an array as an array of PostgreSQL. */
export type Json = ColumnType<JsonValue, string, string>
export type NullableJson = ColumnType<JsonValue, string | null, string | null>
export type GeneratedJson = ColumnType<JsonValue, string | undefined, string>

export type AlertFiringsEnding = 'cleared' | 'changed' | 'disabled' | 'deleted'

export interface AlertFiringsTable {
  id: GeneratedAlways<number>
  rule_id: number
  team_id: number
  started: Date
  fired: Date
  ended: Date | null
  ending: AlertFiringsEnding | null
  value: number
  threshold: number
}

export type AlertRulesKind = 'port_utilisation' | 'commit' | 'light_margin' | 'visibility'

export type AlertRulesSeverity = 'info' | 'warning' | 'critical'

export type AlertRulesState = 'ok' | 'firing' | 'unknown'

export interface AlertRulesTable {
  id: GeneratedAlways<number>
  team_id: number
  name: string
  kind: AlertRulesKind
  /** JSON: AlertCondition of contract/src/alert/alert-rule.ts */
  condition: Json
  /** id of the port, service or announcement of the condition; it may be gone, which the state shows */
  object_id: number
  severity: AlertRulesSeverity
  enabled: boolean
  clear_minutes: number
  state: Generated<AlertRulesState>
  since: Generated<Date>
  /** code from contract/src/reason/alert-reason.ts; null unless the state is unknown */
  reason: Generated<string | null>
  /** the last measured value */
  value: number | null
  /** end of the last evaluated value; null before the first */
  evaluated_until: Date | null
  /** measured time beyond the limit in the current run; below_ms: within it */
  above_ms: Generated<number>
  below_ms: Generated<number>
  /** time without data up to evaluated_until */
  unknown_ms: Generated<number>
  /** start of the current run beyond the limit; null without one */
  run_since: Date | null
  /** whether the team was notified that there are no data */
  told_unknown: Generated<boolean>
  version: Generated<number>
  created: Generated<Date>
  created_by: string
  modified: Generated<Date>
}

export interface AnnouncementHeardTable {
  announcement_id: number
  team_id: number
  /** start of the 5 minutes */
  at: Date
  /** collectors with the announcement and its origin */
  percent: number
  /** not all collectors were known: it may be more */
  is_least: boolean
}

export interface AnnouncementHistoryTable {
  id: GeneratedAlways<number>
  announcement_id: number
  team_id: number
  at: Generated<Date>
  kind: string
  region_id: number | null
  actor: string
  detail: GeneratedJson
  /** from the request to what was seen on the router */
  took_ms: number | null
}

export type AnnouncementProofsKind = 'dns_txt' | 'rdap'

export type AnnouncementProofsState = 'valid' | 'missing' | 'invalid' | 'unavailable'

export interface AnnouncementProofsTable {
  announcement_id: number
  kind: AnnouncementProofsKind
  team_id: number
  state: AnnouncementProofsState
  note: string
  evidence: GeneratedJson
  fix: string | null
  /** when the name servers or the registry last answered; what they said then stands while they are silent */
  checked: Date | null
  /** when the state began */
  since: Generated<Date>
  /** when they are asked again */
  next_check: Date
  /** code from contract/src/check-reason.ts; null in rows from before codes existed */
  reason: string | null
  /** JSON object: the attributes of the reason */
  attrs: GeneratedJson
}

export type AnnouncementRegionsState = 'withdrawn' | 'announcing' | 'announced' | 'withdrawing' | 'error'

export interface AnnouncementRegionsTable {
  announcement_id: number
  region_id: number
  team_id: number
  /** whether the region is in the announcement's regions */
  configured: boolean
  /** what was last seen on the router, with the direction it is moving in */
  state: Generated<AnnouncementRegionsState>
  since: Generated<Date>
  /** when its desired state changed during the last hour, for damping */
  changes: Generated<Date[]>
  reason: string | null
  attrs: NullableJson
  /** the origin with which a router of the region last showed the route; null once all of them have shown that it is gone */
  announced_origin: number | null
  /** the announcement has no regions now, and this one was in its last set of regions: enabling it without a region restores it */
  restorable: Generated<boolean>
  /** when the routers first showed the last change of the desired state; before the last of changes until then */
  settled: Date | null
}

export type AnnouncementValidationsName = 'irr' | 'rpki' | 'loa' | 'asn' | 'size' | 'overlap'

export type AnnouncementValidationsState =
  | 'valid'
  | 'pending'
  | 'missing'
  | 'invalid'
  | 'mismatch_asn'
  | 'mismatch_length'
  | 'expired'
  | 'unavailable'

export interface AnnouncementValidationsTable {
  announcement_id: number
  name: AnnouncementValidationsName
  team_id: number
  state: AnnouncementValidationsState
  /** the sentence of the reason, for webhooks */
  note: string
  evidence: GeneratedJson
  /** the literal text of what to create; null where there is nothing to do */
  fix: string | null
  /** when its registry was last asked and answered */
  checked: Date | null
  /** when the state began */
  since: Generated<Date>
  /** when the registry is asked again; null for what follows from other rows */
  next_check: Date | null
  /** code from contract/src/check-reason.ts; null in rows from before codes existed */
  reason: string | null
  /** JSON object: the attributes of the reason */
  attrs: GeneratedJson
}

export type AnnouncementVisibilityState = 'current' | 'partial'

export type AnnouncementVisibilityChangeKind = 'announced' | 'withdrawn'

/** summary of what route collectors report of each announced prefix; valid only while a row of visibility_sources is used and current */
export interface AnnouncementVisibilityTable {
  announcement_id: number
  team_id: number
  state: AnnouncementVisibilityState
  /** code from contract/src/visibility.ts */
  reason: string | null
  collectors_total: number
  collectors_seeing: number
  /** JSON list: asn, count, expected */
  origins: GeneratedJson
  /** JSON list: cidr, asn, count */
  more_specifics: GeneratedJson
  rpki: string
  /** last change on the routers of all regions together */
  change_at: Date | null
  change_kind: AnnouncementVisibilityChangeKind | null
  /** propagation time of that change; null if not reached or not measured */
  seconds_to_80pct: number | null
  /** collectors that have the route of our announcement although it was withdrawn */
  stuck: Generated<number>
  /** null: not known */
  zombie: boolean | null
  /** whether the team was last notified that a zombie started */
  notified_zombie: Generated<boolean>
  /** the routes of other networks of which the team was last notified */
  notified_routes: GeneratedJson
  /** collectors with the route of our announcement and our ASN in its path */
  ours: Generated<number>
  /** whether the team was last notified that hardly any collector sees it */
  not_visible: Generated<boolean>
  /** whether the team was last notified that no path to it is through us */
  other_path: Generated<boolean>
}

export type AnnouncementsStatus =
  | 'pending_validation'
  | 'validating'
  | 'validation_failed'
  | 'ready'
  | 'announcing'
  | 'announced'
  | 'partially_announced'
  | 'withdrawing'
  | 'withdrawn'
  | 'suspended'
  | 'error'

export type AnnouncementsManagedBy = 'operator' | 'team'

export type AnnouncementsClearance = 'pending' | 'running' | 'failed' | 'passed'

export type AnnouncementsSuspendedBy = 'staff' | 'validation'

export interface AnnouncementsTable {
  id: GeneratedAlways<number>
  team_id: number
  prefix: string
  origin_asn: number
  description: Generated<string>
  enabled: Generated<boolean>
  suspended: Generated<boolean>
  irr_validated: Date | null
  rpki_validated: Date | null
  loa_validated: Date | null
  /** what was observed; written by statusOf() only, together with what it follows from */
  status: Generated<AnnouncementsStatus>
  /** incremented by every change of the desired side; the part of the ETag that If-Match compares */
  version: Generated<number>
  matched: Generated<boolean>
  created: Generated<Date>
  /** AS-SET whose members may originate the prefix in the IRR */
  as_set: string | null
  delegate_loa: Generated<boolean>
  loa_signatory: Generated<string>
  /** who made it: the operator's file, which may prune it, or the team */
  managed_by: Generated<AnnouncementsManagedBy>
  /** checks that the operator's file says have passed, whatever the registries say */
  vouched: Generated<string[]>
  /** how far the checks are; passed while irr, rpki and loa are all valid */
  clearance: Generated<AnnouncementsClearance>
  /** when every check had passed for the first time: since then it holds the prefix */
  claimed: Date | null
  /** somebody asked for all checks at once; null when that was done */
  check_requested: Date | null
  /** the text of staff for the team; null if there is none */
  suspended_reason: string | null
  /** deleted by its team; for seven days it can be restored */
  deleted: Date | null
  /** the origin for which every check passed; a row with another one is not announced */
  checked_origin: number | null
  /** `staff`: the provider, through the API or the platform file; `validation`: the policy for failing checks */
  suspended_by: AnnouncementsSuspendedBy | null
}

export interface ApiTokensTable {
  id: string
  team_id: number
  name: string
  secret_mac: Buffer
  scopes: string[]
  allowed_networks: Generated<string[]>
  is_admin: Generated<boolean>
  created: Generated<Date>
  expires: Date | null
  max_unused_days: number | null
  last_used: Date | null
  revoked: Date | null
  /** the user, while the account exists: removing the member revokes the token */
  created_by: number | null
  /** where it was used from when last_used was written */
  last_used_address: string | null
  /** actor; kept after the account is deleted */
  creator: Generated<string>
  /** the program that has the token: its roles are those of the token */
  service_account_id: number | null
  /** only for the resources of resource_limits; none are left: for nothing */
  is_limited: Generated<boolean>
  /** of the secret before the last rotation, valid until previous_until */
  previous_mac: Buffer | null
  previous_until: Date | null
}

export type ApprovalsArea = 'routes' | 'dns' | 'shield' | 'platform'

export type ApprovalsState = 'open' | 'approved' | 'rejected' | 'closed'

/** changes that wait for staff, and their decisions; an approval never changes, and a plan with more is another one */
export interface ApprovalsTable {
  id: GeneratedAlways<number>
  area: ApprovalsArea
  /** changes, publish, catalog, shrink, import, or the reason of a change of shield rules */
  kind: string
  region_id: number | null
  zone_id: number | null
  list_id: number | null
  team_id: number | null
  scrubber: string | null
  /** reasons with their attributes, the gravest first */
  findings: Json
  /** changes: change, value, router, from, to; of routes all, otherwise the first 1000 */
  items: GeneratedJson
  item_count: number
  /** digest of everything that a decision covers, also of what is not stored in items */
  evidence: string
  /** routes without a row, as the routers had them when it was opened: router, route */
  context: GeneratedJson
  state: Generated<ApprovalsState>
  created: Generated<Date>
  /** when it was decided, or closed since it was replaced or nothing of it is planned */
  decided: Date | null
  /** actor; null while it is open, and if it was closed without a decision */
  decided_by: string | null
  note: string | null
  /** when the decision ends; null: no end */
  valid_until: Date | null
  /** the approval that was closed because its plan has changed */
  replaces: number | null
  /** when staff get the next mail about it, while it is open */
  alert_due: Generated<Date>
  /** when staff last got a mail about it, or about the approval that it replaced */
  alerted: Date | null
  /** how many items that mail was about */
  alerted_items: number | null
}

/** from flow_address_files, written by the collector that has read them; none are shipped */
export interface AsNamesTable {
  asn: number
  name: string
}

export type AsnProofsMethod = 'rdap_email' | 'peeringdb' | 'aut_num' | 'dns_txt' | 'roa'

export type AsnProofsState = 'valid' | 'pending' | 'missing' | 'unavailable' | 'error'

export interface AsnProofsTable {
  team_id: number
  asn: number
  method: AsnProofsMethod
  state: AsnProofsState
  /** JSON object: what was read, and where */
  evidence: GeneratedJson
  note: string
  /** since when no check has found what was valid before; null where it is there or never was */
  missing_since: Date | null
  checked: Date
  /** code from contract/src/asn-proof-reason.ts; null in rows from before codes existed */
  reason: string | null
  /** JSON object: the attributes of the reason */
  attrs: GeneratedJson
}

export type AsnsVerifiedBy = 'rdap_email' | 'peeringdb' | 'aut_num' | 'dns_txt' | 'roa'

export interface AsnsTable {
  id: GeneratedAlways<number>
  team_id: number
  asn: number
  name: Generated<string>
  /** since when the team is known to hold it; null where it is not, or no longer */
  verified: Date | null
  matched: Generated<boolean>
  created: Generated<Date>
  /** the method by which the team proved it; null where the operator's file says so */
  verified_by: AsnsVerifiedBy | null
  /** when the proof ends unless it is seen again; null for the operator's word, which does not end */
  expires: Date | null
  /** when the operator revoked the verification; proofs of the team do not count until the operator verifies it again */
  revoked: Date | null
  revoked_reason: string | null
}

export type AttachmentsSubjectKind = 'device' | 'cross_connect' | 'event'

export type AttachmentsPurpose = 'loa'

export type AttachmentsKind = 'pcap' | 'json' | 'csv' | 'pdf' | 'image' | 'other'

export interface AttachmentsTable {
  id: GeneratedAlways<number>
  /** the team that sees it; null: every team that sees the subject */
  customer_id: number | null
  subject_kind: AttachmentsSubjectKind
  subject_id: string
  /** loa: letter of authorization (LOA/CFA) of a cross connect */
  purpose: Generated<AttachmentsPurpose>
  filename: string
  /** from the content; application/octet-stream unless it is known to be harmless */
  media_type: string
  kind: AttachmentsKind
  sha256: Buffer
  description: Generated<string>
  /** null: deleted after its time */
  content: Buffer | null
  size: number | null
  created: Generated<Date>
  /** actor of the audit log */
  created_by: string
}

/** addresses and names of people in entries of the audit log, which contain the key: emptied with the account, while the entry and its seal stay */
export interface AuditAddressesTable {
  key: string
  /** time of its entry, with whose month it is deleted */
  at: Generated<Date>
  /** that of the entry, for row-level security */
  team_id: number | null
  /** the account that the entry is about; null if the entry does not name it */
  user_id: number | null
  /** null once the account is deleted */
  value: string | null
  erased: Date | null
}

export interface AuditEntriesTable {
  id: GeneratedAlways<number>
  at: Generated<Date>
  team_id: number | null
  actor: string
  action: string
  target: string
  before: NullableJson
  after: NullableJson
  request_id: string | null
  address: string | null
  /** session:<id> or token:<id>; null for the operator and for loops */
  credential: string | null
  /** done by a person of the provider, as whom teams are not shown who */
  by_staff: Generated<boolean>
}

export interface AuditSealsTable {
  sequence: number
  entry_id: number
  entry_at: Date
  /** that of the entry, for row-level security */
  team_id: number | null
  /** which key of the ring made the hash */
  key_id: string
  hash: Buffer
}

export interface AuditUnsealedTable {
  entry_id: number
  entry_at: Date
}

/** sign-ins under way: each works once, and is deleted before its answer is read */
export interface AuthFlowsTable {
  /** SHA-256 of the random state */
  state_hash: Buffer
  /** null: the identity provider of staff */
  provider_id: number | null
  kind: string
  /** of the cookie of the browser that started it; null for the link of a mail */
  cookie_mac: Buffer | null
  /** nonce, PKCE verifier and page to return to; or the assertion that waits for a second factor or a link */
  content_sealed: Buffer
  expires: Date
}

/** sessions that a device has listed within a day */
export interface BgpSessionsTable {
  id: GeneratedAlways<number>
  device_id: number
  /** routing instance, as the device numbers it; empty for the only one */
  instance: Generated<string>
  peer: string
  peer_asn: number | null
  state: string
  /** since when it is established, or when it was last; null if never */
  established: Date | null
  /** by family: received and limit, which may be null */
  prefixes: GeneratedJson
  /** when it was last found not to be established any more; with the code, subcode and text of the NOTIFICATION */
  reset: Date | null
  reset_code: number | null
  reset_subcode: number | null
  reset_text: Generated<string>
  /** the sold port of the neighbor; null if there is none */
  port_id: number | null
  seen: Generated<Date>
  /** the last state that was not unknown, while it is unknown now; with its time in known_at */
  known_state: string | null
  known_at: Date | null
  /** false: reset is the time at which the session was last known to be established */
  reset_is_exact: Generated<boolean>
}

/** bills of months that are over: without foreign keys, so that they outlive services and ports */
export interface BillingPeriodsTable {
  id: GeneratedAlways<number>
  team_id: number
  service_id: number
  service_name: string
  billing_ref: string
  month: string
  timezone: string
  /** of the bill among those of the service and month, from 0 */
  place: number
  /** as the API returns it */
  bill: Json
  closed: Generated<Date>
  /** the bill that this one replaces */
  corrects: number | null
  /** why it was corrected */
  reason: string | null
  /** end of the month; null: that of the calendar month in its time zone */
  ends: Date | null
}

/** files of the samples of closed bills: without foreign keys, so that they outlive services and ports */
export interface BillingSamplesTable {
  team_id: number
  /** of the file, as bills name it */
  sha256: string
  gzip: Buffer
}

export type BlackholeRegionsState = 'withdrawn' | 'announcing' | 'announced' | 'withdrawing' | 'error'

export interface BlackholeRegionsTable {
  blackhole_id: number
  region_id: number
  team_id: number
  /** what was last seen on the routers, as in announcement_regions */
  state: BlackholeRegionsState
  since: Generated<Date>
  reason: string | null
  attrs: NullableJson
  /** when the routers first showed the black hole, or its end; before that of the request until then */
  settled: Date | null
}

export interface BlackholesTable {
  id: GeneratedAlways<number>
  team_id: number
  host: string
  event_id: string | null
  comment: Generated<string>
  forced: boolean
  created: Generated<Date>
  /** never extended; an hour more than the API allows, for clocks that differ */
  expires: Date
  /** null until it was ended or its time is over; the routes depend on expires too, so that a late loop extends nothing */
  ended: Date | null
}

/** changes of the status; `actor`: customer or provider */
export interface CrossConnectLogTable {
  id: GeneratedAlways<number>
  cross_connect_id: number
  team_id: number
  at: Generated<Date>
  before: string
  after: string
  note: Generated<string>
  actor: string
}

export type CrossConnectsStatus =
  | 'reserved'
  | 'awaiting_loa'
  | 'awaiting_connect'
  | 'connected'
  | 'awaiting_cease'
  | 'ceased'
  | 'broken'

export interface CrossConnectsTable {
  id: GeneratedAlways<number>
  team_id: number
  service_id: number
  port_id: number | null
  circuit_id: string
  name: string
  status: Generated<CrossConnectsStatus>
  location_key: string | null
  /** panel, module and position of the provider, which is side A; z_*: of the other side */
  panel: Generated<string>
  module: Generated<string>
  position: Generated<string>
  z_name: Generated<string>
  z_circuit_id: Generated<string>
  z_panel: Generated<string>
  z_module: Generated<string>
  z_position: Generated<string>
  media: Generated<string>
  connector: Generated<string>
  /** number of the order at the data center */
  provider_ref: Generated<string>
  chargeable: Generated<boolean>
  requested: Generated<Date>
  /** last change of the status */
  changed: Generated<Date>
  connected: Date | null
  ceased: Date | null
  created: Generated<Date>
}

/** one row if the installation began with limits of retention by default; without it rows are kept until a limit is set */
export interface DefaultLimitsTable {
  key: Generated<string>
  since: Generated<Date>
}

export type DeliveriesState = 'new' | 'done' | 'partial' | 'failed'

export interface DeliveriesTable {
  id: GeneratedAlways<number>
  source_key: string
  delivery_id: string
  received: Generated<Date>
  content_type: string | null
  body: Buffer
  state: Generated<DeliveriesState>
  /** the first error as text; null without one */
  error: string | null
  processed: Date | null
  /** JSON array of {severity, code, place, attrs} with codes from contract/src/delivery-note.ts, at most 100 */
  notes: GeneratedJson
  /** events that the delivery created or updated; null before it is processed, and in rows from before the column existed */
  event_count: number | null
  /** their ids, at most 1000 */
  event_ids: Generated<string[]>
}

export interface DeliveryIdsTable {
  source_key: string
  delivery_id: string
  received: Generated<Date>
  /** digest of the body, so that another body under the same id is rejected; null for deliveries from before this column */
  body_sha256: Buffer | null
}

/** the newest attack on each network, by which the reports of several collectors become one event */
export interface DetectorAttacksTable {
  network: string
  /** source_event_id of its event */
  id: string
  /** whose reports are stored */
  collector: string
  ended: Date | null
  /** time of the last stored report, by the clock of its collector */
  observed: Date
}

/** the newest attack from each network, as detector_attacks of those on it */
export interface DetectorOutgoingAttacksTable {
  network: string
  /** source_event_id of its event */
  id: string
  /** whose reports are stored */
  collector: string
  ended: Date | null
  /** time of the last stored report, by the clock of its collector */
  observed: Date
}

/** rates that each collector sees towards destinations that it suspects; old rows are those of collectors that ended */
export interface DetectorRatesTable {
  collector: string
  updated: Generated<Date>
  targets: Json
}

export type DetectorThresholdsManagedBy = 'platform' | 'team'

/** thresholds of the platform file and of teams; those of the source of kind flows are the default for everybody else */
export interface DetectorThresholdsTable {
  id: GeneratedAlways<number>
  team_id: number
  /** null: all addresses of the team */
  prefix: string | null
  bps: number | null
  pps: number | null
  /** multiple of the usual traffic below which nothing is an attack */
  ratio: number | null
  /** of a whole network of the ladder or a held prefix; null: four times bps */
  network_bps: number | null
  network_pps: number | null
  /** from one address; null: bps */
  outgoing_bps: number | null
  outgoing_pps: number | null
  /** for which the limit must be exceeded; null: 0 */
  min_seconds: number | null
  /** platform: the platform file; team: replaces the one of the platform for the same addresses, unless it is locked */
  managed_by: Generated<DetectorThresholdsManagedBy>
  /** the team cannot replace it */
  locked: Generated<boolean>
}

export type DeviceCredentialsVersion = 'v2c' | 'v3'

export type DeviceCredentialsAuth = 'md5' | 'sha1' | 'sha224' | 'sha256' | 'sha384' | 'sha512'

export type DeviceCredentialsPrivacy = 'aes128' | 'aes256b' | 'aes256r'

/** SNMP credentials of the provider */
export interface DeviceCredentialsTable {
  id: GeneratedAlways<number>
  name: string
  version: DeviceCredentialsVersion
  /** of SNMPv3 */
  user_name: Generated<string>
  auth: DeviceCredentialsAuth | null
  /** aes256r: with the key extension of Cisco; aes256b: of Blumenthal */
  privacy: DeviceCredentialsPrivacy | null
  /** bound to the name, as both passwords */
  community_sealed: Buffer | null
  auth_sealed: Buffer | null
  privacy_sealed: Buffer | null
  created: Generated<Date>
}

/** observations of a device, and when it is polled next */
export interface DeviceStatesTable {
  device_id: number
  /** name, vendor, model, serial and software, as the device reports them */
  identity: GeneratedJson
  booted: Date | null
  /** last answer to a poll */
  seen: Date | null
  surveyed: Date | null
  /** kind of the last failure; null after an answer */
  error: string | null
  /** for operators */
  error_text: string | null
  /** polls without an answer since the last one */
  missed: Generated<number>
  next_poll: Generated<Date>
  next_survey: Generated<Date>
  lease_until: Date | null
  lease_owner: string | null
  /** when its gauges are read next */
  next_gauges: Generated<Date>
}

export type DevicesManagedBy = 'platform' | 'netbox'

export interface DevicesTable {
  id: GeneratedAlways<number>
  name: string
  role: Generated<string>
  /** empty, as model and serial: as the device reports it, in device_states */
  vendor: Generated<string>
  model: Generated<string>
  serial: Generated<string>
  location_key: string | null
  management_address: string | null
  /** how its interfaces and counters are read; none: not at all */
  driver: Generated<string>
  /** of the driver */
  settings: GeneratedJson
  credential_id: number | null
  /** the team, if the device is of one customer, who sees all of its interfaces */
  customer_id: number | null
  /** polled until then, without warnings */
  maintenance_until: Date | null
  tags: Generated<string[]>
  external_ref: Generated<string>
  managed_by: Generated<DevicesManagedBy>
  created: Generated<Date>
}

export type DnsAliasesReason = 'unreachable' | 'refused' | 'no_addresses' | 'not_public' | 'loop'

/** the addresses of the targets of ALIAS records; a row is of the record set with the same name and target */
export interface DnsAliasesTable {
  zone_id: number
  name_key: Buffer
  /** the name whose addresses these are, as in the record */
  target: Buffer
  a: Generated<Buffer[]>
  aaaa: Generated<Buffer[]>
  /** the last answer with addresses; null before the first */
  resolved: Date | null
  checked: Date
  due: Date
  /** why the last attempt brought no addresses; the former ones stay published */
  reason: DnsAliasesReason | null
  /** whether the last attempt left the name without any published address */
  is_unserved: Generated<boolean>
}

/** number of record sets from one name to the next, for large zones only: a page at any offset is found by adding a few hundred numbers */
export interface DnsBlocksTable {
  zone_id: number
  /** name_key with which the block starts; empty for the first block */
  first: Buffer
  count: number
}

/** at most one row, from the platform file: what applies to zones and teams without a setting of their own */
export interface DnsDefaultsTable {
  key: string
  /** mailbox of SOA records as a name */
  hostmaster: Generated<string>
  default_ttl: Generated<number>
  minimum_ttl: Generated<number>
  refresh: Generated<number>
  retry: Generated<number>
  expire: Generated<number>
  negative_ttl: Generated<number>
  history_days: Generated<number>
  /** zones of one team */
  zones_max: Generated<number>
  /** record sets of one zone */
  recordsets_max: Generated<number>
  is_apex_ns_editable: Generated<boolean>
  /** ALIAS records of one zone */
  aliases_max: Generated<number>
}

export type DnsDelegationsStatus =
  | 'unknown'
  | 'delegated'
  | 'partial'
  | 'elsewhere'
  | 'absent'
  | 'unavailable'

/** what the servers of the parent zone answered, each asked directly */
export interface DnsDelegationsTable {
  zone_id: number
  status: Generated<DnsDelegationsStatus>
  due: Generated<Date | null>
  leased_until: Date | null
  checked: Date | null
  /** names of the NS records at the parent, in order */
  ns: Generated<string[]>
  /** rdata of the DS records at any server of the parent */
  ds: Generated<Buffer[]>
  /** every server of the parent answered the same DS records */
  is_ds_everywhere: Generated<boolean>
  ns_ttl: number | null
  ds_ttl: number | null
  ds_first_seen: Date | null
  ds_last_seen: Date | null
  /** largest TTL of DNSKEY records since the DS was last seen */
  dnskey_ttl_max: number | null
  /** complete and equal answers in a row */
  equal_answers: Generated<number>
  /** when the parent was last seen to delegate to the assigned servers, or to some of them */
  delegated_seen: Date | null
}

export type DnsKeysState = 'introduced' | 'active' | 'retiring' | 'removed'

export interface DnsKeysTable {
  id: GeneratedAlways<number>
  zone_id: number
  algorithm: number
  flags: number
  tag: number
  /** rdata of the DNSKEY record */
  dnskey: Buffer
  /** PKCS #8, bound to the id of the zone and dnskey; null: a key of another signer, or removed */
  private_sealed: Buffer | null
  state: DnsKeysState
  created: Generated<Date>
  /** since when all name servers serve the key */
  introduced: Date | null
  /** since when all servers of the parent serve a DS record of the key */
  ds_seen: Date | null
  retired: Date | null
  removed: Date | null
}

export type DnsPtrTemplatesOverwrite = 'never' | 'generated' | 'always'

export interface DnsPtrTemplatesTable {
  id: GeneratedAlways<number>
  team_id: number
  prefix: string
  pattern: string
  ttl: number | null
  overwrite: Generated<DnsPtrTemplatesOverwrite>
  created: Generated<Date>
  touched: Generated<Date>
}

export type DnsRecordsetsSource = 'user' | 'generated' | 'system'

/** the desired content of zones; what is published is in dns_served */
export interface DnsRecordsetsTable {
  zone_id: number
  name_key: Buffer
  type: number
  /** that of the zone */
  team_id: number | null
  name: string
  ttl: number
  /** in canonical order (RFC 4034 section 6.3); the serial of an SOA record is 0, that of the zone applies */
  rdata: Buffer[]
  /** the records in presentation format, one a line, for answers, filters and the search */
  content: string
  /** user; generated: from a PTR template; system: SOA, NS of the apex and others that Pharos writes */
  source: Generated<DnsRecordsetsSource>
  comment: Generated<string>
  created: Generated<Date>
  touched: Generated<Date>
}

export interface DnsSecondariesTable {
  zone_id: number
  /** list of {address, port, tsig_key_id} */
  primaries: Json
  /** the serial of the last transfer */
  serial: number | null
  /** next query of the primaries: SOA refresh or retry, or a NOTIFY */
  due: Generated<Date | null>
  leased_until: Date | null
  attempted: Date | null
  transferred: Date | null
  /** when the data may no longer be served: SOA expire after the last contact */
  expires: Date | null
  error: string | null
  attrs: NullableJson
  /** last NOTIFY; after `attempted` it came during a transfer, and the primaries are asked once more */
  notified: Date | null
}

/** zones at their serial in dns_zones, signatures and denial of existence included */
export interface DnsServedTable {
  zone_id: number
  name_key: Buffer
  type: number
  ttl: number
  rdata: Buffer[]
  /** rdata of the signatures of this record set */
  rrsig: Generated<Buffer[]>
  /** the first of the signatures to expire; null without signatures */
  expires: Date | null
}

export type DnsServerZonesState = 'serving' | 'behind' | 'absent' | 'failing' | 'unreachable'

export interface DnsServerZonesTable {
  server_id: number
  zone_id: number
  /** the serial that the server answered last */
  serial: number | null
  state: DnsServerZonesState
  checked: Date
  since: Generated<Date>
  /** when the server was first seen at `serial`, or at a later one; null before */
  reached: Date | null
}

export type DnsServersKind = 'dns' | 'sandbox'

export type DnsServersSigning = 'pharos' | 'external'

/** name servers that follow the hidden primary; they are never written to, they transfer */
export interface DnsServersTable {
  id: GeneratedAlways<number>
  /** name in NS records */
  name: string
  kind: Generated<DnsServersKind>
  /** where the server is sent NOTIFY and asked for serials */
  address: string | null
  port: Generated<number>
  /** key of transfers, NOTIFY and serial queries */
  tsig_key_id: number | null
  region: Generated<string>
  /** in the NS records of new zones; false for a server that only distributes */
  is_public: Generated<boolean>
  /** learns its zones from the catalog zone (RFC 9432) */
  catalog: Generated<boolean>
  /** external: it gets zones unsigned, and signs them itself */
  signing: Generated<DnsServersSigning>
  created: Generated<Date>
  /** last attempt to query it */
  checked: Date | null
  /** last answer */
  seen: Date | null
  /** version and id, as it answers version.bind and id.server */
  identity: NullableJson
  /** code of the last failure; null after an answer */
  error: string | null
}

/** steps of IXFR: whole sets, each followed by its signatures as a set of type RRSIG; the SOA of the step's end is the first set */
export interface DnsTransfersTable {
  zone_id: number
  /** order of publication: serials wrap */
  position: GeneratedAlways<number>
  serial_from: number
  serial_to: number
  version: number
  removed: Buffer
  added: Buffer
  at: Generated<Date>
}

export type DnsTsigKeysAlgorithm = 'hmac-sha1' | 'hmac-sha224' | 'hmac-sha256' | 'hmac-sha384' | 'hmac-sha512'

export type DnsTsigKeysManagedBy = 'operator' | 'team'

export interface DnsTsigKeysTable {
  id: GeneratedAlways<number>
  /** null: a key of the operator */
  team_id: number | null
  /** unique over all teams: a message names the key and no team */
  name: string
  algorithm: Generated<DnsTsigKeysAlgorithm>
  /** bound to the name of the key */
  secret_sealed: Buffer
  created: Generated<Date>
  /** may change all zones of its team by UPDATE (RFC 2136); a key given to another server for transfers should not */
  may_update: Generated<boolean>
  label: Generated<string>
  /** operator: the platform file, which may prune it */
  managed_by: Generated<DnsTsigKeysManagedBy>
  /** may transfer all zones of its team; the settings of a zone name further keys */
  may_transfer: Generated<boolean>
  /** addresses from which it may be used; empty: from everywhere */
  allowed_networks: Generated<string[]>
  expires: Date | null
  /** only for the zones of resource_limits; none are left: for nothing */
  is_limited: Generated<boolean>
  creator: Generated<string>
}

/** the journal: the differences that the publish loop applies, the history and the source of a rollback */
export interface DnsVersionsTable {
  zone_id: number
  version: number
  team_id: number | null
  at: Generated<Date>
  actor: string
  /** code of the operation, such as recordset.update */
  what: string
  /** record sets as they were, encoded by dns/zone/rrset-list.ts; a changed set is in both columns */
  removed: Buffer
  added: Buffer
  removed_count: number
  /** record sets in both removed and added; the other counts are without them */
  changed_count: number
  added_count: number
}

export type DnsZonesKind = 'primary' | 'secondary'

export type DnsZonesManagedBy = 'operator' | 'team'

export type DnsZonesDnssec = 'disabled' | 'signing' | 'pending_ds' | 'active' | 'pending_disabled' | 'error'

export type DnsZonesStatus = 'ok' | 'updating' | 'error' | 'pending_verification'

export interface DnsZonesTable {
  id: GeneratedAlways<number>
  /** null: a zone of the operator */
  team_id: number | null
  name: string
  name_key: Buffer
  kind: Generated<DnsZonesKind>
  is_reverse: Generated<boolean>
  /** a reverse zone that was cut from a prefix of the team */
  is_generated: Generated<boolean>
  /** operator: the platform file, which may prune it */
  managed_by: Generated<DnsZonesManagedBy>
  /** incremented by every change of a record set, and by no signature: the last one in dns_versions */
  version: Generated<number>
  /** the version that dns_served contains */
  published_version: Generated<number>
  /** the published serial; before the first publication that of the imported zone, or null */
  serial: number | null
  /** rows in dns_recordsets, managed ones included */
  recordset_count: Generated<number>
  record_count: Generated<number>
  /** settings that differ from the defaults */
  settings: GeneratedJson
  /** incremented by every change of the settings: their ETag */
  settings_version: Generated<number>
  dnssec: Generated<DnsZonesDnssec>
  dnssec_since: Date | null
  /** algorithm, nsec3 and cds, as requested */
  dnssec_options: GeneratedJson
  /** when the state of DNSSEC is evaluated next; null if it waits for nothing */
  dnssec_due: Date | null
  /** observed at the name servers; a change of the zone sets it to updating */
  status: Generated<DnsZonesStatus>
  /** code of the reason for a status other than ok; null if there is none */
  reason: string | null
  attrs: NullableJson
  /** since when the zone has its name; null while another team has it. Only a claimed zone is served */
  claimed: Generated<Date | null>
  created: Generated<Date>
  touched: Generated<Date>
  published: Date | null
  /** evidence for the removal from the catalog; for seven days the zone can be restored */
  deleted: Date | null
  deleted_by: string | null
  /** the catalog zone (RFC 9432), which lists all others: written by its loop alone */
  is_catalog: Generated<boolean>
  /** since when the catalog zone does not contain the zone and name servers stop to serve it: only after it was deleted */
  withdrawn: Date | null
  /** since when the zone is to be published again without a change of a record set: keys changed, or signatures expire */
  resign_requested: Date | null
  /** code of what the state waits for or fails at; null if nothing */
  dnssec_reason: string | null
  /** pending_disabled although the parent had DS records: it was asked to delete them */
  dnssec_removal: Generated<boolean>
  /** the first serial with the current keys: once all name servers have it, they are introduced; null until it is published */
  dnssec_serial: number | null
  /** kind, account and soa_edit_api as a client of the PowerDNS-compatible API has set them; they have no effect */
  powerdns: GeneratedJson
  /** addresses of ALIAS records changed that are not published */
  alias_requested: Date | null
  /** since when its removal from the name servers waits for an approval of the provider */
  deletion_held: Date | null
  /** the newest version that all its name servers have served; null if it is not known */
  served_version: Generated<number | null>
}

export type DomainsLastCheckResult = 'valid' | 'missing' | 'mismatch' | 'unavailable' | 'claimed'

export interface DomainsTable {
  id: GeneratedAlways<number>
  team_id: number
  /** lower case, A-labels, no dot at the end */
  domain: string
  /** who confirms an address in it becomes a member, while it is verified */
  auto_join: Generated<boolean>
  created: Generated<Date>
  /** since when the record is known to stand there; null where it is not, or no longer */
  verified: Date | null
  /** since when the record is awaited: the longer, the less often it is looked for */
  pending_since: Generated<Date>
  last_check: Date | null
  last_check_result: DomainsLastCheckResult | null
  /** daily checks in a row that did not find the record; the third ends the verification */
  missed: Generated<number>
  /** when it is checked next; null where it was given up */
  due: Generated<Date | null>
  /** a check is going on: nobody else begins one before */
  leased_until: Date | null
  /** identity provider with which its addresses sign in, while the domain is verified */
  provider_id: number | null
}

export interface EventCommentsTable {
  id: GeneratedAlways<number>
  team_id: number
  event_id: string
  text: string
  /** actor of the audit log */
  author: string
  by_staff: Generated<boolean>
  created: Generated<Date>
}

export interface EventFlowFilesTable {
  team_id: number
  event_id: string
  saved: Generated<Date>
}

export interface EventMarksTable {
  team_id: number
  event_id: string
  /** by the name of a status or flag of the contract: since when; no delivery changes it */
  marks: GeneratedJson
  /** part of the attack that rules drop in the last minute: share_bytes, share_packets and source; null if it was never measured */
  effect: NullableJson
}

export interface EventNetworksTable {
  network: string
  event_id: string
}

export type EventRelationshipsMatchResource = 'announcement' | 'prefix' | 'service' | 'port' | 'asn'

export type EventRelationshipsMatchType = 'exact' | 'covers' | 'covered_by' | 'origin_asn' | 'source_resource'

export interface EventRelationshipsTable {
  id: GeneratedAlways<number>
  event_id: string
  team_id: number
  match_resource: EventRelationshipsMatchResource
  match_resource_id: number
  match_resource_name: string
  match_resource_link: string
  match_type: EventRelationshipsMatchType
  match_value: string
}

export type EventReviewsVerdict = 'attack' | 'false_positive'

export interface EventReviewsTable {
  team_id: number
  event_id: string
  /** null: none, that of the detector is shown */
  verdict: EventReviewsVerdict | null
  acknowledged: Date | null
  /** actor of the audit log */
  acknowledged_by: string | null
  /** acknowledged by a person of the provider, as whom teams are not shown who */
  by_staff: Generated<boolean>
  version: Generated<number>
}

export interface EventsTable {
  /** follows from source_key and source_event_id */
  id: string
  source_key: string
  source_event_id: string
  flags: string[]
  status: string[]
  affected_network: string | null
  source_timezone: string
  start_at: Date
  end_at: Date | null
  source_resource_id: string
  source_location_id: string
  source_country: string
  source_location: string
  classification_key: string
  description: string
  /** bits per second, the peak so far */
  affected_bps: number
  /** packets per second, the peak so far */
  affected_pps: number
  parsed_data: Json
  has_attachment: Generated<boolean>
  /** what the other columns do not say and merging the next observation needs; null: the next observation starts anew */
  merge_state: NullableJson
  updated: Generated<Date>
  /** deliveries.id with the latest message of the detector; it contains what parsed_data.source shows */
  source_delivery: number | null
  /** deliveries.received of it, which selects the partition */
  source_received: Date | null
  /** when its first report was processed; null if it is not known */
  detected: Generated<Date | null>
}

/** octets of the flows of a port divided by those that its interface counts, of the last hour that could be judged */
export interface FlowCounterChecksTable {
  exporter_id: number
  port_id: number
  /** its start */
  hour: Date
  /** of the direction with the larger one */
  ratio: number
  /** judged hours in a row outside of the limits */
  outside_hours: Generated<number>
  /** the start of the first of them */
  outside_since: Date | null
  /** whether it is reported */
  is_implausible: Generated<boolean>
  checked: Generated<Date>
}

/** a row for each collector of flows */
export interface FlowDelaysTable {
  collector: string
  reported: Date
  /** when the first flow of the oldest file that waits was received; null if none waits */
  waiting_since: Date | null
  /** times of which flows were lost by the collector */
  lost: Generated<string>
}

/** exporters of the platform file */
export interface FlowExporterSettingsTable {
  id: GeneratedAlways<number>
  /** source address of its datagrams, or the agent address of sFlow */
  address: string
  device_id: number | null
  /** 1 of so many packets is counted; overrides what the exporter says */
  sampling_rate: number | null
  /** keys of interfaces of the device by the number that the exporter uses */
  interfaces: GeneratedJson
  /** interfaces towards other exporters, by name or number: flows that enter there are left out; {all} for every interface */
  internal: Generated<string[]>
}

/** every exporter that has sent a flow; its id is exporter_id in the flow store */
export interface FlowExportersTable {
  id: GeneratedAlways<number>
  address: string
  /** by the platform file, else the device with this management address */
  device_id: number | null
  first_seen: Generated<Date>
  last_seen: Generated<Date>
  /** the last record that was left out: at, octets, packets, rate, in_if, out_if, duration_ms */
  implausible: NullableJson
  /** both sampling rates of the last record that had two */
  ambiguous_rates: number[] | null
  /** whether templates and sampling rates are those of a source port: two exporters behind the address announced different templates with one id */
  by_port: Generated<boolean>
  /** the longest flow of the last batch that had flows of 90 s or more */
  longest_flow_seconds: number | null
  /** when that batch was received */
  longest_flow_seen: Date | null
}

/** as flow_samplings, of exporters that share their address */
export interface FlowPortSamplingsTable {
  exporter: string
  port: number
  version: number
  domain: number
  sampler: number
  in_if: number
  rate: number
  updated: Generated<Date>
}

/** as flow_templates, of exporters that share their address */
export interface FlowPortTemplatesTable {
  exporter: string
  port: number
  version: number
  domain: number
  id: number
  /** number of scope fields of an options template, which come first; else 0 */
  scopes: number
  /** enterprise, element and length of each */
  fields: Json
  updated: Generated<Date>
}

/** sampling rates that exporters announced, of a sampler, an interface, or the domain if both are 0 */
export interface FlowSamplingsTable {
  exporter: string
  version: number
  domain: number
  sampler: number
  in_if: number
  rate: number
  updated: Generated<Date>
}

/** newest templates of NetFlow 9 (version 9) and IPFIX (10) */
export interface FlowTemplatesTable {
  exporter: string
  version: number
  domain: number
  id: number
  /** number of scope fields of an options template, which come first; else 0 */
  scopes: number
  /** enterprise, element and length of each */
  fields: Json
  updated: Generated<Date>
}

/** interfaces in flows that the inventory does not know */
export interface FlowUnknownInterfacesTable {
  exporter_id: number
  if_index: number
  first_seen: Generated<Date>
  last_seen: Generated<Date>
}

export interface FormerHoldingsTable {
  id: GeneratedAlways<number>
  team_id: number
  prefix: string
  held_from: Date
  held_until: Date
}

export interface FormerMembersTable {
  team_id: number
  user_id: number
  removed: Generated<Date>
  /** the platform file and SCIM bring back whom they took away, and nobody else */
  ended_by: Generated<string>
}

/** interfaces and LAGs that a port had; the first ones hold from the beginning */
export interface FormerPortFactsTable {
  port_id: number
  valid: string
  interface_id: number
  /** the port of the LAG of which it was a member */
  lag_port_id: number | null
  speed_bps: number | null
  /** size of the counters */
  bits: number | null
}

/** billing terms that a service had; the first ones hold from the beginning */
export interface FormerServiceTermsTable {
  service_id: number
  valid: string
  commit_bps: number | null
  method: string
  direction: string
  scope: string
  timezone: string
  commit_scope: Generated<string>
  day: Generated<number>
  included_octets: number | null
  prices: NullableJson
  pool_id: number | null
}

/** routers that a region no longer has; a row is deleted once the router was read empty twice, or staff say that it is gone */
export interface FormerSpeakersTable {
  id: GeneratedAlways<number>
  region_id: number
  name: string
  settings: Json
  /** kind of the driver with the address and the owner: two speakers with the same identity have the same routes */
  identity: string
  since: Generated<Date>
  /** at the last successful check; before the first one, the prefixes that it may have */
  prefixes: string[]
  last_check: Date | null
  last_error: string | null
}

/** a day (UTC) of a gauge; today's row is updated in place */
export interface GaugeDaysTable {
  gauge_id: number
  day: string
  /** the value in each 5 minutes, 288 of them; null after 90 days */
  slots: number[] | null
  /** as the three others: null until the day is over; of values that are light, not darkness */
  median: number | null
  least: number | null
  greatest: number | null
  /** number of values */
  samples: number | null
}

/** measured on a device or one of its modules; the last value */
export interface GaugesTable {
  id: GeneratedAlways<number>
  device_id: number
  transceiver_id: number | null
  /** cpu, memory, loss: percent; temperature: degrees Celsius; fan: rpm; power: W; latency: ms; uptime: s; rx_power, tx_power: dBm; bias: mA; voltage: V */
  metric: string
  /** of a module, from 1; 0: the module or the device itself */
  lane: Generated<number>
  /** part of the device, such as `CPU 1`; empty for the device */
  part: Generated<string>
  value: number
  at: Generated<Date>
  /** alarmLow, warnLow, warnHigh and alarmHigh, as the module states them */
  limits: NullableJson
}

export interface IdempotencyKeysTable {
  /** null for the key of a staff token */
  team_id: number | null
  credential: string
  key: string
  request_hash: Buffer
  status: number
  /** the body of the answer with its fields in order; null if it has none */
  body: NullableJson
  etag: string | null
  created: Generated<Date>
}

export type IdentityProvidersStatus = 'draft' | 'active' | 'disabled'

export type IdentityProvidersSecondFactor = 'claim' | 'local' | 'trust'

export interface IdentityProvidersTable {
  id: GeneratedAlways<number>
  /** random, in the redirect URI: customers cannot be counted */
  key: string
  team_id: number
  kind: string
  name: string
  status: Generated<IdentityProvidersStatus>
  /** of the driver: issuer, client id, names of claims */
  settings: Json
  /** client secret, AES-256-GCM under a key derived from the secret; null for SAML, which has none */
  secret_sealed: Buffer | null
  /** lifetime of a proof, which a refresh does not extend */
  session_hours: Generated<number>
  second_factor: Generated<IdentityProvidersSecondFactor>
  /** of people whom no mapping names; empty: they are refused */
  default_roles: Generated<string[]>
  /** when a test last ended in roles */
  tested: Date | null
  /** since when it does not answer; null if the last attempt reached it */
  unreachable: Date | null
  created: Generated<Date>
  version: Generated<number>
  /** when its admins were last told that it does not answer: once for each outage */
  problem_mailed: Date | null
}

/** incidents that messages have reported, as the last one of each did */
export interface IncidentReportsTable {
  team_id: number
  incident_id: string
  start_at: Date
  end_at: Date | null
  affected_bps: number
  affected_pps: number
  event_count: number
  sources: string[]
  reported: Generated<Date>
}

/** one row */
export interface InstallationTable {
  key: Generated<string>
  uuid: string | null
  /** of the cluster, from pg_control_system(): an unsigned number of 64 bits */
  system_identifier: string | null
  database_oid: number | null
  timeline: number | null
  /** the oldest release that may run, such as 0.3.0: raised by pharos migrate --finish; null: any release before the first one that had phases */
  schema_floor: string | null
  /** ids of keys of sealed values, in hexadecimal, whose loss the operator has accepted */
  lost_keys: Generated<string[]>
}

/** the last reading of the counters of each interface that is a port */
export interface InterfaceCountersTable {
  interface_id: number
  /** the reading; counters are texts, since they exceed 2^53 */
  state: Json
  /** the minute that is not over yet */
  open: NullableJson
  /** of the interface at the reading, as the type: another one means another interface */
  mac: string | null
  type: number
  /** why the last increase that was dropped is unknown */
  dropped: string | null
  dropped_at: Date | null
  /** state and open minute before a last reading that does not fit; counting goes on from there if the next one fits */
  held: NullableJson
}

export type InterfaceLogKind = 'oper' | 'admin' | 'speed' | 'module'

/** changes of interfaces that polls and surveys have found */
export interface InterfaceLogTable {
  id: GeneratedAlways<number>
  interface_id: number
  at: Generated<Date>
  kind: InterfaceLogKind
  before: string
  after: string
}

export interface InterfacesTable {
  id: GeneratedAlways<number>
  device_id: number
  /** its name, or its description; with # and the index if that is not unique on the device */
  key: string
  /** number on the device, which a restart may change */
  if_index: number
  name: string
  alias: Generated<string>
  /** IANAifType */
  type: number
  mtu: number | null
  mac: string | null
  /** ifAdminStatus of RFC 2863 */
  admin: Generated<string>
  /** ifOperStatus of RFC 2863 */
  oper: Generated<string>
  speed_bps: number | null
  lag_id: number | null
  addresses: Generated<string[]>
  last_change: Date | null
  seen: Generated<Date>
  /** surveys since the device listed it; from 3 on it is gone */
  missing_surveys: Generated<number>
  /** as the others: since the device has started; null if it does not count them */
  in_errors: number | null
  out_errors: number | null
  in_discards: number | null
  out_discards: number | null
}

/** last run of each import; no row before the first one */
export interface InventoryImportsTable {
  source: string
  attempted: Date
  succeeded: Date | null
  /** of the last run; null if it succeeded */
  error: string | null
}

export interface InvitationsTable {
  /** of one sequence with memberships: the member keeps it */
  id: Generated<number>
  team_id: number
  email: string
  is_admin: Generated<boolean>
  /** of the token in the newest mail; those before it are dead */
  token_mac: Buffer
  invited_by: number | null
  /** who may withdraw it by leaving: user:7 or token:... */
  inviter: string
  /** as the mail said it */
  inviter_name: string
  version: Generated<number>
  created: Generated<Date>
  /** when the newest mail was */
  sent: Generated<Date>
  expires: Date
  /** kept until it expires, so that a link that is followed twice answers twice */
  accepted: Date | null
  accepted_by: number | null
  account_created: Generated<boolean>
  /** admin or others; is_admin agrees */
  roles: string[]
}

export interface LetterAnnouncementsTable {
  letter_id: number
  announcement_id: number
  team_id: number
  /** a newer letter was uploaded for it before this one was decided */
  replaced: Generated<boolean>
  /** of the announcement at the upload: the letter does not authorize another one */
  origin_asn: number
}

export interface LetterFilesTable {
  letter_id: number
  team_id: number
  content: Buffer
}

export type LettersMediaType = 'application/pdf' | 'image/png' | 'image/jpeg'

export type LettersStatus = 'pending_review' | 'accepted' | 'rejected'

export interface LettersTable {
  id: GeneratedAlways<number>
  team_id: number
  filename: string
  media_type: LettersMediaType
  size: number
  sha256: Buffer
  status: Generated<LettersStatus>
  reason: string | null
  valid_until: Date | null
  uploaded: Generated<Date>
  uploaded_by: string
  reviewed: Date | null
  /** actor; null also if it was accepted without a person */
  reviewed_by: string | null
  /** the newer letter, where every announcement of a pending one has a newer one; the API then calls it rejected */
  replaced_by: number | null
  /** null for files that were uploaded before pages were counted */
  pages: number | null
}

export type LocationsManagedBy = 'platform' | 'netbox'

export interface LocationsTable {
  key: string
  name: string
  country: string
  /** IANA name, such as Europe/Amsterdam */
  timezone: string
  /** the source that creates, changes and deletes the row, as for devices, ports and services */
  managed_by: Generated<LocationsManagedBy>
}

export type MailTokensPurpose = 'confirm-email' | 'password-reset'

/** tokens that were sent by mail and may still be used */
export interface MailTokensTable {
  id: string
  user_id: number
  purpose: MailTokensPurpose
  secret_mac: Buffer
  /** where it was sent: whoever has the token reads that address */
  email: string
  /** account_state() of the user when it was made */
  account_state: Buffer
  created: Generated<Date>
  expires: Date
}

export interface MailsTable {
  id: GeneratedAlways<number>
  /** whose business it is about; null where it is about the account of a user */
  team_id: number | null
  recipient: string
  template: string
  /** what the template is filled with: links that work once are in it; gone when it was sent or given up */
  content_sealed: Buffer | null
  created: Generated<Date>
  /** when it is tried next; while it is being sent, when somebody else may try */
  due: Generated<Date>
  attempts: Generated<number>
  sent: Date | null
  /** when it was given up */
  failed: Date | null
  /** what the last attempt met; never what the mail says */
  error: string | null
  /** the user to whom a mail of notifications is; null for other mails */
  user_id: number | null
}

export type MembershipsManagedBy = 'operator' | 'team'

export type MembershipsRolesSource = 'manual' | 'provider' | 'scim'

export interface MembershipsTable {
  team_id: number
  user_id: number
  is_admin: Generated<boolean>
  joined: Generated<Date>
  /** of one sequence with invitations */
  id: Generated<number>
  invited_by: number | null
  /** raised by every change; the ETag */
  version: Generated<number>
  /** who decided last that there is this member, and in which role */
  managed_by: Generated<MembershipsManagedBy>
  /** admin or others; is_admin agrees */
  roles: string[]
  /** who decides on the roles: an admin of the team, or a provider of identities */
  roles_source: Generated<MembershipsRolesSource>
}

export type MigrationsPhase = 'expand' | 'contract'

export interface MigrationsTable {
  number: number
  file: string
  sha256: string
  applied: Generated<Date>
  phase: MigrationsPhase | null
  runs_with: string | null
}

export type MonthlyReportsOutcome = 'mailed' | 'no_data' | 'no_subscribers'

/** mails of monthly reports: the row is the claim, so that a team gets each month once */
export interface MonthlyReportsTable {
  team_id: number
  /** such as 2026-03, in the time zone of the team */
  month: string
  created: Generated<Date>
  /** when another process may try again, while there is no outcome */
  due: Date
  /** distinguishes a claim from a later one */
  attempts: Generated<number>
  outcome: MonthlyReportsOutcome | null
  /** the attachment of the mails, until they are sent */
  pdf: Buffer | null
}

export interface NotificationMailingsTable {
  user_id: number
  team_id: number | null
  /** when the next mail is composed; null if nothing waits */
  due: Date | null
  /** when the last mail was queued */
  last: Date | null
}

export interface NotificationPositionTable {
  xid: string
  id: number
  /** nothing that happened earlier is reported */
  since: Date
}

export type NotificationSettingsDigest = 'immediate' | 'hourly' | 'daily'

export interface NotificationSettingsTable {
  user_id: number
  team_id: number | null
  mail: boolean
  digest: NotificationSettingsDigest
  attack_bps: number | null
  attack_pps: number | null
  /** for each kind, whether it is mailed; the default applies to a kind that is missing */
  kinds: Json
  /** whether the user gets the monthly report of the team by mail */
  monthly_report: Generated<boolean>
}

export type NotificationsMail = 'none' | 'waiting' | 'queued'

export interface NotificationsTable {
  id: GeneratedAlways<number>
  user_id: number
  team_id: number | null
  kind: string
  /** identifies the thing within the kind: a user gets one notification about it */
  key: string
  at: Date
  attrs: Json
  read: Date | null
  /** waiting: it is in no mail yet; queued: a mail with it was queued */
  mail: Generated<NotificationsMail>
}

/** last status sent to the team, of announcements whose stored status was not shown at the time; empty while every router can be read */
export interface NotifiedStatusesTable {
  announcement_id: number
  team_id: number
  status: string
}

export interface OutboxTable {
  id: GeneratedAlways<number>
  /** null: a message to the operator */
  team_id: number | null
  type: string
  at: Generated<Date>
  data: Json
  /** the transaction in which it happened; rows become visible in no order, and are read in this one */
  xid: Generated<string>
  /** the only user whose stream gets the message; null: every reader of the team */
  user_id: number | null
}

export interface PasskeysTable {
  id: GeneratedAlways<number>
  user_id: number
  /** base64url, as browsers send it */
  credential_id: string
  /** COSE key (RFC 9052) */
  public_key: Buffer
  /** signature counter of the last use; 0 for ever if the authenticator has none */
  counter: number
  transports: string[]
  backed_up: boolean
  aaguid: string
  /** host of public_url when it was added: browsers offer it for this host only */
  relying_party: string
  name: string
  created: Generated<Date>
  last_used: Date | null
  version: Generated<number>
}

export type PlatformOwnersManagedBy = 'platform' | 'portal'

/** who manages an element; without a row it is a platform file of an unknown name */
export interface PlatformOwnersTable {
  kind: string
  /** id of the row in the table of the kind, as in the targets of the audit log */
  row_id: string
  managed_by: PlatformOwnersManagedBy
  /** platform file that named the element last; null for the portal and for documents over HTTP */
  file: string | null
  applied: Generated<Date>
}

/** the service, and so the team, that a port belongs to, from when until when */
export interface PortAssignmentsTable {
  id: GeneratedAlways<number>
  port_id: number
  /** null: the service was deleted; its team keeps the usage */
  service_id: number | null
  team_id: number
  valid: string
}

/** by buckets of 5 minutes; a row of 0 at midnight of UTC: flows of the port were received on that day */
export interface PortAttackOctetsTable {
  team_id: number
  port_id: number
  bucket: Date
  /** towards targets of events that the team had, while they lasted; estimated from sampled flows */
  octets: number
}

/** a past day (UTC) of a port: one element for each bucket of `seconds` */
export interface PortDaysTable {
  port_id: number
  seconds: number
  day: string
  /** null, as the others: nothing was measured */
  covered_ms: number[]
  octets_in: number[]
  octets_out: number[]
  packets_in: number[]
  packets_out: number[]
  errors_in: number[]
  errors_out: number[]
  discards_in: number[]
  discards_out: number[]
}

/** what a port counted in each minute of the last two days; in and out as the device sees them */
export interface PortSamplesTable {
  port_id: number
  minute: Date
  /** the part of the minute that was measured */
  covered_ms: number
  /** null, as the others: the device has no such counter */
  octets_in: number | null
  octets_out: number | null
  packets_in: number | null
  packets_out: number | null
  errors_in: number | null
  errors_out: number | null
  discards_in: number | null
  discards_out: number | null
}

export type PortsManagedBy = 'platform' | 'netbox'

/** interfaces that are sold */
export interface PortsTable {
  id: GeneratedAlways<number>
  circuit_id: string
  name: string
  device_id: number | null
  /** key of the interface on the device, which need not exist yet */
  interface_key: string
  interface_id: number | null
  media: Generated<string>
  /** as sold; null: that of the interface */
  speed_bps: number | null
  description: Generated<string>
  /** panel, module and position of the patch panel of the provider */
  panel: Generated<string>
  module: Generated<string>
  position: Generated<string>
  external_ref: Generated<string>
  managed_by: Generated<PortsManagedBy>
  created: Generated<Date>
  /** since when it has its interface; null if neither the port nor the interface had another one before */
  interface_since: Date | null
  /** when it was taken away; it is deleted once its samples are */
  ended: Date | null
  /** neighbors whose sessions belong to it, beside those in the networks of its interface; canonical */
  bgp_peers: Generated<string[]>
}

export interface PrefixesTable {
  id: GeneratedAlways<number>
  team_id: number
  prefix: string
  name: Generated<string>
  location_key: string | null
  /** false until past events have been matched against it */
  matched: Generated<boolean>
  created: Generated<Date>
}

/** running processes; one that ends removes its row, one that is killed leaves it until it has aged */
export interface ProcessesTable {
  id: string
  host: string
  pid: number
  version: string
  roles: string[]
  started: Date
  seen: Date
  /** each loop: name, interval_seconds, last_success or null */
  loops: Json
  /** each source of ROAs or route objects: kind, name, ok, answered or null */
  registries: Json
  flow_store: NullableJson
  /** by how much the clock of the process is ahead of that of the database; null if it has not been compared */
  clock_ms: number | null
}

/** at most one row */
export interface ProviderTable {
  key: string
  name: string
  /** #rrggbb; null: that of the portal */
  accent: string | null
  /** mailto: or https: link */
  support: string | null
  /** SVG */
  logo: string | null
  asn: number | null
}

export interface ProviderMappingsTable {
  provider_id: number
  group_name: string
  roles: string[]
}

export interface RecoveryCodesTable {
  id: GeneratedAlways<number>
  user_id: number
  code_mac: Buffer
  created: Generated<Date>
  used: Date | null
}

/** what the reconciler last saw of each router; for staff */
export interface RegionRoutersTable {
  region_id: number
  name: string
  /** since when its routes are withdrawn, and left to the other routers of the region */
  drained: Date | null
  /** the ASN and next hops with which its routes were last announced */
  applied: NullableJson
  last_check: Date | null
  last_check_result: boolean | null
  last_error: string | null
  routes: number | null
  neighbors: GeneratedJson
  /** router ID and owner at the last check: an address may have several spellings */
  daemon: string | null
  /** for each neighbor and address family the time of its last check, and the routes that it did not receive */
  neighbor_checks: GeneratedJson
  /** epoch of the region in the last full run that read the router */
  read_epoch: number | null
}

/** withdrawals that nobody approved or asked for by name, written before they are sent */
export interface RegionWithdrawalsTable {
  region_id: number
  at: Generated<Date>
  prefix: string
  /** the team whose share it takes */
  counted_for: number | null
}

export interface RegionsTable {
  id: GeneratedAlways<number>
  slug: string
  name: string
  location_key: string
  /** whether teams may announce here */
  open: Generated<boolean>
  /** raised by whoever takes the region's lock: the fence against a reconciler that was paused */
  epoch: Generated<number>
  /** when the announcements were last compared with what the router holds */
  last_check: Date | null
  last_check_result: boolean | null
  last_error: string | null
  /** how each router of the region is reached; the platform file defines the shape */
  speakers: Json
  /** routers that must carry a route before it counts as announced; null: all that are not drained */
  quorum: number | null
  communities: Generated<string[]>
  large_communities: Generated<string[]>
  /** whether a quorum of routers has an established BGP session that carries IPv4 */
  neighbors4: Generated<boolean>
  /** the same for IPv6 */
  neighbors6: Generated<boolean>
  /** how often its reconciler compares it with its router */
  check_interval: Generated<string>
  /** addresses that its edge routers discard, as ipv4 and ipv6; absent: 192.0.2.1 and 100::1 */
  blackhole_next_hop: GeneratedJson
  /** desired routes that the last check found on too few routers, or not advertised by them */
  routes_missing: Generated<number>
}

export type RemovedResourcesMatchResource = 'announcement' | 'prefix' | 'service' | 'port' | 'asn'

export interface RemovedResourcesTable {
  match_resource: RemovedResourcesMatchResource
  match_resource_id: number
  removed: Generated<Date>
}

/** the resources of a limited API token or TSIG key; a row goes with its resource */
export interface ResourceLimitsTable {
  id: GeneratedAlways<number>
  team_id: number
  token_id: string | null
  tsig_key_id: number | null
  zone_id: number | null
  /** patterns relative to the zone; null: all names */
  names: string[] | null
  /** types of record sets; null: all types */
  types: string[] | null
  prefix_id: number | null
  /** the prefix of the team, or a part of it */
  network: string | null
  port_id: number | null
  service_id: number | null
}

export type RestoreItemsArea = 'routes' | 'blackholes' | 'shield' | 'zones' | 'mails' | 'deliveries'

export type RestoreItemsKind = 'add' | 'remove' | 'change' | 'queued'

export type RestoreItemsDecision = 'apply' | 'adopt' | 'discard' | 'send'

/** differences between a restored database and the network */
export interface RestoreItemsTable {
  id: GeneratedAlways<number>
  restore_id: number
  area: RestoreItemsArea
  /** name of the region, scrubber or name server; empty for queues */
  source: string
  subject: string
  kind: RestoreItemsKind
  team_id: number | null
  database: NullableJson
  network: NullableJson
  /** whether the database can take over what the network has */
  adoptable: boolean
  decision: RestoreItemsDecision | null
  decided: Date | null
  decided_by: string | null
  applied: Date | null
}

/** the regions, scrubbers and name servers that were compared with the restored database */
export interface RestoreSourcesTable {
  restore_id: number
  area: string
  name: string
  compared: Date | null
  /** why the last comparison failed; null if it did not */
  problem: string | null
}

export type RestoresReason = 'head_missing' | 'other_database' | 'by_hand'

/** while one is not closed, nothing is sent */
export interface RestoresTable {
  id: GeneratedAlways<number>
  detected: Generated<Date>
  reason: RestoresReason
  /** known_head and found_head of the audit log, and the identity of the database before and after */
  evidence: Json
  sessions_ended: Generated<number>
  closed: Date | null
  closed_by: string | null
}

export interface RevisionsTable {
  name: string
  revision: Generated<number>
}

/** the newest counter sample of each interface that sFlow has sent */
export interface SampledCountersTable {
  device_id: number
  if_index: number
  /** as the agent sent it; empty if it sends none */
  name: string
  received: Date
  /** of the agent, beyond the 32 bits in which it is sent */
  uptime_ms: number
  type: number
  /** 0 if not known */
  speed_bps: number
  is_admin_up: boolean
  is_oper_up: boolean
  /** texts, beyond the 32 bits in which all but octets are sent; null: the agent has no such counter */
  counters: Json
}

/** what a page shows, under a name */
export interface SavedViewsTable {
  id: GeneratedAlways<number>
  team_id: number
  /** whose it is; null: of the team */
  user_id: number | null
  page: string
  name: string
  /** the search part of the address of the page */
  search: Generated<string>
  /** of the overview: its panels in their order */
  panels: GeneratedJson
  created: Generated<Date>
  /** actor; kept after the account is deleted */
  creator: string
  version: Generated<number>
}

export interface ScimGroupsTable {
  id: Generated<string>
  provider_id: number
  team_id: number
  /** compared byte by byte with the groups of provider_mappings, and so is external_id */
  display_name: string
  external_id: string | null
  created: Generated<Date>
  updated: Generated<Date>
  version: Generated<number>
}

export interface ScimMembersTable {
  group_id: string
  scim_user_id: string
  /** of both: a group has users of its own provider only */
  provider_id: number
  team_id: number
}

/** while a provider has one, SCIM decides who is a member, and signing in makes nobody one */
export interface ScimTokensTable {
  /** public part of the token */
  id: string
  provider_id: number
  team_id: number
  /** HMAC-SHA256 with a key derived from the secret */
  secret_mac: Buffer
  /** of the secret before the last rotation, valid until previous_until */
  previous_mac: Buffer | null
  previous_until: Date | null
  allowed_networks: Generated<string[]>
  created: Generated<Date>
  /** updated at most once a minute */
  last_used: Date | null
  last_used_address: string | null
}

export interface ScimUsersTable {
  id: Generated<string>
  provider_id: number
  team_id: number
  /** compared without case, as SCIM defines it */
  user_name: string
  external_id: string | null
  /** canonical */
  email: string
  display_name: string
  given_name: string
  family_name: string
  active: boolean
  /** null: no account belongs to it yet, as without a role */
  user_id: number | null
  /** the membership that SCIM decides on; null: it has made none, or an admin has removed the member */
  member_id: number | null
  created: Generated<Date>
  updated: Generated<Date>
  version: Generated<number>
}

export interface ScrubbersTable {
  id: GeneratedAlways<number>
  name: string
  /** settings of the driver with their kind; paths of key files, never keys */
  driver: Json
  /** it gets the lists of prefixes inside these; empty: all lists */
  prefixes: Generated<string[]>
  /** most installed rules of all lists together */
  rules_max: Generated<number>
  /** raised by whoever takes the scrubber's lock: the fence against a process that was paused */
  epoch: Generated<number>
}

export interface SecondFactorsTable {
  user_id: number
  secret_sealed: Buffer | null
  /** until when the first code may turn it on; null once it is on */
  pending_until: Date | null
  /** the newest time step of which a code was accepted: none up to it is accepted again */
  last_step: Generated<number>
  /** tried since wrong_since, without those that were right; counted for a quarter of an hour */
  wrong_codes: Generated<number>
  wrong_since: Generated<Date>
}

/** programs of a team: their API tokens outlive the member who created them */
export interface ServiceAccountsTable {
  id: GeneratedAlways<number>
  team_id: number
  name: string
  description: Generated<string>
  roles: string[]
  /** its API tokens are refused */
  disabled: Generated<boolean>
  created: Generated<Date>
  creator: Generated<string>
  version: Generated<number>
}

export type ServicesType = 'transit' | 'ddos' | 'byoip' | 'dns' | 'cross_connect' | 'sdwan' | 'wave' | 'colo'

export type ServicesState =
  | 'requested'
  | 'scheduled'
  | 'allocated'
  | 'testing'
  | 'production'
  | 'production_change_pending'
  | 'decommission_requested'
  | 'decommissioned'
  | 'archived'
  | 'cancelled'
  | 'error'
  | 'operator'

export type ServicesBillingMethod = 'p90' | 'p95' | 'p98' | 'average' | 'flat' | 'volume'

export type ServicesBillingDirection = 'in' | 'out' | 'max' | 'max_sample' | 'sum'

export type ServicesBillingScope = 'port' | 'service'

export type ServicesManagedBy = 'platform' | 'netbox'

export type ServicesBillingCommitScope = 'port' | 'service'

export interface ServicesTable {
  id: GeneratedAlways<number>
  team_id: number
  name: string
  type: ServicesType
  /** as in IX-API 2 */
  state: Generated<ServicesState>
  location_key: string | null
  /** committed rate, bits per second */
  commit_bps: number | null
  /** highest rate, bits per second */
  burst_bps: number | null
  start_date: string | null
  end_date: string | null
  /** reference of the customer */
  external_ref: Generated<string>
  billing_ref: Generated<string>
  asn: number | null
  created: Generated<Date>
  /** p90, p95, p98: percentiles of buckets of 5 minutes; average of them; volume: octets; flat: not by traffic */
  billing_method: Generated<ServicesBillingMethod>
  /** as the customer sees it; max: the greater of both figures; max_sample: of the greater direction of each bucket; sum: of both added per bucket */
  billing_direction: Generated<ServicesBillingDirection>
  /** port: each by itself; service: all ports added per bucket */
  billing_scope: Generated<ServicesBillingScope>
  /** IANA name: a month begins at its midnight */
  billing_timezone: Generated<string>
  managed_by: Generated<ServicesManagedBy>
  /** of the commit and the included octets; port: of each, added for a bill; service: of all ports together */
  billing_commit_scope: Generated<ServicesBillingCommitScope>
  /** day of the calendar month on which a month begins */
  billing_day: Generated<number>
  /** of a month, for volume */
  billing_included_octets: number | null
  /** as the API returns it; null: bills have no prices */
  billing_prices: NullableJson
  /** the service of the team that bills its ports; null: itself */
  pool_id: number | null
}

/** a session of the release before has none: it counts as one local proof, strong as sessions.second_factor states */
export interface SessionProofsTable {
  id: Generated<string>
  session_id: string
  /** local: a password or a passkey of the account; provider: an identity provider of a team; recovery: a recovery code of a team; staff: that of staff */
  kind: string
  at: Generated<Date>
  /** null: as long as the session; set for a provider */
  expires: Date | null
  /** whether a second factor was used, or a passkey that verified the user */
  strong: boolean
  provider_id: number | null
  /** of a recovery code: it opens this team, for its admins */
  team_id: number | null
  /** by the groups at the sign-in of staff; null: the roles of the account */
  staff_roles: string[] | null
  /** session at the identity provider (sid), for its back-channel logout; null: it states none */
  idp_session: string | null
}

export interface SessionsTable {
  id: Generated<string>
  user_id: number
  team_id: number
  /** number of the newest refresh token; only its bearer can rotate */
  counter: Generated<number>
  /** when the tokens counter-n .. counter-1 were rotated, oldest first: the last one, and those before it that are repeatable */
  rotations: Generated<Date[]>
  created: Generated<Date>
  last_used: Generated<Date>
  expires: Date
  revoked: Date | null
  revoked_reason: string | null
  address: string | null
  user_agent: string | null
  /** whether a code of the second factor opened it */
  second_factor: Generated<boolean>
  /** for each token of rotations, until when it is repeatable after its grace period was renewed; null if it was not */
  renewed_until: Generated<Date[]>
  /** from where it was last refreshed, or else opened */
  last_address: string | null
  /** by which user agent it was last refreshed, or else opened */
  last_user_agent: string | null
}

/** one row, once a process has printed a setup code */
export interface SetupTable {
  key: Generated<string>
  /** gives the setup code with the key ring of the installation; the code itself is not stored */
  salt: string | null
  expires: Date | null
  /** when the first account was created: there is no second setup */
  completed: Date | null
  /** when staff hid the list of what is left */
  dismissed: Date | null
}

export interface ShieldHitsTable {
  rule_id: number
  scrubber: string
  list_id: number
  team_id: number
  /** of counters that began again at 0, for example after a restart of the scrubber */
  packets_before: Generated<number>
  bytes_before: Generated<number>
  packets: Generated<number>
  bytes: Generated<number>
  last_hit: Date | null
}

export type ShieldInstallsState = 'pending' | 'active' | 'rejected' | 'held' | 'unreachable'

/** what a scrubber holds of a list, as it was last read back */
export interface ShieldInstallsTable {
  list_id: number
  team_id: number
  scrubber: string
  version: number
  state: ShieldInstallsState
  reason: string | null
  reason_attrs: GeneratedJson
  /** by id of the rule: reason and attributes, for rules that differ from the list */
  rules: GeneratedJson
  seen: Generated<Date>
  /** the rules of the list that the scrubber held when it was last read, in their order */
  held: GeneratedJson
  /** rules that the scrubber held of the list when it was last read, added ones included */
  rule_count: Generated<number>
}

export type ShieldListsStatus = 'pending' | 'active' | 'error'

export interface ShieldListsTable {
  id: GeneratedAlways<number>
  team_id: number
  prefix: string
  version: Generated<number>
  /** the version that is restored at confirm_by: the last one that was confirmed */
  previous_version: number | null
  confirm_by: Date | null
  /** observed at the scrubbers, for the newest version */
  status: Generated<ShieldListsStatus>
  /** code of contract/src/shield-reason.ts */
  reason: string | null
  reason_attrs: GeneratedJson
  created: Generated<Date>
  modified: Generated<Date>
}

export type ShieldRulesAction = 'allow' | 'deny' | 'rate_limit'

export type ShieldRulesStatus = 'pending' | 'active' | 'rejected' | 'expired'

/** the rules of the newest version of each list */
export interface ShieldRulesTable {
  id: Generated<number>
  list_id: number
  team_id: number
  sequence: number
  enabled: boolean
  action: ShieldRulesAction
  /** the conditions as in the API */
  match: Json
  rate_bps: number | null
  rate_pps: number | null
  comment: Generated<string>
  expires: Date | null
  status: Generated<ShieldRulesStatus>
  reason: string | null
  reason_attrs: GeneratedJson
  created: Generated<Date>
  modified: Generated<Date>
}

export type ShieldVersionsCause = 'put' | 'revert' | 'former_holder'

/** every version of a list as it was stored; never changed */
export interface ShieldVersionsTable {
  list_id: number
  version: number
  team_id: number
  /** the rules with their ids, in order */
  rules: Json
  cause: ShieldVersionsCause
  actor: string
  /** the team asked for it although it drops normal traffic */
  forced: Generated<boolean>
  created: Generated<Date>
}

export interface SignInFailuresTable {
  /** of the address in lower case, whether or not there is such an account */
  account_mac: Buffer
  /** a network from which the account signed in lately, or `elsewhere` for all others together */
  origin: string
  /** attempts that did not succeed, those among them that are under way */
  failures: number
  /** when the latest attempt began */
  latest: Date
}

export interface SigningKeysTable {
  kid: string
  public_jwk: Json
  /** PKCS #8, AES-256-GCM under a key derived from the secret */
  private_key_sealed: Buffer
  created: Generated<Date>
  active_from: Date
  /** when it leaves the JWKS: its last access token has expired by then */
  retires: Date
}

export interface SourcesTable {
  key: string
  kind: string
  name: string
  secret_mac: Buffer
  settings: GeneratedJson
  created: Generated<Date>
}

/** assertions of SAML that were used, until they expire: each counts once */
export interface SsoAssertionsTable {
  provider_id: number
  /** SHA-256 of the id, which the identity provider chooses */
  assertion_hash: Buffer
  expires: Date
}

/** failed sign-ins, the last 50 of each provider */
export interface SsoAttemptsTable {
  id: GeneratedAlways<number>
  provider_id: number
  at: Generated<Date>
  reason: string
  /** names of the claims, no values */
  claims: string[]
  request_id: string
}

/** when staff were in the team of a customer, and why; it counts only in its session, and only while the user is staff */
export interface StaffAccessesTable {
  id: GeneratedAlways<number>
  team_id: number
  user_id: number | null
  session_id: string | null
  reason: string
  /** number of a ticket of the provider */
  ticket: string | null
  /** whether operations that change something are allowed */
  change: boolean
  opened: Generated<Date>
  expires: Date
  /** when it was closed, or replaced by another one */
  closed: Date | null
}

export type StaffSignInSecondFactor = 'claim' | 'trust'

/** one row at most: the element of the platform file */
export interface StaffSignInTable {
  key: string
  issuer: string
  client_id: string
  /** client secret, AES-256-GCM under a key derived from the secret */
  secret_sealed: Buffer
  domains: string[]
  /** staff roles by group; empty: the roles of the account */
  groups: Json
  groups_claim: string
  acr: string | null
  second_factor: StaffSignInSecondFactor
  /** rights of staff need a sign-in with it */
  required: boolean
  /** addresses of accounts for the time when it does not answer: they need a second factor */
  break_glass: string[]
}

export interface StaffTokensTable {
  id: string
  name: string
  secret_mac: Buffer
  scopes: string[]
  /** networks from which it can be used; empty: from everywhere */
  allowed_networks: Generated<string[]>
  created: Generated<Date>
  expires: Date
  /** updated at most once a minute */
  last_used: Date | null
  last_used_address: string | null
  revoked: Date | null
}

export type TeamEventCountsMeasure = 'all' | 'start' | 'start_block' | 'end' | 'end_block' | 'bps' | 'pps'

export interface TeamEventCountsTable {
  team_id: number
  /** team_event_facets.id; 0: of all facets together */
  facet: number
  measure: TeamEventCountsMeasure
  /** start, end: days since 1970 in UTC (2147483647: not ended); start_block, end_block: blocks of 64 days; bps, pps: rate_bucket(); all: 0 */
  bucket: number
  events: number
}

export interface TeamEventFacetsTable {
  id: GeneratedAlways<number>
  team_id: number
  /** a bit for each flag, in the order of the contract */
  flags: number
  /** a bit for each status, in the order of the contract */
  status: number
  classification_key: string
  source_key: string
  /** in lower case, U+0001 in place of the affected network; null: varies, see team_events.description */
  description: string | null
}

/** written by analysis/event-rollup.store.ts */
export interface TeamEventHoursTable {
  team_id: number
  /** length; quarters are for time zones whose hours begin at a quarter of an hour of UTC */
  minutes: number
  /** when it begins */
  at: Date
  classification_key: string
  started: number
  ended: number
  /** of events that have ended and overlap it; null: none. Events of more than a day, of blocks 30 days, are only in the rows in which they started and ended */
  max_bps: number | null
  max_pps: number | null
}

export interface TeamEventsTable {
  /** 0: the event concerns no team */
  team_id: number
  event_id: string
  start_at: Date
  end_at: Date | null
  /** it lasted at most 2^span seconds; 99 while it is not over */
  span: Generated<number>
  affected_bps: number
  affected_pps: number
  /** a bit for each flag, in the order of the contract */
  flags: number
  affected_network: string | null
  classification_key: string
  /** in lower case, for searching; at most 500 characters, or the index would not take it */
  description: string
  /** JSON object without its closing brace, for the list and for the detail */
  record: string
  /** JSON array */
  relationships: string
  /** JSON, the team's part; null: the team holds all networks of the event, and events.parsed_data is shown */
  parsed_data: string | null
  /** team_event_facets.id */
  facet: number
  /** the event that its incident has its id of; null: the event itself */
  incident: string | null
}

/** for admins while the identity provider of the team does not answer; new codes replace the old ones */
export interface TeamRecoveryCodesTable {
  id: GeneratedAlways<number>
  team_id: number
  /** HMAC-SHA256 with a key derived from the secret, bound to the team */
  code_mac: Buffer
  created: Generated<Date>
  used: Date | null
}

export interface TeamsTable {
  id: GeneratedAlways<number>
  slug: string
  name: string
  enable_sdwan: Generated<boolean>
  enable_dns: Generated<boolean>
  enabled_modules: Generated<string[]>
  created: Generated<Date>
  require_2fa: Generated<boolean>
  description: Generated<string>
  billing_email: Generated<string>
  technical_email: Generated<string>
  abuse_email: Generated<string>
  noc_phone: Generated<string>
  country: Generated<string>
  /** IANA name, such as Europe/Amsterdam */
  timezone: Generated<string>
  /** raised by every change; the ETag */
  version: Generated<number>
  /** when the team last named itself; null while the name is the operator's */
  renamed: Date | null
  /** of members who join by a domain, and of is_admin false in requests */
  default_roles: Generated<string[]>
  /** longest time in days until a new API token expires; null: no limit, and tokens may never expire */
  token_days_max: number | null
  /** required_domain: members with an address in a domain of a provider use it, others a second factor; required: the provider of the team only */
  sign_in_policy: Generated<string>
}

/** pluggable modules; another serial number is another module, with a history of its own */
export interface TransceiversTable {
  id: GeneratedAlways<number>
  interface_id: number
  vendor: Generated<string>
  part: Generated<string>
  serial: Generated<string>
  type: Generated<string>
  wavelength_nm: number | null
  reach_m: number | null
  connector: Generated<string>
  lanes: Generated<number>
  /** reports light levels (digital diagnostic monitoring) */
  has_ddm: boolean
  /** in the interface at the last survey */
  is_present: Generated<boolean>
  /** first survey that found it */
  inserted: Generated<Date>
  seen: Generated<Date>
  /** the last day that the rules of early warning have read */
  warned_day: string | null
  /** for each lane, the states of the rules */
  warnings: GeneratedJson
  /** one of the states is raised */
  has_warning: Generated<boolean>
}

/** accounts without a team, which are deleted after a time */
export interface UnusedAccountsTable {
  user_id: number
  /** when it was first seen without a team, or used after that */
  since: Generated<Date>
  /** when the user was told that the account will be deleted */
  mailed: Date | null
}

export interface UsedChallengesTable {
  nonce: string
  expires: Date
}

/** it counts while the domain of its address is verified for the team and bound to the provider */
export interface UserIdentitiesTable {
  id: GeneratedAlways<number>
  provider_id: number
  /** compared byte by byte */
  subject: string
  user_id: number
  email: string
  linked: Generated<Date>
  last_used: Date | null
}

export type UsersManagedBy = 'operator' | 'team'

export interface UsersTable {
  id: GeneratedAlways<number>
  email: string
  email_confirmed: Date | null
  /** null: the account signs in with an identity provider only */
  password_hash: string | null
  username: string
  first_name: Generated<string>
  last_name: Generated<string>
  display_name: Generated<string>
  avatar_url: Generated<string>
  country: Generated<string>
  is_staff: Generated<boolean>
  /** an account with a published password: refused on any interface but loopback */
  is_demo: Generated<boolean>
  billing_uuid: Generated<string>
  /** raised to end every access token of the user at once (claim sv) */
  session_version: Generated<number>
  created: Generated<Date>
  /** when the user last chose it; null while it is the one that the platform file gave, which then counts no more */
  password_chosen: Date | null
  /** since when signing in needs a code of the second factor; null while it does not */
  totp_enabled: Date | null
  /** whether the operator made the account, or a team by an invitation */
  managed_by: Generated<UsersManagedBy>
  /** reader, billing, noc or admin; null without staff, and of staff whom the release before made: they are admin */
  staff_roles: string[] | null
  /** since when the account has a passkey; null while it has none */
  passkey_added: Date | null
}

/** the configured sources of visibility, as the process that follows them last saw them */
export interface VisibilitySourcesTable {
  /** the URL without credentials; for operators */
  name: string
  label: string
  position: number
  /** whether the summaries are from this source, and it has current data */
  is_used: Generated<boolean>
  /** time of its data */
  as_of: Date | null
  /** why it has no current data; null if it has */
  problem: string | null
  /** when the following process last wrote this row; if that is long ago, no process follows */
  checked: Date
}

export type WebhookDeliveriesState = 'pending' | 'delivered' | 'failed' | 'cancelled'

export interface WebhookDeliveriesTable {
  id: GeneratedAlways<number>
  webhook_id: number
  team_id: number | null
  /** the same for all webhooks, and for every attempt */
  message_id: string
  type: string
  /** what is signed and sent, to the byte */
  body: string
  state: Generated<WebhookDeliveriesState>
  created: Generated<Date>
  /** when it is tried next */
  due: Generated<Date>
  /** how many attempts of the schedule were made; begins anew when somebody has it sent again */
  step: Generated<number>
  attempt_count: Generated<number>
  /** the last of them */
  attempts: GeneratedJson
  last_attempt: Date | null
  last_status: number | null
  last_error: string | null
  duration_ms: number | null
}

export type WebhooksDisabledReason = 'user' | 'gone' | 'failing'

export interface WebhooksTable {
  id: GeneratedAlways<number>
  /** null: the webhook of the operator, which the settings define */
  team_id: number | null
  url: string
  description: Generated<string>
  events: string[]
  enabled: Generated<boolean>
  disabled_reason: WebhooksDisabledReason | null
  /** signs; bound to the id of the webhook */
  secret_sealed: Buffer
  former_secret_sealed: Buffer | null
  /** until then the former secret signs too */
  former_secret_until: Date | null
  /** raised by every change that somebody asked for; the ETag */
  version: Generated<number>
  created: Generated<Date>
  created_by: string
  modified: Generated<Date>
  /** when a message was last taken */
  last_delivery: Date | null
  /** when the first of the failures in a row was; null after a success */
  failing_since: Date | null
  failures: Generated<number>
  /** nothing is sent before: it did not answer, or asked for a pause */
  resting_until: Date | null
  /** raised by whoever sends: what an earlier one has to say no longer counts */
  claim: Generated<number>
  /** somebody sends, or was killed while he did */
  claimed_until: Date | null
}

export interface Schema {
  alert_firings: AlertFiringsTable
  alert_rules: AlertRulesTable
  announcement_heard: AnnouncementHeardTable
  announcement_history: AnnouncementHistoryTable
  announcement_proofs: AnnouncementProofsTable
  announcement_regions: AnnouncementRegionsTable
  announcement_validations: AnnouncementValidationsTable
  announcement_visibility: AnnouncementVisibilityTable
  announcements: AnnouncementsTable
  api_tokens: ApiTokensTable
  approvals: ApprovalsTable
  as_names: AsNamesTable
  asn_proofs: AsnProofsTable
  asns: AsnsTable
  attachments: AttachmentsTable
  audit_addresses: AuditAddressesTable
  audit_entries: AuditEntriesTable
  audit_seals: AuditSealsTable
  audit_unsealed: AuditUnsealedTable
  auth_flows: AuthFlowsTable
  bgp_sessions: BgpSessionsTable
  billing_periods: BillingPeriodsTable
  billing_samples: BillingSamplesTable
  blackhole_regions: BlackholeRegionsTable
  blackholes: BlackholesTable
  cross_connect_log: CrossConnectLogTable
  cross_connects: CrossConnectsTable
  default_limits: DefaultLimitsTable
  deliveries: DeliveriesTable
  delivery_ids: DeliveryIdsTable
  detector_attacks: DetectorAttacksTable
  detector_outgoing_attacks: DetectorOutgoingAttacksTable
  detector_rates: DetectorRatesTable
  detector_thresholds: DetectorThresholdsTable
  device_credentials: DeviceCredentialsTable
  device_states: DeviceStatesTable
  devices: DevicesTable
  dns_aliases: DnsAliasesTable
  dns_blocks: DnsBlocksTable
  dns_defaults: DnsDefaultsTable
  dns_delegations: DnsDelegationsTable
  dns_keys: DnsKeysTable
  dns_ptr_templates: DnsPtrTemplatesTable
  dns_recordsets: DnsRecordsetsTable
  dns_secondaries: DnsSecondariesTable
  dns_served: DnsServedTable
  dns_server_zones: DnsServerZonesTable
  dns_servers: DnsServersTable
  dns_transfers: DnsTransfersTable
  dns_tsig_keys: DnsTsigKeysTable
  dns_versions: DnsVersionsTable
  dns_zones: DnsZonesTable
  domains: DomainsTable
  event_comments: EventCommentsTable
  event_flow_files: EventFlowFilesTable
  event_marks: EventMarksTable
  event_networks: EventNetworksTable
  event_relationships: EventRelationshipsTable
  event_reviews: EventReviewsTable
  events: EventsTable
  flow_counter_checks: FlowCounterChecksTable
  flow_delays: FlowDelaysTable
  flow_exporter_settings: FlowExporterSettingsTable
  flow_exporters: FlowExportersTable
  flow_port_samplings: FlowPortSamplingsTable
  flow_port_templates: FlowPortTemplatesTable
  flow_samplings: FlowSamplingsTable
  flow_templates: FlowTemplatesTable
  flow_unknown_interfaces: FlowUnknownInterfacesTable
  former_holdings: FormerHoldingsTable
  former_members: FormerMembersTable
  former_port_facts: FormerPortFactsTable
  former_service_terms: FormerServiceTermsTable
  former_speakers: FormerSpeakersTable
  gauge_days: GaugeDaysTable
  gauges: GaugesTable
  idempotency_keys: IdempotencyKeysTable
  identity_providers: IdentityProvidersTable
  incident_reports: IncidentReportsTable
  installation: InstallationTable
  interface_counters: InterfaceCountersTable
  interface_log: InterfaceLogTable
  interfaces: InterfacesTable
  inventory_imports: InventoryImportsTable
  invitations: InvitationsTable
  letter_announcements: LetterAnnouncementsTable
  letter_files: LetterFilesTable
  letters: LettersTable
  locations: LocationsTable
  mail_tokens: MailTokensTable
  mails: MailsTable
  memberships: MembershipsTable
  migrations: MigrationsTable
  monthly_reports: MonthlyReportsTable
  notification_mailings: NotificationMailingsTable
  notification_position: NotificationPositionTable
  notification_settings: NotificationSettingsTable
  notifications: NotificationsTable
  notified_statuses: NotifiedStatusesTable
  outbox: OutboxTable
  passkeys: PasskeysTable
  platform_owners: PlatformOwnersTable
  port_assignments: PortAssignmentsTable
  port_attack_octets: PortAttackOctetsTable
  port_days: PortDaysTable
  port_samples: PortSamplesTable
  ports: PortsTable
  prefixes: PrefixesTable
  processes: ProcessesTable
  provider: ProviderTable
  provider_mappings: ProviderMappingsTable
  recovery_codes: RecoveryCodesTable
  region_routers: RegionRoutersTable
  region_withdrawals: RegionWithdrawalsTable
  regions: RegionsTable
  removed_resources: RemovedResourcesTable
  resource_limits: ResourceLimitsTable
  restore_items: RestoreItemsTable
  restore_sources: RestoreSourcesTable
  restores: RestoresTable
  revisions: RevisionsTable
  sampled_counters: SampledCountersTable
  saved_views: SavedViewsTable
  scim_groups: ScimGroupsTable
  scim_members: ScimMembersTable
  scim_tokens: ScimTokensTable
  scim_users: ScimUsersTable
  scrubbers: ScrubbersTable
  second_factors: SecondFactorsTable
  service_accounts: ServiceAccountsTable
  services: ServicesTable
  session_proofs: SessionProofsTable
  sessions: SessionsTable
  setup: SetupTable
  shield_hits: ShieldHitsTable
  shield_installs: ShieldInstallsTable
  shield_lists: ShieldListsTable
  shield_rules: ShieldRulesTable
  shield_versions: ShieldVersionsTable
  sign_in_failures: SignInFailuresTable
  signing_keys: SigningKeysTable
  sources: SourcesTable
  sso_assertions: SsoAssertionsTable
  sso_attempts: SsoAttemptsTable
  staff_accesses: StaffAccessesTable
  staff_sign_in: StaffSignInTable
  staff_tokens: StaffTokensTable
  team_event_counts: TeamEventCountsTable
  team_event_facets: TeamEventFacetsTable
  team_event_hours: TeamEventHoursTable
  team_events: TeamEventsTable
  team_recovery_codes: TeamRecoveryCodesTable
  teams: TeamsTable
  transceivers: TransceiversTable
  unused_accounts: UnusedAccountsTable
  used_challenges: UsedChallengesTable
  user_identities: UserIdentitiesTable
  users: UsersTable
  visibility_sources: VisibilitySourcesTable
  webhook_deliveries: WebhookDeliveriesTable
  webhooks: WebhooksTable
}
