// The settings of the process in one schema: name, type, limits, default and description. The environment variable of a
// setting, its line in pharos.yaml, the table in docs/operating/settings.md and the type Config are derived from it.
// Regions, teams and sources are not settings: they are in the platform file.
import { Type, type Static } from 'typebox'
import { authorizationKinds } from '@pharos/contract/byoip/announcement-checks'
import { describeExpected } from '../text/schema-error.ts'

type Meaning = { readonly description: string; readonly secret?: true }

const TextSetting = (byDefault: string, meaning: Meaning) =>
  Type.String({ default: byDefault, minLength: 1, ...meaning })

const OptionalText = (meaning: Meaning) =>
  Type.Union([Type.String({ minLength: 1 }), Type.Null()], { default: null, expects: 'a text', ...meaning })

const IntegerSetting = (byDefault: number, minimum: number, maximum: number, meaning: Meaning) =>
  Type.Integer({ default: byDefault, minimum, maximum, ...meaning })

const OptionalInteger = (minimum: number, maximum: number, meaning: Meaning) =>
  Type.Union([Type.Integer({ minimum, maximum }), Type.Null()], {
    default: null,
    expects: `a whole number from ${minimum} to ${maximum}`,
    ...meaning,
  })

const BooleanSetting = (byDefault: boolean, meaning: Meaning) =>
  Type.Boolean({ default: byDefault, ...meaning })

const EnumSetting = <const W extends readonly string[]>(byDefault: W[number], values: W, meaning: Meaning) =>
  Type.Enum(values, { default: byDefault, ...meaning })

const EnumListSetting = <const W extends readonly string[]>(
  byDefault: W[number][],
  values: W,
  meaning: Meaning,
) =>
  Type.Array(Type.Unsafe<W[number]>(Type.Enum(values)), {
    default: byDefault,
    minItems: 1,
    uniqueItems: true,
    ...meaning,
  })

const NetworkList = (byDefault: readonly string[], meaning: Meaning) =>
  Type.Array(Type.String({ minLength: 1, 'x-network': true }), {
    default: byDefault,
    maxItems: 1000,
    ...meaning,
  })

const PortListSetting = (byDefault: readonly string[], meaning: Meaning) =>
  Type.Array(Type.String({ minLength: 1, maxLength: 11 }), {
    default: byDefault,
    minItems: 1,
    maxItems: 100,
    ...meaning,
  })

const UrlList = (meaning: Meaning) =>
  Type.Array(Type.String({ minLength: 1, maxLength: 2000 }), { default: [], maxItems: 32, ...meaning })

const day = 86_400

/** Of an installation that began with such a limit: see db/retention.ts. */
const keptBy = (byDefault: number) =>
  `0 keeps them forever, as does no value in an installation from before 0.3.0, else ${byDefault}`

export const settingsSchema = Type.Object(
  {
    host: TextSetting('127.0.0.1', {
      description: 'address to listen on; demo accounts work on loopback only',
    }),
    port: IntegerSetting(8080, 0, 65_535, { description: 'TCP port to listen on; 0 selects a free one' }),
    public_url: OptionalText({
      description: 'URL of this server for users, without a path; derived from host and port if unset',
    }),
    security_contact: OptionalText({
      description:
        'where to report vulnerabilities of this installation, for /.well-known/security.txt: mailto:security@net.example, an https:// URL or a tel: number',
    }),
    trusted_proxies: NetworkList([], {
      description: 'addresses and networks whose X-Forwarded-For is trusted',
    }),
    operator_networks: NetworkList(['127.0.0.0/8', '::1/128'], {
      description: 'addresses and networks that may read /metrics',
    }),
    data_dir: TextSetting('./data', {
      description: 'directory of the embedded PostgreSQL and ClickHouse, and of the generated secret',
    }),
    database_url: OptionalText({
      description:
        'postgres://user:password@host:port/database, version 15 to 18; if unset, an embedded PostgreSQL runs',
      secret: true,
    }),
    clickhouse_url: OptionalText({
      description:
        'http://user:password@host:8123/database of a ClickHouse server for flows; if unset, an embedded one (chDB) runs, on this machine only',
      secret: true,
    }),
    netflow_listen: TextSetting('127.0.0.1:2055', {
      description:
        'address and port for NetFlow v5, NetFlow v9 and IPFIX by UDP, such as [::]:2055; port 0 selects a free one, off receives none',
    }),
    sflow_listen: TextSetting('127.0.0.1:6343', {
      description: 'the same for sFlow v5; each of both accepts all of these protocols',
    }),
    flow_spool_bytes: IntegerSetting(4 * 1024 ** 3, 1_000_000, Number.MAX_SAFE_INTEGER, {
      description:
        'maximum size of the flows that wait in data_dir for ClickHouse; beyond it the oldest are dropped',
    }),
    detector_rows: IntegerSetting(262_144, 4096, 16_777_216, {
      description:
        'hosts and networks whose traffic the detector of attacks counts exactly, rounded up to a power of 2; 328 bytes each. Raise it if pharos_detector_overflows_total grows',
    }),
    flow_address_files: Type.Array(Type.String({ minLength: 1, maxLength: 4096 }), {
      default: [],
      maxItems: 32,
      description:
        'files with AS numbers and countries of addresses, which flows do not have: CSV, TSV (iptoasn.com, DB-IP) or MMDB; they are read again when they change (docs/flows.md)',
    }),
    flow_retention_days: IntegerSetting(15, 1, 3650, {
      description: 'days for which flows, and their rollups by minute, are kept',
    }),
    flow_rollup_retention_days: IntegerSetting(400, 1, 3650, {
      description: 'days for which rollups of flows by hour are kept',
    }),
    database_pool_size: IntegerSetting(20, 2, 1000, {
      description: 'maximum connections to PostgreSQL per process',
    }),
    secret: Type.Array(Type.String({ minLength: 1 }), {
      default: [],
      maxItems: 16,
      description:
        'key ring, newest key first, at least 32 bytes each; if unset, a key is generated in the file `secret` of data_dir',
      secret: true,
    }),
    log_level: EnumSetting('info', ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'], {
      description: 'minimum level that is logged',
    }),
    log_format: EnumSetting('json', ['json', 'text'], {
      description: 'one JSON object per line, or human-readable text',
    }),
    rate_limit_per_second: IntegerSetting(50, 1, 1_000_000, {
      description: 'requests per second for each credential',
    }),
    rate_limit_burst: IntegerSetting(500, 1, 10_000_000, {
      description: 'burst of requests for each credential',
    }),
    delivery_limit_per_second: IntegerSetting(1000, 1, 1_000_000, {
      description: 'deliveries per second for each address; the burst is ten times as many',
    }),
    sign_in_limit_per_minute: IntegerSetting(10, 1, 100_000, {
      description: 'sign-in attempts per minute, for each account and for each address',
    }),
    account_mails_per_hour: IntegerSetting(6, 1, 1_000_000, {
      description:
        'account mails per hour to each address, such as password resets; ten times as many for each client that requests them',
    }),
    breached_passwords_file: OptionalText({
      description: 'Have I Been Pwned file of SHA-1 hashes, ordered by hash: passwords in it are rejected',
    }),
    requests_in_flight: IntegerSetting(1000, 1, 1_000_000, {
      description: 'maximum concurrent requests; further ones get 503',
    }),
    streams_at_once: IntegerSetting(2000, 1, 1_000_000, {
      description: 'maximum open streams; further ones get 503',
    }),
    streams_per_team: IntegerSetting(100, 1, 1_000_000, {
      description: 'maximum open streams per team; further ones get 429',
    }),
    stream_lifetime_seconds: IntegerSetting(3600, 0, 86_400, {
      description:
        'lifetime of a stream, after which the client reconnects; 0 sends the pending events and ends, for proxies that buffer responses',
    }),
    password_hashes_at_once: IntegerSetting(1, 1, 256, {
      description:
        'maximum concurrent argon2id computations, 19 MiB and one core each; set it below the number of cores',
    }),
    password_hashes_waiting: IntegerSetting(64, 0, 100_000, {
      description: 'maximum sign-ins that wait for a computation; further ones get 503',
    }),
    body_limit_bytes: IntegerSetting(1_048_576, 1024, 104_857_600, {
      description: 'maximum body size of an API call',
    }),
    delivery_limit_bytes: IntegerSetting(4_194_304, 1024, 104_857_600, {
      description: "maximum body size of a detector's delivery",
    }),
    request_timeout_seconds: IntegerSetting(30, 1, 3600, {
      description: 'time limit for receiving a request',
    }),
    handler_timeout_seconds: IntegerSetting(30, 1, 3600, {
      description: 'time limit for answering a request',
    }),
    keep_alive_timeout_seconds: IntegerSetting(72, 1, 3600, {
      description: 'how long an idle connection is kept open; set it longer than that of the reverse proxy',
    }),
    drain_seconds: IntegerSetting(5, 0, 600, {
      description:
        'how long a process that is told to stop reports 503 at /readyz and continues to serve, so that load balancers notice; 0 stops at once',
    }),
    shutdown_timeout_seconds: IntegerSetting(20, 1, 600, {
      description: 'time limit for a graceful shutdown after drain_seconds',
    }),
    access_token_lifetime_seconds: IntegerSetting(300, 30, 3600, {
      description: 'lifetime of an access token',
    }),
    refresh_idle_lifetime_seconds: IntegerSetting(14 * day, 300, 366 * day, {
      description: 'a session ends if it is not refreshed within this time',
    }),
    refresh_absolute_lifetime_seconds: IntegerSetting(90 * day, 300, 3660 * day, {
      description: 'a session ends this long after the sign-in, even if it is refreshed',
    }),
    members_may_toggle: BooleanSetting(true, {
      description: 'members without the admin role may enable and disable announcements',
    }),
    shield_drop_percent_max: IntegerSetting(5, 0, 100, {
      description:
        'part of the normal traffic of the last hour, in percent, that a list of shield rules may drop or limit without `force`',
    }),
    shield_safelist: NetworkList([], {
      description:
        'networks that no shield rule may name as source or destination, such as those of the portal; neighbors of the routers and name servers need not be listed',
    }),
    announcements_per_team: IntegerSetting(50, 1, 1_000_000, {
      description: 'maximum announcements per team; those of the platform file count, but are never rejected',
    }),
    api_tokens_per_team: IntegerSetting(100, 1, 1_000_000, {
      description:
        'maximum API tokens per team, including expired ones; those that the operator creates are never rejected',
    }),
    members_per_team: IntegerSetting(200, 1, 1_000_000, {
      description:
        'maximum members and open invitations per team; those of the platform file count, but are never rejected',
    }),
    invitations_per_hour: IntegerSetting(50, 1, 1_000_000, {
      description: 'invitation mails per hour for each team',
    }),
    invitation_interval_seconds: IntegerSetting(300, 1, 86_400, {
      description:
        'minimum time between two mails of an invitation; an address gets at most three invitations at once from all teams together',
    }),
    allow_documentation_resources: BooleanSetting(false, {
      description:
        'teams may announce prefixes and verify ASNs that are reserved for documentation, as the demo and the lab do',
    }),
    check_requests_per_minute: IntegerSetting(30, 1, 1_000_000, {
      description:
        'immediate checks of announcements, and of domains, that a team may request per minute, in addition to the periodic checks',
    }),
    provider_name: TextSetting('the network service provider', {
      description:
        'name of the provider in mails and in drafted letters of authorization; the letters also need provider_asn',
    }),
    provider_asn: OptionalInteger(1, 4_294_967_295, {
      description: 'ASN of the provider in drafted letters of authorization, without the prefix AS',
    }),
    clamd_url: OptionalText({
      description:
        'address of clamd, which scans uploaded letters: unix:/run/clamav/clamd.ctl or tcp://host:3310; if unset, letters are not scanned',
    }),
    mail_url: OptionalText({
      description:
        'SMTP server: smtp://user:password@host:587 or smtps://user:password@host:465; if unset, mails stay queued',
      secret: true,
    }),
    mail_from: OptionalText({
      description: 'sender of mails: noreply@net.example, or Example Net <noreply@net.example>',
    }),
    mail_reply_to: OptionalText({
      description: 'address for replies, which every mail names as contact; derived from mail_from if unset',
    }),
    mail_folder: OptionalText({
      description: 'directory to which mails are written instead of being sent, one file each',
    }),
    operator_alert_emails: Type.Array(Type.String({ minLength: 3, maxLength: 254 }), {
      default: [],
      maxItems: 50,
      description:
        'recipients of mails about approvals and restores; if unset, all staff with a confirmed e-mail address',
    }),
    operator_webhook_url: OptionalText({
      description:
        'webhook URL for messages about approvals and bills (docs/webhooks.md); internal addresses are allowed',
      secret: true,
    }),
    operator_webhook_secret: OptionalText({
      description: 'signing secret of these messages: whsec_ and 24 to 64 bytes in base64',
      secret: true,
    }),
    rpki_sources: UrlList({
      description:
        'sources of ROAs, in order of preference: rtr://host:port, rtrs://host:port?ca=/path (RFC 8210), file:/path or https://host/path of a VRP export in JSON',
    }),
    irr_sources: UrlList({
      description:
        'sources of route objects, in order: whois://host:port?sources=RADB&sources=RIPE of a server with the ! protocol of IRRd, or file:/path of an RPSL dump (for RIPE, use its dumps)',
    }),
    irr_recheck_seconds: IntegerSetting(3600, 10, 30 * day, {
      description: 'interval between queries of the routing registries',
    }),
    registry_confirm_seconds: IntegerSetting(3600, 0, day, {
      description:
        'how long a source of ROAs or route objects that is empty, or lost more than 20 % at once, is ignored until it counts as confirmed; 0 uses it at once',
    }),
    visibility_sources: UrlList({
      description:
        'sources of the routes that other networks see, in order of preference: wss://ris-live.ripe.net/v1/ws/?client=name&table=https://stat.ripe.net/data/bgp-state/data.json, or file:/path and https://host/path of JSON from BGPalerter or RIPEstat; if unset, visibility is not monitored',
    }),
    dns_resolvers: UrlList({
      description:
        'name servers for proofs, the hosts of webhooks and the targets of ALIAS records, as address:port; if unset, those of the system',
    }),
    dns_roots: UrlList({
      description:
        'servers of the DNS root, from which the parents of zones are found for DNSSEC, as address:port; only for networks with a root of their own, since those of the internet are built in',
    }),
    dns_networks_allowed: NetworkList([], {
      description:
        'addresses and networks outside the public internet that teams may name as primary servers and for NOTIFY, and that are published for ALIAS records',
    }),
    dns_ports_allowed: PortListSetting(['53'], {
      description:
        'ports, and ranges such as 5300-5399, that teams may name for primary servers, imports by AXFR and NOTIFY; others would let them find out which ports are open',
    }),
    dns_cache_seconds: IntegerSetting(7 * day, 1, 7 * day, {
      description:
        'how long resolvers keep a record at most, whatever its TTL: the waits of DNSSEC are no longer than that; less than a week only where all resolvers are your own and limit their caches, as in a lab',
    }),
    dns_listen: TextSetting('127.0.0.1:8053', {
      description:
        'address and port of the built-in name server, UDP and TCP, such as 127.0.0.1:8053 or [::]:53; port 0 selects a free one',
    }),
    dns_reuse_port: BooleanSetting(false, {
      description:
        'lets several processes of this machine listen on the same dns_listen, among which the kernel distributes the questions; each keeps all zones in memory',
    }),
    dns_answer: EnumSetting('all', ['all', 'none'], {
      description:
        'whether the built-in name server keeps all zones in memory and answers questions, about 1.3 GB for a million record sets, or only transfers zones to other name servers',
    }),
    dns_catalog_zone: TextSetting('catalog.pharos.invalid.', {
      description:
        'name of the catalog zone (RFC 9432), from which name servers learn which zones to transfer',
    }),
    authorization_proofs: EnumListSetting(['letter'], authorizationKinds, {
      description:
        'accepted proofs of authorization for an announcement, of which one is sufficient: letter, roa (a valid ROA of a verified ASN), dns_txt (a token in the reverse zone), rdap (a token in the remarks of the registration)',
    }),
    rdap_bootstrap: OptionalText({
      description:
        'location of the RDAP bootstrap files ipv4.json and ipv6.json (RFC 9224): https://host/path/ or file:/path/; required for rdap in authorization_proofs',
    }),
    on_validation_loss: EnumSetting('warn', ['warn', 'suspend'], {
      description:
        'action for an announced prefix whose checks fail: a warning only, or suspension after validation_grace_hours',
    }),
    validation_grace_hours: IntegerSetting(72, 0, 8760, {
      description: 'how long a check must fail before on_validation_loss: suspend withdraws the prefix',
    }),
    netbox_url: OptionalText({
      description:
        'URL of NetBox, without /api: its inventory is imported every 5 minutes (docs/netbox.md); if unset, nothing is imported',
    }),
    netbox_token: OptionalText({
      description: 'API token of NetBox with read permissions, version 1 or, with nbt_, version 2',
      secret: true,
    }),
    netbox_device_filter: TextSetting('status=active&status=staged&status=failed&status=offline', {
      description: "which devices are imported: parameters of NetBox's list of devices",
    }),
    netbox_port_tag: TextSetting('pharos', {
      description:
        'slug of the tag of interfaces that are ports, besides those to which a circuit of a team is cabled',
    }),
    netbox_country_field: TextSetting('country', {
      description: 'custom field of sites with the country, such as NL',
    }),
    netbox_circuit_field: TextSetting('circuit', {
      description: 'custom field of tagged interfaces with their circuit, which is behind a patch panel',
    }),
    netbox_port_id_field: TextSetting('port_circuit_id', {
      description:
        'custom field of interfaces with the circuit id of the port; without one it is the device and the interface',
    }),
    netbox_service_types: Type.Array(Type.String({ minLength: 3, maxLength: 200 }), {
      default: [],
      maxItems: 200,
      description: 'types of services by the slug of the circuit type, such as ip-transit=transit',
    }),
    webhooks_per_team: IntegerSetting(20, 0, 100_000, { description: 'maximum webhooks per team' }),
    webhook_networks_allowed: NetworkList([], {
      description:
        'addresses and networks outside the public internet that webhooks may use, also without TLS',
    }),
    sso_networks_allowed: NetworkList([], {
      description:
        'addresses and networks outside the public internet that identity providers of teams may be in, also without TLS',
    }),
    webhook_ports_allowed: PortListSetting(['443', '8443'], {
      description:
        'ports, and ranges such as 9000-9099, that the URLs of webhooks and of identity providers of teams may have',
    }),
    webhooks_at_once: IntegerSetting(64, 1, 10_000, {
      description:
        'maximum webhooks to which a collector sends concurrently; each webhook gets one message at a time',
    }),
    webhook_tests_per_minute: IntegerSetting(10, 1, 1_000_000, {
      description: 'test messages to webhooks per minute for each team',
    }),
    reconcile_interval_seconds: IntegerSetting(30, 1, 3600, {
      description: 'maximum time between comparisons of a region with its routers',
    }),
    delivery_retention_days: OptionalInteger(0, 36_500, {
      description: `days for which deliveries of detectors are kept; ${keptBy(90)}`,
    }),
    event_retention_months: OptionalInteger(0, 1200, {
      description: `months for which security events are kept after their end; ${keptBy(25)}`,
    }),
    audit_retention_months: OptionalInteger(0, 1200, {
      description: `full months of the audit log whose entries are kept besides the current one; ${keptBy(36)}`,
    }),
    account_retention_months: OptionalInteger(0, 1200, {
      description: `months for which an account without a team is kept, whose user gets a mail 30 days before it is deleted; ${keptBy(12)}`,
    }),
    demo: BooleanSetting(false, { description: 'marks the demo platform, which listens on loopback only' }),
  },
  { additionalProperties: false },
)

export type Settings = Static<typeof settingsSchema>
export type SettingName = keyof Settings

export const settingNames = Object.keys(settingsSchema.properties) as readonly SettingName[]

const conventionalNames: Partial<Record<SettingName, string>> = {
  database_url: 'DATABASE_URL',
  clickhouse_url: 'CLICKHOUSE_URL',
}

/** Returns `PHAROS_PORT` for `port`; addresses of databases have the names that hosts conventionally use. */
export function variableOf(name: SettingName): string {
  return conventionalNames[name] ?? `PHAROS_${name.toUpperCase()}`
}

/** Returns the description of a setting, its default, and whether it is secret and must never be printed. */
export function meaningOf(name: SettingName): { description: string; byDefault: unknown; secret: boolean } {
  const schema = settingsSchema.properties[name] as unknown as Meaning & { default: unknown }
  return { description: schema.description, byDefault: schema.default, secret: schema.secret === true }
}

/** The schema of a setting's value, without null. */
function valueSchemaOf(name: SettingName): Record<string, unknown> {
  const schema = settingsSchema.properties[name] as unknown as Record<string, unknown>
  return (schema['anyOf'] as Record<string, unknown>[] | undefined)?.[0] ?? schema
}

export const isNumber = (name: SettingName): boolean => valueSchemaOf(name)['type'] === 'integer'

/** Returns the accepted values of a setting as a noun phrase, for errors and for the documentation. */
export function acceptedValuesOf(name: SettingName): string {
  const schema = valueSchemaOf(name)
  if (schema['type'] === 'array') {
    const values = (schema['items'] as Record<string, unknown>)['enum']
    const of = Array.isArray(values) ? ` of ${values.join(', ')}` : ''
    return `a list${of}; comma-separated in a variable`
  }
  return schema['type'] === 'string' ? 'a text' : describeExpected(schema)
}
