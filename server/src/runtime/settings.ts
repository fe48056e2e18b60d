// The settings of the process, one schema: name, type, limits, default and meaning. The environment variable of a
// setting, its line in pharos.yaml, the table in docs/operating.md and the type Config all follow from here.
// What the operator's world looks like (regions, teams, sources) is not here but in the platform file.
import { Type, type Static } from 'typebox'
import { authorizationKinds } from '@pharos/contract/announcement-checks'
import { describeExpected } from '../text/schema-error.ts'

type Meaning = { readonly description: string; readonly secret?: true }

const Text = (byDefault: string, meaning: Meaning) =>
  Type.String({ default: byDefault, minLength: 1, ...meaning })

const Absent = (meaning: Meaning) =>
  Type.Union([Type.String({ minLength: 1 }), Type.Null()], { default: null, expects: 'a text', ...meaning })

const Whole = (byDefault: number, minimum: number, maximum: number, meaning: Meaning) =>
  Type.Integer({ default: byDefault, minimum, maximum, ...meaning })

const MaybeWhole = (minimum: number, maximum: number, meaning: Meaning) =>
  Type.Union([Type.Integer({ minimum, maximum }), Type.Null()], {
    default: null,
    expects: `a whole number from ${minimum} to ${maximum}`,
    ...meaning,
  })

const Flag = (byDefault: boolean, meaning: Meaning) => Type.Boolean({ default: byDefault, ...meaning })

const Word = <const W extends readonly string[]>(byDefault: W[number], words: W, meaning: Meaning) =>
  Type.Enum(words, { default: byDefault, ...meaning })

const Words = <const W extends readonly string[]>(byDefault: W[number][], words: W, meaning: Meaning) =>
  Type.Array(Type.Unsafe<W[number]>(Type.Enum(words)), {
    default: byDefault,
    minItems: 1,
    uniqueItems: true,
    ...meaning,
  })

const Networks = (byDefault: readonly string[], meaning: Meaning) =>
  Type.Array(Type.String({ minLength: 1, 'x-network': true }), {
    default: byDefault,
    maxItems: 1000,
    ...meaning,
  })

const Urls = (meaning: Meaning) =>
  Type.Array(Type.String({ minLength: 1, maxLength: 2000 }), { default: [], maxItems: 32, ...meaning })

const day = 86_400

export const settingsSchema = Type.Object(
  {
    host: Text('127.0.0.1', { description: 'address to listen on; demo accounts work on loopback only' }),
    port: Whole(8080, 0, 65_535, { description: 'TCP port to listen on; 0 takes a free one' }),
    public_url: Absent({
      description: 'how users reach this server, without a path; follows from host and port if unset',
    }),
    trusted_proxies: Networks([], {
      description: 'addresses and networks whose X-Forwarded-For is believed',
    }),
    operator_networks: Networks(['127.0.0.0/8', '::1/128'], {
      description: 'addresses and networks that may read /metrics',
    }),
    data_dir: Text('./data', {
      description: 'directory of the embedded PostgreSQL and of the generated secret',
    }),
    database_url: Absent({
      description:
        'postgres://user:password@host:port/database, version 14 or later; unset runs an embedded PostgreSQL',
      secret: true,
    }),
    database_pool_size: Whole(20, 2, 1000, { description: 'connections of each process to PostgreSQL' }),
    secret: Type.Array(Type.String({ minLength: 1 }), {
      default: [],
      maxItems: 16,
      description:
        'key ring, newest first, each at least 32 bytes; unset makes one, in the file `secret` of data_dir',
      secret: true,
    }),
    log_level: Word('info', ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'], {
      description: 'least level that is logged',
    }),
    log_format: Word('json', ['json', 'text'], {
      description: 'one JSON object a line, or lines for people',
    }),
    rate_limit_per_second: Whole(50, 1, 1_000_000, { description: 'requests a second of one credential' }),
    rate_limit_burst: Whole(500, 1, 10_000_000, { description: 'requests at once of one credential' }),
    delivery_limit_per_second: Whole(1000, 1, 1_000_000, {
      description: 'deliveries a second from one address; ten times as many at once',
    }),
    sign_in_limit_per_minute: Whole(10, 1, 100_000, {
      description: 'sign-in attempts a minute, for each account and for each address',
    }),
    account_mails_per_hour: Whole(6, 1, 1_000_000, {
      description:
        'mails an hour that anybody may have sent to one address about its account; ten times as many from one client',
    }),
    breached_passwords_file: Absent({
      description:
        'file of Have I Been Pwned with SHA-1 hashes ordered by hash: none of its passwords may be chosen',
    }),
    requests_in_flight: Whole(1000, 1, 1_000_000, {
      description: 'requests worked on at once; further ones are answered 503',
    }),
    streams_at_once: Whole(2000, 1, 1_000_000, {
      description: 'followers of the stream at once; further ones are answered 503',
    }),
    streams_per_team: Whole(100, 1, 1_000_000, {
      description: 'followers of the stream that a team may have at once; further ones are answered 429',
    }),
    stream_lifetime_seconds: Whole(3600, 0, 86_400, {
      description:
        'until a follower of the stream is to connect again; 0 gives what there is and ends, where a proxy keeps answers back',
    }),
    password_hashes_at_once: Whole(1, 1, 256, {
      description: 'argon2id computations at once, 19 MiB and a core each: keep them fewer than the cores',
    }),
    password_hashes_waiting: Whole(64, 0, 100_000, {
      description: 'sign-ins that may wait for one; further ones are answered 503',
    }),
    body_limit_bytes: Whole(1_048_576, 1024, 104_857_600, { description: 'largest body of an API call' }),
    delivery_limit_bytes: Whole(4_194_304, 1024, 104_857_600, {
      description: "largest body of a detector's delivery",
    }),
    request_timeout_seconds: Whole(30, 1, 3600, { description: 'until a request has been received in full' }),
    handler_timeout_seconds: Whole(30, 1, 3600, { description: 'until a request has been answered' }),
    keep_alive_timeout_seconds: Whole(72, 1, 3600, {
      description: 'how long an idle connection is kept; longer than that of the proxy in front',
    }),
    shutdown_timeout_seconds: Whole(20, 1, 600, { description: 'until a stopping process gives up waiting' }),
    access_token_lifetime_seconds: Whole(300, 30, 3600, { description: 'lifetime of an access token' }),
    refresh_idle_lifetime_seconds: Whole(14 * day, 300, 366 * day, {
      description: 'a session ends when it is not refreshed for so long',
    }),
    refresh_absolute_lifetime_seconds: Whole(90 * day, 300, 3660 * day, {
      description: 'a session ends so long after the sign-in, whatever happens',
    }),
    members_may_toggle: Flag(true, {
      description: 'members who are not admin may switch announcements on and off',
    }),
    announcements_per_team: Whole(50, 1, 1_000_000, {
      description:
        'announcements that a team may have; those of the platform file count, and are never refused',
    }),
    api_tokens_per_team: Whole(100, 1, 1_000_000, {
      description:
        'API tokens that a team may have, expired ones among them; those the operator makes are never refused',
    }),
    members_per_team: Whole(200, 1, 1_000_000, {
      description:
        'members and open invitations that a team may have; those of the platform file count, and are never refused',
    }),
    invitations_per_hour: Whole(50, 1, 1_000_000, {
      description: 'mails of invitations an hour that one team may send',
    }),
    invitation_interval_seconds: Whole(300, 1, 86_400, {
      description:
        'how long after an invitation the same address gets no other of the team; of all teams together three at once',
    }),
    allow_documentation_resources: Flag(false, {
      description:
        'teams may announce prefixes and prove ASNs that are reserved for documentation, as the demo and the lab do',
    }),
    check_requests_per_minute: Whole(30, 1, 1_000_000, {
      description:
        'how often a team may have its announcements, and its domains, checked at once, beside the checks that are made anyway',
    }),
    provider_name: Text('the network service provider', {
      description:
        'name of the provider in mails and in drafted letters of authorization, which need it and provider_asn',
    }),
    provider_asn: MaybeWhole(1, 4_294_967_295, {
      description: 'ASN of the provider, without AS, in drafted letters of authorization',
    }),
    clamd_url: Absent({
      description:
        'virus scanner that uploaded letters must pass: unix:/run/clamav/clamd.ctl or tcp://host:3310 of a clamd; unset scans nothing',
    }),
    mail_url: Absent({
      description:
        'server that mails go through: smtp://user:password@host:587 or smtps://user:password@host:465; unset lets them wait',
      secret: true,
    }),
    mail_from: Absent({
      description: 'whose mails they are: noreply@net.example, or Example Net <noreply@net.example>',
    }),
    mail_reply_to: Absent({
      description: 'where answers go, and whom every mail names to ask; follows from mail_from if unset',
    }),
    mail_folder: Absent({
      description: 'directory that mails are written to instead of being sent, one file for each',
    }),
    operator_alert_emails: Type.Array(Type.String({ minLength: 3, maxLength: 254 }), {
      default: [],
      maxItems: 50,
      description:
        'who gets mails about holds; unset sends them to all staff with a confirmed e-mail address',
    }),
    operator_webhook_url: Absent({
      description: 'URL that gets messages about holds (docs/webhooks.md); may lead into internal networks',
      secret: true,
    }),
    operator_webhook_secret: Absent({
      description: 'signs these messages: whsec_ and 24 to 64 bytes in base64',
      secret: true,
    }),
    rpki_sources: Urls({
      description:
        'where ROAs are read, in order of preference: rtr://host:port, rtrs://host:port?ca=/path (RFC 8210), file:/path or https://host/path of a VRP export in JSON',
    }),
    irr_sources: Urls({
      description:
        'where route objects are read, in order: whois://host:port?sources=RADB&sources=RIPE of a server that speaks the ! protocol of IRRd, or file:/path of an RPSL dump (RIPE: read its dumps)',
    }),
    irr_recheck_seconds: Whole(3600, 10, 30 * day, {
      description: 'how often the routing registries are asked again about what they hold',
    }),
    registry_confirm_seconds: Whole(3600, 0, day, {
      description:
        'how long a source of ROAs or route objects that is empty, or lost more than 20 % at once, must stay so before it is used; 0 uses it at once',
    }),
    dns_resolvers: Urls({
      description:
        'name servers that are asked for proofs and for the hosts of webhooks, as address:port; unset uses those of the machine',
    }),
    authorization_proofs: Words(['letter'], authorizationKinds, {
      description:
        'proofs of which one is enough to authorize an announcement: letter, roa (a valid ROA of a verified ASN), dns_txt (a token in the reverse zone), rdap (a token in the remarks of the registration)',
    }),
    rdap_bootstrap: Absent({
      description:
        'folder of the bootstrap files ipv4.json and ipv6.json (RFC 9224), which say where registrations are read: https://host/path/ or file:/path/; needed for rdap in authorization_proofs',
    }),
    on_validation_loss: Word('warn', ['warn', 'suspend'], {
      description:
        'what happens to an announced prefix whose checks fail: words only, or suspension after validation_grace_hours',
    }),
    validation_grace_hours: Whole(72, 0, 8760, {
      description: 'how long a check has failed before on_validation_loss: suspend takes the prefix away',
    }),
    webhooks_per_team: Whole(20, 0, 100_000, { description: 'webhooks that a team may have' }),
    webhook_networks_allowed: Networks([], {
      description:
        'addresses and networks that webhooks may lead to although they are not of the public internet, also without TLS',
    }),
    webhooks_at_once: Whole(64, 1, 10_000, {
      description:
        'webhooks that a collector sends to at once; each of them gets one message after the other',
    }),
    webhook_tests_per_minute: Whole(10, 1, 1_000_000, {
      description: 'how often a team may have a message sent only to test a webhook',
    }),
    reconcile_interval_seconds: Whole(30, 1, 3600, {
      description: 'how often each region is compared with its router when nothing wakes the loop',
    }),
    audit_retention_months: Whole(0, 0, 1200, {
      description: 'how many whole months of the audit are kept beside the current one; 0 keeps it for ever',
    }),
    demo: Flag(false, { description: 'this is the demo platform: refused on any interface but loopback' }),
  },
  { additionalProperties: false },
)

export type Settings = Static<typeof settingsSchema>
export type SettingName = keyof Settings

export const settingNames = Object.keys(settingsSchema.properties) as readonly SettingName[]

/** `PHAROS_PORT` for `port`; only `DATABASE_URL` has the name that every host of databases gives it. */
export function variableOf(name: SettingName): string {
  return name === 'database_url' ? 'DATABASE_URL' : `PHAROS_${name.toUpperCase()}`
}

/** What a setting means, its default, and whether it must never be printed. */
export function meaningOf(name: SettingName): { description: string; byDefault: unknown; secret: boolean } {
  const schema = settingsSchema.properties[name] as unknown as Meaning & { default: unknown }
  return { description: schema.description, byDefault: schema.default, secret: schema.secret === true }
}

/** The schema of a setting that is set. */
function valueSchemaOf(name: SettingName): Record<string, unknown> {
  const schema = settingsSchema.properties[name] as unknown as Record<string, unknown>
  return (schema['anyOf'] as Record<string, unknown>[] | undefined)?.[0] ?? schema
}

export const isNumber = (name: SettingName): boolean => valueSchemaOf(name)['type'] === 'integer'

/** Returns what a setting accepts as a noun phrase, for errors and for the documentation. */
export function limitsOf(name: SettingName): string {
  const schema = valueSchemaOf(name)
  if (schema['type'] === 'array') {
    const words = (schema['items'] as Record<string, unknown>)['enum']
    const of = Array.isArray(words) ? ` of ${words.join(', ')}` : ''
    return `a list${of}; in a variable separated by commas`
  }
  return schema['type'] === 'string' ? 'a text' : describeExpected(schema)
}
