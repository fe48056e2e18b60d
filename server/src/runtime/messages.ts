// The messages of the API, each once: below the problem code the condition, and for it the text: the problem, then the
// remedy. `fail` and `invalid` (error.ts) create failures from them. A text with attributes is a function of them.
import type { BillingMethod } from '@pharos/contract/inventory/billing-rules'
import { counted } from '@pharos/contract/counted'
import type { ProblemCode } from '@pharos/contract/problem'

type Attrs = Readonly<Record<string, unknown>>
type Texts = Readonly<Record<string, string | ((attrs: never) => string)>>

/** Returns a number of bytes with its binary unit: `1048576 bytes (1 MiB)`. */
function bytesText(bytes: number): string {
  const [unit, size] = bytes < 1_048_576 ? ['KiB', 1024] : ['MiB', 1_048_576]
  return bytes < 1024
    ? counted(bytes, 'byte')
    : `${bytes} bytes (${Math.round((bytes / size) * 10) / 10} ${unit})`
}

const sendAs = (wanted: string, given: string | undefined): string =>
  given === undefined || given === ''
    ? `The request has no Content-Type. Send the body as ${wanted}.`
    : `Send the body as ${wanted}; the Content-Type is ${JSON.stringify(given.slice(0, 100))}.`

const atMost = (limit: number, noun: string): string => `The team may have at most ${counted(limit, noun)}.`

export const failureTexts = {
  malformed: {
    queryEncoding:
      'The query string has invalid percent-encoding. Encode each value as UTF-8 and percent-encode it.',
    pathEncoding: 'The path has invalid percent-encoding.',
    routing: 'The request could not be routed.',
    http: 'The request is not valid HTTP.',
    headersTooLarge: 'The headers are too large. Send fewer or shorter headers.',
    requestTimeout: 'The request was not received completely in time. Send it again.',
    connectionClosed: 'The connection was closed before the request was complete.',
    hostMissing: 'The request has no Host header. Send one.',
    hostRepeated: 'The request has several Host headers. Send one.',
    hostInvalid: 'The Host header is no name or address with an optional port, such as pharos.example:8080.',
    contentLength: 'The length of the body differs from Content-Length.',
    utf8: 'The body is not valid UTF-8.',
    emptyBody: 'The body is empty. Send a JSON object.',
    json: ({ error }: { error: string }) => `The body is not valid JSON: ${error}.`,
    nesting: 'The body is nested too deeply.',
    form: ({ error }: { error: string }) => `The form could not be parsed: ${error}.`,
  },
  invalid_token: {
    link: 'The link is unknown, expired or used. Request a new mail.',
    setupCode:
      'The setup code is wrong or has expired. `pharos setup-code` on the server prints the current one.',
  },
  wrong_scheme: {
    apiTokenAsBearer:
      'This is an API token: send it as `Authorization: Token <API token>`. `Bearer` is only for the access token of the web application.',
    accessTokenAsToken:
      'This is an access token: send it as `Authorization: Bearer <access token>`. `Token` is for API tokens (`phs_...`).',
  },
  unauthenticated: {
    credentialMissing:
      'Send `Authorization: Token <API token>`, or `Bearer <access token>` in the web application.',
    webOnly: 'Only the web application can call this operation: an API token is not accepted.',
    personal: 'This operation is about the account of a person: an API token is not accepted.',
    credentialInvalid: ({ credential }: { credential: string }) =>
      `The ${credential} is not valid. Check that it is complete and was not revoked.`,
    accessTokenExpired: 'The access token has expired. Refresh the session.',
    sessionEnded: 'The session has ended. Sign in again.',
    bearerForTeam: 'To switch the team, send the access token of the session as bearer token.',
    sessionUnknown: 'Send the refresh token in the body, or the access token of the session as bearer token.',
    source:
      'Send the secret of the source as `Authorization: Token <secret>`, as the password of HTTP Basic, or as `?token=`.',
    noApi: 'This process does not serve the API. Use the address of an `api` process.',
  },
  invalid_credentials: {
    signIn: 'The e-mail address or the password is wrong.',
    passkey: 'The passkey was not accepted. Try again, or sign in with your password.',
  },
  token_not_valid: {
    refresh: 'The refresh token is not valid. Sign in again.',
    session: 'The session has ended. Sign in again to get a new refresh token.',
  },
  otp_required: {
    missing: 'Sign in again with `otp`, a code of your second factor, or with `passkey`.',
    wrong: 'The code is wrong or was used already. Wait for the next code, or send a recovery code.',
    passkey: 'The passkey was not accepted. Try again, or send a code.',
  },
  sso_failed: {
    reason: ({ sentence }: { sentence: string }) => `${sentence}.`,
  },
  sign_in_required: {
    team: 'This session does not open the team. Sign in with the identity provider of the team.',
    staff: 'The rights of staff need a sign-in with the identity provider of staff.',
  },
  local_sign_in_required: {
    account:
      'The identity provider of a team opened this session, and the team does not own your account. Sign in with your password or a passkey.',
  },
  other_account: {
    session: 'The identity belongs to another account than the session. Sign out first.',
  },
  forbidden: {
    role: ({ role }: { role: string }) => `Needs ${role}. Ask an admin of the team.`,
    tokenAdminOnly: ({ scope }: { scope?: string | undefined }) =>
      'This API token has no admin role: it was created without it, or the member who created it is no longer an admin. ' +
      `Let an admin create one with it${scope ? `, and with the scope ${scope}` : ''}.`,
    recoveryOfAdmins: 'A recovery code of a team is for its admins.',
    staffOnly: 'Only staff of the provider may do this.',
    staffRole: ({ role }: { role: string }) => `Needs ${role}.`,
    accessForReading:
      'You entered the team for reading. To change something, open the team again with `change` and a reason.',
    viewOfAnother:
      'Another member created this view: only its author and admins change it. Save a copy of your own.',
    staffToken:
      'A staff token may only call operations of staff (`/v3/admin`). Use an API token of the team.',
    toggle: ({ role }: { role: string }) =>
      `To enable or disable announcements needs ${role}. Ask an admin of the team.`,
    details: ({ role }: { role: string }) =>
      `To change the details of announcements needs ${role}. Ask an admin of the team.`,
    metrics: 'Metrics are available to the operator only. Add your network to operator_networks.',
    crossSite: 'The session of the portal can be used by its own pages only.',
    demoAccount:
      'Demo accounts have published passwords. They work only while the server listens on a loopback address.',
    noTeam: 'You are not a member of any team. Ask an admin of your team to invite you.',
  },
  scope_missing: {
    needed: ({ scope }: { scope: string }) =>
      `The API token needs the scope ${scope}. Create a token with it.`,
    refresh: ({ scope }: { scope: string }) =>
      `To refresh, the API token needs the scope ${scope}. Create a token with it, or call without \`refresh\`.`,
  },
  resource_limited: {
    operation:
      'This API token is limited to resources, and the operation is not: it is closed to the token. Use a token without `resources`.',
  },
  module_disabled: {
    module: ({ module }: { module: string }) =>
      `The module ${module} is not enabled for the team. Ask your provider to enable it.`,
  },
  wrong_password: {
    current: 'The current password is wrong.',
    changed: 'The current password is wrong: it has just been changed. Use the new one.',
  },
  second_factor_required: {
    recovery: 'A recovery code of a team needs a session with a second factor. Sign in with one.',
    team: 'The team requires a second factor. Set one up (`POST /v3/session/totp`), or switch to another team.',
  },
  reason_required: {
    team: 'You are not a member of this team. Enter it with a reason (`POST /v3/session/token`), which the team reads.',
  },
  email_unconfirmed: {
    account: 'The e-mail address is not confirmed. Follow the link in the confirmation mail, then sign in.',
  },
  quota_exceeded: {
    passkeys: ({ limit }: { limit: number }) =>
      `The account has ${limit} passkeys already, which is the limit. Remove one that you no longer use.`,
    blackholesOfTeam: ({ limit }: { limit: number }) =>
      `${limit} hosts of the team are black-holed already, which is the limit. End one, or ask your provider.`,
    blackholesOfRegion: ({ limit, region }: { limit: number; region: string }) =>
      `${limit} hosts are black-holed in ${region} already, which is the limit of the region. Leave the region out, or ask your provider.`,
    shieldRules: ({ limit, count }: { limit: number; count: number }) =>
      `The team would have ${count} shield rules; it may have ${limit}. Remove rules that are no longer needed.`,
    announcements: ({ limit, count }: { limit: number; count: number }) =>
      `${atMost(limit, 'announcement')} It has ${count}. Delete some, or ask your provider for more.`,
    webhooks: ({ limit }: { limit: number }) =>
      `${atMost(limit, 'webhook')} Delete one, or ask your provider for more.`,
    alertRules: ({ limit }: { limit: number }) => `${atMost(limit, 'alert rule')} Delete one.`,
    providers: ({ limit }: { limit: number }) => `${atMost(limit, 'identity provider')} Delete one.`,
    serviceAccounts: ({ limit }: { limit: number }) => `${atMost(limit, 'service account')} Delete one.`,
    savedViews: ({ limit }: { limit: number }) => `There are ${limit} saved views already. Delete one.`,
    tsigKeys: ({ limit }: { limit: number }) => `${atMost(limit, 'TSIG key')} Delete one.`,
    apiTokens: ({ limit }: { limit: number }) =>
      `${atMost(limit, 'API token')} Delete one, or ask your provider for more.`,
    eventFiles: ({ limit }: { limit: number }) => `An event has at most ${limit} files of its detector.`,
    waitingFiles: ({ limit }: { limit: number }) =>
      `${limit} files of this source wait for events that have not appeared. Send deliveries of the events first.`,
    eventComments: ({ limit }: { limit: number }) =>
      `An event has at most ${limit} comments of a team. Continue in your own ticket.`,
    domains: ({ limit }: { limit: number }) => `${atMost(limit, 'domain')} Remove one first.`,
    members: ({ limit }: { limit: number }) =>
      `The team may have at most ${limit} members and open invitations. Remove one, or ask your provider for more.`,
    zones: ({ limit }: { limit: number }) =>
      `${atMost(limit, 'zone')} Delete one, or ask your provider for more.`,
    recordSets: ({ limit, count }: { limit: number; count: number }) =>
      `A zone may have at most ${counted(limit, 'record set')}; it would have ${count}. Ask your provider for more.`,
    aliases: ({ limit, count }: { limit: number; count: number }) =>
      `A zone may have at most ${counted(limit, 'ALIAS record')}; it would have ${count}. Use A and AAAA records, or CNAME below the zone.`,
    lettersPerDay: ({ limit }: { limit: number }) =>
      `The team may upload at most ${counted(limit, 'letter')} in 24 hours. Upload the letter later.`,
    letterBytes: ({ limit, left }: { limit: number; left: number }) =>
      `The letters of the team may have at most ${limit} bytes together; ${left} are left. Upload a smaller file.`,
  },
  managed: {
    soa: 'The SOA record is managed. Change its times and its mailbox in the settings of the zone.',
    apexNs:
      'The NS records of the zone itself are managed. Change `nameservers` in the settings of the zone.',
    dnssec: ({ type }: { type: string }) =>
      `${type} records are managed: they follow from the keys of the zone. Use the operations of DNSSEC.`,
  },
  not_found: {
    samplesOfBill: 'The samples of this bill are no longer those that it was closed with.',
    object: ({ noun }: { noun: string }) => `There is no such ${noun}.`,
    id: 'There is no such object. An id is a positive integer.',
    asnText: ({ asn }: { asn: string }) => `There is no such object. Write the ASN as ${asn}, without AS.`,
    path: 'There is no such path. /docs lists all operations.',
    trailingSlash: ({ path }: { path: string }) =>
      `There is no such path: paths have no trailing slash. Use ${path}.`,
    doubleSlash: ({ path }: { path: string }) =>
      `There is no such path: it has an empty segment. Use ${path}.`,
    similarPath: ({ path }: { path: string }) =>
      `There is no such path (did you mean ${path}?). /docs lists all operations.`,
    team: ({ slug, hint }: { slug: string; hint: string }) => `There is no team ${slug}${hint}.`,
  },
  no_transceiver: {
    port: 'No module was found in the interface of the port.',
  },
  method_not_allowed: {
    method: ({ allowed }: { allowed: readonly string[] }) =>
      `Use one of these methods: ${allowed.join(', ')}.`,
  },
  not_validated: {
    checks: ({ missing }: { missing: readonly string[] }) =>
      `The announcement cannot be enabled until it is validated. Missing: ${missing.join(', ')}.`,
    asnRevoked: ({ asn }: { asn: number }) =>
      `The announcement cannot be enabled: the provider has revoked the verification of AS${asn}. Contact the provider.`,
  },
  suspended: {
    announcement: 'The provider has suspended this announcement. Contact the provider.',
  },
  prefix_claimed: {
    byOther: ({ prefix }: { prefix: string }) =>
      `Another customer of the provider holds ${prefix} or a prefix that covers it. If it is yours, contact your provider.`,
  },
  still_announced: {
    enabled: 'The announcement is enabled. Disable it, wait until `status` is withdrawn, then delete it.',
    regions: ({ regions }: { regions: readonly string[] }) =>
      `The announcement is not withdrawn yet in ${regions.join(', ')}. Wait until it is, then delete it.`,
  },
  already_member: {
    member: ({ email }: { email: string }) =>
      `${email} is already a member of the team. Change the role of the member instead.`,
    joined: ({ email }: { email: string }) =>
      `${email} has joined the team already, so there is no invitation to send.`,
  },
  last_admin: {
    team: 'The team would have no admin. Make another member an admin first.',
    account: ({ teams }: { teams: readonly string[] }) =>
      `The account is the last admin of ${teams.join(', ')}. Make another member an admin first, or ask your provider to close the team.`,
  },
  domain_claimed: {
    byOther: ({ domain }: { domain: string }) =>
      `Another team has verified ${domain}. If the domain is yours, contact your provider.`,
  },
  zone_claimed: {
    byOther: ({ zone, record }: { zone: string; record: string | null }) =>
      `Another customer of the provider has ${zone}, or a zone above or below it. ` +
      (record === null
        ? 'If the name is yours, contact your provider.'
        : `If the name is yours, add the domain to your team and create the TXT record at ${record}; then repeat the request.`),
  },
  would_drop: {
    share: ({ prefix, percent, what, max }: { prefix: string; percent: number; what: string; max: number }) =>
      `The rules would have dropped ${percent} % of the ${what} of the last hour towards ${prefix}; the provider allows ${max} %. Check them with dry_run=true. If they are right, repeat the request with \`force\`.`,
    unknown: ({ prefix }: { prefix: string }) =>
      `Flows cannot be read now, so that it is unknown what the rules would drop of the normal traffic towards ${prefix}. If they are right, repeat the request with \`force\`.`,
  },
  not_attacked: {
    host: ({ host }: { host: string }) =>
      `No ongoing event targets ${host}. A black hole makes it unreachable for everybody: send \`force\` with dry_run=true to see what is on it, then without dry_run.`,
  },
  exists: {
    passkey: 'An account has this passkey already. Choose another device or password manager.',
    serviceAccount: ({ name, id }: { name: string; id: number }) =>
      `The team has the service account ${name} already, with the id ${id}. Choose another name.`,
    savedView: ({ page, name, id }: { page: string; name: string; id: number }) =>
      `The page ${page} has the view ${name} already, with the id ${id}. Change it, or choose another name.`,
    zone: ({ zone }: { zone: string }) =>
      `The team has the zone ${zone} already. Change it, or import with merge or replace.`,
    recordSets: ({ ids }: { ids: readonly string[] }) =>
      `The zone has ${counted(ids.length, 'record set')} of the request already: ${ids.slice(0, 5).join(', ')}${ids.length > 5 ? ', ...' : ''}. Replace with PUT, or change several with PATCH.`,
  },
  delegated: {
    zone: ({ zone, servers }: { zone: string; servers: readonly string[] }) =>
      `The parent of ${zone} still delegates to ${servers.join(', ')}: resolvers would fail. Change the name servers at the registrar first, or repeat the request with force=true.`,
    childZones: ({ zone, zones }: { zone: string; zones: readonly string[] }) =>
      `${zone} delegates to ${zones.join(', ')}: resolvers would not find ${zones.length === 1 ? 'it' : 'them'}. Delete ${zones.length === 1 ? 'it' : 'them'} first, or repeat the request with force=true.`,
  },
  delete_protected: {
    zone: ({ zone }: { zone: string }) =>
      `${zone} is protected from deletion. Set protect_delete to false in its settings first.`,
  },
  ds_present: {
    zone: ({ zone }: { zone: string }) =>
      `The parent of ${zone} still has DS records. Delete them at the registrar first, or repeat the request with request_removal=true.`,
  },
  in_use: {
    shieldRules: ({ prefixes }: { prefixes: readonly string[] }) =>
      `The announcement is needed by shield rules of ${prefixes.slice(0, 5).join(', ')}${prefixes.length > 5 ? ', ...' : ''}. Remove them first, or repeat the request with force=true.`,
    reverseZones: ({ zones }: { zones: readonly string[] }) =>
      `The announcement is needed by ${counted(zones.length, 'zone')} of reverse DNS: ${zones.slice(0, 5).join(', ')}${zones.length > 5 ? ', ...' : ''}. Delete them first, or repeat the request with force=true.`,
  },
  conflict: {
    setupClosed:
      'The installation has an account, or was restored. Sign in, or add users with `pharos apply`.',
    accountOfPlatformFile:
      'The provider manages this account: its platform file would create it again. Ask the provider to delete it.',
    tsigKeyOfProvider: 'The provider created this key. Ask the provider to delete it.',
    tsigKeyInUse: ({ zone }: { zone: string }) =>
      `The secondary zone ${zone} is transferred from its primaries with this key. Delete the zone first.`,
    billCorrected: ({ id }: { id: number }) => `The bill was corrected before: correct bill ${id}.`,
    billOfOctets: 'The bill is by volume and has no rate. State its bytes with --octets.',
    billOfRate: ({ method }: { method: BillingMethod }) =>
      `The bill is by ${method} and has no billed bytes. State its rate in bits per second with --bps.`,
    restoreClosed: 'The restore is closed: its decisions were applied.',
    restoreAction: ({ area, actions }: { area: string; actions: readonly string[] }) =>
      `Differences of ${area} can be decided by ${actions.join(' or ')}.`,
    notAdoptable: ({ subjects }: { subjects: readonly string[] }) =>
      `The database cannot take over what the network has of ${subjects.slice(0, 10).join(', ')}. Decide \`apply\`, or change the database first.`,
    zoneNotRead: ({ zone, error }: { zone: string; error: string }) =>
      `The zone ${zone} could not be read from its name server: ${error}. Decide \`apply\`, or try again.`,
    shieldListConfirmed:
      'The list does not wait for a confirmation: it was confirmed or reverted before. Put the earlier rules to go back.',
    shieldPrefixLost: ({ prefix }: { prefix: string }) =>
      `The team no longer holds the whole of ${prefix}: earlier rules cannot return. Put the list without rules to remove them.`,
    severalDeliveries: ({ sources }: { sources: readonly string[] }) =>
      `The sources ${sources.join(', ')} have a delivery of this id. Name one as \`source_key\`.`,
    deviceNotRead: 'No driver reads the device: set `driver` in the platform file.',
    noLetterAwaited: ({ status }: { status: string }) =>
      `The status of the cross connect is ${status}: a letter is accepted while it is awaiting_loa.`,
    planOutdated: 'The database was changed since the plan was made. Send the request again.',
    heldDeletions: ({ held, deletions, evidence }: { held: string; deletions: number; evidence: string }) =>
      `The document would delete ${held}. Check the plan with \`dry_run=true\`; if it is right, repeat with \`deletions=${deletions}&evidence=${evidence}\`.`,
    otherDeletions: ({ held }: { held: string }) =>
      `The document would delete ${held}, and \`evidence\` is not that of these deletions. Check the plan again with \`dry_run=true\`.`,
    teamHasMembers: 'The team has members or an open invitation. Its admins invite further members.',
    elementKept: ({ reason }: { reason: string }) => `The change is not possible now: ${reason}.`,
    crossConnectMove: ({ status, states }: { status: string; states: readonly string[] }) =>
      states.length === 0
        ? `The status is ${status}, which is final.`
        : `The status is ${status}: it can become ${states.join(' or ')}.`,
    rolloverInProgress: ({ zone }: { zone: string }) =>
      `A key of ${zone} is being replaced already. Wait until its predecessor is removed.`,
    signedElsewhere: ({ zone }: { zone: string }) =>
      `The name servers of ${zone} sign it with keys of their own. Ask your provider for their DS records.`,
    dnssecNotEnabled: ({ zone, status }: { zone: string; status: string }) =>
      `DNSSEC of ${zone} is ${status}. A key can be replaced while it is pending_ds or active.`,
    namesWouldVanish: ({
      zone,
      parent,
      names,
      count,
    }: {
      zone: string
      parent: string
      names: readonly string[]
      count: number
    }) =>
      `${zone} would answer for ${counted(count, 'record set')} of ${parent}, which cannot move into it: ${names.join(', ')}${count > names.length ? ', ...' : ''}. Delete them first.`,
    secondaryZone: ({ zone }: { zone: string }) =>
      `${zone} is a secondary zone: its records are transferred from its primary. Change them there.`,
    regionsClosed: ({ open }: { open: readonly string[] }) =>
      `The regions in which the announcement was enabled last are closed. Enable it in one region: ${open.join(', ')}.`,
    noOpenRegion: 'No region is open to the team. Ask your provider to open one.',
    announcementOverlap: ({ prefix }: { prefix: string }) =>
      `The announcement overlaps ${prefix}, which the team has created since. Delete that one first.`,
    letterPage: 'The page could not be rendered. Download the file and open it in an isolated viewer.',
    letterDecided: ({ status }: { status: string }) => `The letter was decided before: it is ${status}.`,
    providerUnnamed:
      'A letter has to name the provider and its ASN, which are not configured. ' +
      'Ask the provider to set provider_name and provider_asn, or write a letter of your own.',
    approvalRefused: ({ detail }: { detail: string }) => `${detail} These changes can only be rejected.`,
    approvalClosed: 'The approval was replaced, or its changes are no longer planned. Look for an open one.',
    approvalDecided: ({ state }: { state: string }) => `The approval was decided before: it is ${state}.`,
    lastRouter: ({ router, region }: { router: string; region: string }) =>
      `Router ${router} is the only one of region ${region} that is not drained. Undrain or add another router first.`,
    routersUnable: ({ region, needed, able, reasons }: RoutersUnable) =>
      `${routersNeeded(region, needed, able)}: ${reasons.join(', ')}. Repair them first.`,
    routersTooFew: ({ region, needed, able }: Omit<RoutersUnable, 'reasons'>) =>
      `${routersNeeded(region, needed, able)}. Lower its quorum in the platform file or add a router first.`,
    asnHeld: ({ asn, team, teamId }: { asn: number; team: string; teamId: number }) =>
      `The provider has verified AS${asn} for team ${team} (${teamId}). Revoke that verification first.`,
    asnRace: 'Another team was verified for the ASN at the same time. Repeat the request.',
    demoDatabase: ({ team }: { team: string }) =>
      `The database contains team ${team}, which is not part of the demo, so demo accounts are not added to it. ` +
      'Use a separate database for the demo, or run pharos serve.',
    tokenExpired: 'The API token has expired. Create a new one.',
    tokenUnused: 'The API token was not used for too long and has expired. Create a new one.',
    factorEnabled: 'An authenticator is enabled already. Disable it first.',
    noPasskeys:
      'Passkeys need a host name: the URL of this installation has an IP address. Use the password and an authenticator.',
    unfinishedUpgrade:
      'This is possible once the upgrade of the installation is finished (`pharos migrate --finish`).',
    factorDisabled: 'No second factor is enabled.',
    factorPending:
      'No second factor is being set up, or its setup has expired after ten minutes. Start again.',
    userWithoutFactor: ({ email }: { email: string }) => `${email} has no second factor.`,
    ownFactorFirst:
      'Set up a second factor for your own account first (`POST /v3/session/totp`), then require it of the team.',
    providerUntested:
      'The identity provider was not tested, or no test ended in roles. Test it first, then activate it.',
    providerDomain:
      'The identity provider has no verified domain. Verify a domain for the team and add it to the provider.',
    policyProvider: 'The team has no active identity provider. Activate one first.',
    policyCodes: 'The team has fewer than ten unused recovery codes. Create new ones first.',
    policySignIn:
      'The session has no sign-in with the identity provider of the team from the last 15 minutes. Sign in with it, then repeat the request.',
    policyNeedsProvider:
      'The team requires its identity provider, and no other one that is active has a domain. Set the sign-in policy to optional first.',
    policyNeedsDomain:
      'The team requires its identity provider, which has no other domain. Set the sign-in policy to optional first.',
    domainExists: ({ domain }: { domain: string }) => `The team has already added ${domain}.`,
    webhookDisabled: 'The webhook is disabled. Enable it first.',
  },
  idempotency_in_flight: {
    request: 'A request with this Idempotency-Key is still in progress. Repeat it after `Retry-After`.',
  },
  precondition_failed: {
    element: ({ name, etag }: { name: string; etag: string }) =>
      `${name} has changed since it was read; its etag is ${etag}. Read it again and repeat the change.`,
    absent: 'The record does not exist, so no ETag matches. Leave out If-Match to create it.',
    present: ({ etag }: { etag: string }) =>
      `It exists already, with the ETag ${etag}. Leave out If-None-Match to change it.`,
    etag: ({ etag }: { etag: string }) =>
      `The record has changed: its ETag is now ${etag}. Read it again, then repeat the change with the new ETag.`,
  },
  body_too_large: {
    body: ({ bytesMax }: { bytesMax: number }) =>
      `The body is larger than this operation accepts: at most ${bytesText(bytesMax)}.`,
    file: ({ bytesMax }: { bytesMax: number }) => `The file is larger than ${bytesText(bytesMax)}.`,
  },
  unsupported_media_type: {
    json: ({ given }: { given: string | undefined }) => sendAs('application/json', given),
    form: ({ given }: { given: string | undefined }) => sendAs('multipart/form-data', given),
    charset: ({ charset }: { charset: string }) =>
      `The charset ${JSON.stringify(charset)} is not accepted. Send the body in UTF-8.`,
    encoding: 'Send the body without a Content-Encoding.',
    multipart:
      'The body is a form. Send the content itself as the body, such as with curl --data-binary @file.',
    eventFile: 'The file is no capture (pcap, pcapng), no JSON and no text in UTF-8.',
    part: ({ mediaType, accepted }: { mediaType: string; accepted: readonly string[] }) =>
      `Files of the type ${JSON.stringify(mediaType)} are not accepted. Send ${accepted.join(', ')}.`,
    letter:
      'The file is not a PDF, PNG or JPEG, whatever its name. Export or scan the letter as PDF and upload that.',
  },
  reserved_asn: {
    asn: ({ asn, reservedFor }: { asn: number; reservedFor: string }) =>
      `AS${asn} is reserved: ${reservedFor}. Use the ASN that a regional registry assigned to you.`,
  },
  idempotency_mismatch: {
    request: ({ differs }: { differs: readonly string[] }) =>
      `The Idempotency-Key was used for another request${differs.length > 0 ? `: ${differs.join(' and ')} ${differs.length > 1 ? 'differ' : 'differs'}` : ''}. Use a new key.`,
    delivery: 'The delivery id was used for a delivery with another body. Use a new id.',
  },
  rate_limited: {
    requests: ({ seconds }: { seconds: number }) => `Too many requests. Try again in ${seconds} s.`,
    invitation: ({ email, seconds }: { email: string; seconds: number }) =>
      `The invitation was sent to ${email} only a short time ago. Send it again in ${seconds} s.`,
    streams: ({ limit }: { limit: number }) =>
      `The team has ${counted(limit, 'open stream')}, the most it may have. Close one, or try again later.`,
    slowFile: 'The last file took too long to read. Wait before you upload another one.',
  },
  internal: {
    unexpected: 'An internal error occurred. Give the provider the request id.',
    mounted: ({ route, as }: { route: string; as: string }) => `${route} was mounted as ${as}.`,
  },
  undecided: {
    items: ({ items, uncompared }: { items: number; uncompared: readonly string[] }) =>
      [
        ...(items > 0 ? [`${counted(items, 'difference')} without a decision.`] : []),
        ...(uncompared.length > 0
          ? [`Not compared yet: ${uncompared.join(', ')}. Wait, or send \`accept_uncompared\`.`]
          : []),
      ].join(' '),
  },
  restoring: {
    database:
      'The database was restored, and nothing can be changed until the provider has compared it with the network. Try again later.',
  },
  unavailable: {
    transferSource: 'Zones cannot be transferred by this process. Send the zone file instead.',
    database: 'The database is not available. Try again later.',
    signingKeys: 'The signing keys could not be read: the database does not answer. Try again later.',
    breachedPasswords: 'The list of breached passwords could not be read. Try again later.',
    flows: 'Flow data cannot be read: its store does not answer. Try again later.',
    scanner:
      'The virus scanner does not answer, and letters are not accepted without it. Upload the letter again later.',
    deadline: 'The request took too long and was canceled. Try again later.',
    requests: 'The server is processing too many requests. Try again later.',
    streams: 'The server has too many open streams. Try again later.',
    queue: 'Too many of these requests are waiting. Try again later.',
    letterBusy: 'The file could not be inspected: the server is too busy. Try again later.',
    pdf: 'The PDF could not be made: the server is too busy. Try again later.',
    session: 'The session is being refreshed by another request. Try again.',
  },
  query_too_expensive: {
    flows:
      'The query needs more time or memory than one query may use. Request a shorter time range, fewer keys or a coarser resolution.',
  },
} satisfies Partial<Record<ProblemCode, Texts>>

type RoutersUnable = {
  readonly region: string
  readonly needed: number
  readonly able: number
  readonly reasons: readonly string[]
}

const routersNeeded = (region: string, needed: number, able: number): string =>
  `Region ${region} needs ${counted(needed, 'other router')} with an established BGP session, but has ${able}`

/**
 * The errors of a 422, each with its public `type` and a text that follows the place. Their attributes are the public `ctx`.
 * Errors that a schema finds are in schema-error.ts.
 */
export const invalidTexts = {
  required: ['required', 'is required'],
  accountPassword: ['required', 'is required: no account with this address exists yet'],
  repeated: ['repeated', 'is given more than once'],
  file: ['file', 'must be a file with a filename'],
  tooLarge: [
    'too_large',
    ({ bytes_max: bytesMax }: { bytes_max: number }) => `must have at most ${bytesText(bytesMax)}`,
  ],
  notFile: ['text', 'must be a text, not a file'],
  nul: ['nul', 'must not contain NUL characters'],
  surrogate: ['surrogate', 'must not contain half of a surrogate pair'],
  duplicateKey: ['duplicate_key', 'is given twice'],
  keyless: [
    'not_accepted',
    ({ reason }: { reason: string }) =>
      `is not accepted by this operation: ${reason}. Send the request without it`,
  ],
  idempotencyKey: ['pattern', 'must be 1 to 255 visible ASCII characters'],
  ifMatch: ['etag', 'must be the ETag with its quotes, such as "12"; a weak ETag (W/) cannot be compared'],
  lastEventId: ['pattern', 'must be the id of an event of this stream'],
  time: ['date-time', 'must be an ISO 8601 date-time such as 2026-01-31T12:00:00Z'],
  searchTooShort: ['length', 'must have at least 2 characters besides spaces'],
  usersInDocument: [
    'not_accepted',
    'is not accepted over HTTP: users have passwords. Apply this section with pharos apply',
  ],
  secretInDocument: [
    'not_accepted',
    'is not accepted over HTTP: secrets, files and commands are applied by the operator with pharos apply',
  ],
  fileInElement: [
    'not_accepted',
    'is not accepted over HTTP: the request must not name files or programs of the server',
  ],
  portalSection: ['unknown', 'must be a section of `GET /v3/admin/platform`'],
  elementKey: ['key', ({ key }: { key: string }) => `must be of the element ${key}, whose key never changes`],
  elementTwice: ['duplicate', ({ key }: { key: string }) => `is the second change of ${key}`],
  elementExists: ['exists', ({ name }: { name: string }) => `is ${name}, which exists already`],
  elementUnknown: ['unknown', ({ name }: { name: string }) => `is ${name}, which does not exist`],
  elementManaged: [
    'managed',
    ({ name, by }: { name: string; by: string }) => `is ${name}, which is managed by ${by}: change it there`,
  ],
  document: ['document', ({ problem }: { problem: string }) => `is not valid: ${problem}`],
  shieldPrefixHeld: ['not_held', 'is in no prefix of the team, or another team holds a part of it'],
  blackholeHost: ['host', 'must be one address, such as 203.0.113.77'],
  blackholeNotAnnounced: [
    'not_announced',
    'is in no announced prefix of the team, or another team holds a part of it: only hosts of enabled announcements can be black-holed',
  ],
  blackholeRegion: [
    'not_announced',
    ({ valid }: { valid: readonly string[] }) =>
      `is not a region in which the prefix of the host is announced: those are ${valid.join(', ')}`,
  ],
  blackholeEnd: [
    'out_of_range',
    ({ hours }: { hours: number }) => `must be in the future and at most ${hours} hours from now`,
  ],
  blackholeEvent: ['other_target', 'is not an event of the team whose target contains the host'],
  flowKeysOfSums: [
    'keys_of_flows',
    ({ keys }: { keys: readonly string[]; resolution: number }) =>
      `has keys that only single flows have, here or in filters: ${keys.join(', ')}. Without them the query is answered from sums by minute`,
  ],
  flowIntervalOfSums: [
    'interval_of_flows',
    ({ resolution }: { resolution: number }) =>
      `is too short for sums by minute, which answer the query from ${resolution} seconds on`,
  ],
  flowWindow: [
    'window',
    ({ start }: { start: string }) => `is a long time for these keys. Try ${start}, a quarter of the time`,
  ],
  shieldSafelisted: [
    'safelisted',
    ({ network }: { network: string }) =>
      `must not contain ${network}, which the provider needs for its own sessions`,
  ],
  shieldSequence: [
    'sequence',
    'must be greater than that of the rule before, and all rules need one or none',
  ],
  shieldCannotOrder: [
    'cannot_order',
    ({ other }: { other: number }) =>
      `must match either the same packets as rules[${other}] or none of them: the routers of the prefix order rules by RFC 8955 and cannot apply it in its place`,
  ],
  shieldCannotOrderLists: [
    'cannot_order_lists',
    ({ prefix, scrubber }: { prefix: string; scrubber: string; code: string; detail: string }) =>
      `is not possible on scrubber ${scrubber} of the provider together with the list for ${prefix}. Move the rules that match common packets into one of both lists`,
  ],
  shieldUnsupported: [
    'unsupported',
    ({ scrubber, detail }: { scrubber: string; code: string; detail: string }) =>
      `is not possible on scrubber ${scrubber} of the provider. ${detail}`,
  ],
  shieldRateMax: [
    'range',
    ({ max, scrubber }: { max: number; scrubber: string; code: string }) =>
      `must be at most ${max}, which scrubber ${scrubber} of the provider accepts`,
  ],
  shieldWarning: ['warning', ({ detail }: { detail: string }) => `has a warning: ${detail}`],
  shieldSimulateSpan: ['range', 'is more than 24 hours after start'],
  teamOfAttachment: ['unknown', 'is not the id of a team'],
  letterFile: ['media_type', 'must be a PDF, PNG or JPEG file'],
  portOfBill: ['required', 'is required: the ports of the service are billed one by one'],
  startOfBill: ['required', 'is required: the port has several bills in this month'],
  noPortOfBill: ['not_accepted', 'is not accepted: all ports of the service are billed as one'],
  deviceMetric: [
    'not_reported',
    ({ metric, allowed }: { metric: string; allowed: readonly string[] }) =>
      `is ${metric}, which the device does not report: it reports ${allowed.join(', ')}`,
  ],
  bothBuckets: ['conflict', 'must not be sent with interval: send one of them'],
  tooManyBuckets: [
    'range',
    ({ max }: { max: number }) =>
      `must not make more than ${max} buckets: use a longer interval or a shorter window`,
  ],
  futureMonth: ['range', 'must not be later than the current month'],
  longSeries: [
    'range',
    'is more than 31 days after start, the longest window for sum_bytes and for group_by=affected_network',
  ],
  reasonMissing: ['missing', ({ field }: { field: string }) => `is required with ${field}`],
  reasonTooShort: [
    'string_too_short',
    ({ least }: { least: number }) => `must have at least ${least} characters, without spaces around it`,
  ],
  reasonOfMember: ['unexpected', 'is only for a team of which you are no member: leave it out'],
  beforeStart: ['range', 'must not be before start'],
  filterOperator: [
    'unknown',
    ({ key, valid }: { key: string; valid: readonly string[] }) =>
      `is not an operator of ${key}: use ${valid.join(', ')}`,
  ],
  filterList: ['type', ({ op }: { op: string }) => `must be a list of values for ${op}`],
  filterOne: ['type', ({ op }: { op: string }) => `must be one value for ${op}, not a list`],
  filterValue: [
    'value',
    ({ key, expected }: { key: string; expected: string }) => `is not a value of ${key}: must be ${expected}`,
  ],
  filterPrefix: [
    'unknown',
    ({ valid }: { valid: readonly string[] }) =>
      valid.length === 0
        ? 'is not a prefix of the team, which has none'
        : `is not a prefix of the team: use one of ${valid.join(', ')}, or within`,
  ],
  rateOfDeny: ['not_accepted', 'is only accepted with the action rate_limit'],
  teamAndAll: ['exclusive', 'must not be sent with team_id: send one of them'],
  filterKey: [
    'unknown',
    ({ valid }: { valid: readonly string[] }) => `is not a filter key: use one of ${valid.join(', ')}`,
  ],
  prefixWithoutKey: ['required', 'is only accepted with key, whose values it completes'],
  locationOrCoordinates: ['required', 'is required; or send latitude and longitude'],
  locationAndCoordinates: ['exclusive', 'must not be sent with latitude or longitude: send one of them'],
  coordinateMissing: ['required', 'is required with the other coordinate'],
  coordinateRange: ['range', ({ max }: { max: number }) => `must be from -${max} to ${max}`],
  letterEnd: ['range', 'must be in the future, at most 30 years from now'],
  past: ['past', 'must be in the future'],
  tokenEnd: ['too_far', 'must be at most 5 years from now; null never expires'],
  region: [
    'unknown',
    ({ valid, suggestion }: { valid: readonly string[]; suggestion?: string }) =>
      valid.length === 0
        ? 'is not a region: none is open to the team'
        : `must be one of ${valid.join(', ')}${suggestion === undefined ? '' : ` (did you mean ${suggestion}?)`}`,
  ],
  regionAndRegions: ['exclusive', 'must not be sent with regions, which is the whole set: send one of them'],
  noRegions: [
    'minItems',
    'must not be empty while the announcement is enabled: name the regions, or send enabled as false too',
  ],
  teamEmail: ['unknown', 'must be an e-mail address such as noc@example.net, or empty'],
  country: ['unknown', 'must be a country code of ISO 3166-1 in capital letters, such as NL, or empty'],
  timezone: ['unknown', 'must be an IANA time zone such as Europe/Amsterdam'],
  email: ['email', 'must be an e-mail address such as ann@example.net'],
  sameEmail: ['same', 'is already the address of your account'],
  addressOfProvider: [
    'domain',
    'must be in a domain of the identity provider that a team of yours requires for your address',
  ],
  samePassword: ['same', 'is the current password; choose another one'],
  breached: ['breached', 'was found in a data breach of another service; choose another one'],
  passkey: ['passkey', 'was not accepted: it is too late, or was made for another page. Start again'],
  factorNeeded: ['second_factor', 'is required: sign in again with one of `ctx.methods`'],
  providerNeeded: [
    'sign_in_required',
    'must be of a session that the identity provider of the team has opened',
  ],
  signInFailed: ['sso_failed', ({ reason }: { reason: string }) => `is of a sign-in that failed: ${reason}`],
  emailOrProvider: ['exclusive', 'is required, or provider; not both'],
  issuerUrl: [
    'issuer',
    'must be an https:// URL without user, query and fragment, such as https://login.example.net/realms/acme',
  ],
  fieldOfKind: [
    'exclusive',
    ({ kind }: { kind: string }) => `is not a field of a provider of the kind ${kind}`,
  ],
  samlSource: [
    'exclusive',
    'is required, or metadata_url, or entity_id with sign_on_url and certificates; send one of them',
  ],
  signOnUrl: ['sign_on_url', 'must be an https:// URL without user and fragment'],
  metadataUrl: [
    'metadata',
    'was not read: the URL does not answer with status 200 and at most 1 MiB, or is not public',
  ],
  metadataUnreadable: ['metadata', 'must be SAML metadata in UTF-8, without a document type'],
  metadataEntities: ['metadata', 'has several entities. Send the metadata of one identity provider'],
  metadataNoIdp: ['metadata', 'has no identity provider (IDPSSODescriptor with an entityID), or several'],
  metadataNoRedirect: ['metadata', 'has no single sign-on service for the HTTP-Redirect binding'],
  metadataNoCertificate: ['metadata', 'has no certificate for signing'],
  metadataCertificates: ['metadata', 'has too many certificates for signing; at most 5 are accepted'],
  certificateUnreadable: ['certificate', 'must be an X.509 certificate, as PEM or base64 of DER'],
  certificateExpired: [
    'certificate',
    'has expired. Send the certificate with which the identity provider signs now',
  ],
  certificateWeak: ['certificate', 'has an RSA key of less than 2048 bits'],
  certificateKey: ['certificate', 'must have an RSA key, or one on the curve P-256, P-384 or P-521'],
  otherEntity: [
    'entity_id',
    ({ entityId }: { entityId: string }) =>
      `is of another identity provider, ${entityId}. Add it as another provider`,
  ],
  issuerAddress: ['issuer', 'must have the name of a host, not an address'],
  issuerHere: ['issuer', 'must not be this installation'],
  issuerShared: [
    'issuer',
    'must be of one company: use the issuer of your tenant, https://login.microsoftonline.com/<tenant id>/v2.0',
  ],
  domainOfTeam: ['domain', 'must be domains of the team'],
  domainTaken: [
    'domain',
    ({ domain }: { domain: string }) =>
      `is bound to another identity provider: ${domain}. Remove it there first`,
  ],
  groupTwice: ['duplicate', ({ group }: { group: string }) => `has the group ${group} twice`],
  wrongCode: ['wrong_code', 'is wrong or was used already; wait for the next code'],
  recoveryCode: ['wrong_code', 'is not an unused recovery code of the team'],
  domain: ['domain', 'must be the name of a domain such as acme.net, without https:// and path'],
  zoneRoot: ['zone_name', 'must not be the root or a top-level domain'],
  mixedScripts: [
    'mixed_scripts',
    ({ suggestion }: { suggestion: string }) =>
      `has letters of several scripts that look alike. If that is meant, write ${suggestion}`,
  ],
  zoneWildcard: [
    'wildcard',
    'must not begin with *: create the zone without it, and in it record sets with the name *',
  ],
  zoneIdna: [
    'idna',
    ({ label }: { label: string }) =>
      `has the label ${label}, which no international name has (IDNA); write the name in Unicode`,
  ],
  zonePublicSuffix: [
    'public_suffix',
    'is a public suffix, under which others register domains; name a zone below it',
  ],
  zoneSpecialUse: ['special_use', ({ tld }: { tld: string }) => `is in .${tld}, which is reserved`],
  zoneReverse: [
    'reverse_zone',
    'must be made of whole labels of an address, such as 113.0.203.in-addr.arpa or 8.b.d.0.1.0.0.2.ip6.arpa',
  ],
  zoneNotYours: [
    'not_your_address',
    ({ cidr }: { cidr: string }) =>
      `is the zone of ${cidr}, which is not in a prefix or an announcement of the team`,
  ],
  notYourAddress: ['not_your_address', 'is not in a prefix or an announcement of the team'],
  primariesMissing: ['required', 'is required for a secondary zone'],
  primariesFixed: [
    'not_accepted',
    'is fixed once the zone exists. Delete the zone and create it with the other primaries',
  ],
  kindFixed: [
    'not_accepted',
    'is fixed once the zone exists. Delete the zone and create it with the other kind',
  ],
  zoneText: ['not_accepted', 'is not accepted here: import the zone file with POST /v3/dns/zones/import'],
  powerdnsKind: ['not_accepted', ({ kinds }: { kinds: string }) => `must be one of ${kinds}`],
  oneSoa: ['several_in_set', 'must have one record: a zone has one SOA record'],
  nsec3Parameters: [
    'not_accepted',
    ({ parameters }: { parameters: string }) =>
      `must be ${parameters} as RFC 9276 asks for, or empty for NSEC records`,
  ],
  nsec3Narrow: [
    'not_accepted',
    'is not supported: NSEC3 records are those of the names of the zone, signed in advance',
  ],
  nsec3Unsigned: [
    'not_accepted',
    'is possible only in a signed zone: send `dnssec` with the value `true` as well',
  ],
  cryptokeyState: [
    'not_accepted',
    'is decided by the rollover of the zone: create a key to replace this one, or delete it to disable DNSSEC',
  ],
  metadataKind: [
    'not_accepted',
    ({ kinds }: { kinds: string }) => `is not supported here. Kinds with a setting of the zone: ${kinds}`,
  ],
  notSecondary: ['not_accepted', 'is not a secondary zone: there is no primary to transfer it from'],
  statistic: ['not_found', 'is unknown. Statistics: uptime'],
  canonicalName: ['trailing_dot', 'must be a name with the trailing dot'],
  disabledRecord: ['not_accepted', 'is not supported: leave out records that are not to be served'],
  cryptokey: [
    'not_accepted',
    'must be ecdsa256 or ed25519, and keys are created by the server: leave out content',
  ],
  primariesOfPrimary: ['not_accepted', 'is accepted for secondary zones only'],
  secondaryContent: ['not_accepted', 'is not accepted for a secondary zone: its records are transferred'],
  tsigKey: ['unknown', 'is not the name of a TSIG key of the provider or of the team'],
  tsigKeyId: ['unknown', 'is not the id of a TSIG key of the provider or of the team'],
  alertObject: ['unknown', ({ type }: { type: string }) => `is not the id of a ${type} of the team`],
  alertWindow: ['window', ({ days }: { days: number }) => `must be at most ${days} days before the end`],
  confirm: ['confirm', ({ zone }: { zone: string }) => `must be the name of the zone, ${zone}`],
  ipAddress: ['address', 'must be an IP address such as 192.0.2.53 or 2001:db8::53'],
  privateServer: [
    'address',
    'must be an address of the public internet; ask your provider to allow another network',
  ],
  serverPort: ['port', ({ ports }: { ports: string }) => `must be a port that the provider allows: ${ports}`],
  differsFromPath: ['mismatch', 'must be that of the path, or be left out'],
  outOfZone: ['out_of_zone', ({ zone }: { zone: string }) => `is not in the zone ${zone}`],
  trailingDot: [
    'trailing_dot',
    ({ suggestion }: { suggestion: string }) =>
      `has several labels and no trailing dot, so that it would be relative to the zone. Write ${suggestion}`,
  ],
  recordType: ['unknown', 'is not a record type; write it as A, MX, ... or TYPE and its number'],
  genericForm: [
    'generic_form',
    ({ type }: { type: string }) =>
      `must be written as \\# length octets (RFC 3597): ${type} has no text form here`,
  ],
  unsupportedType: ['unsupported_type', ({ reason }: { reason: string }) => `is not supported: ${reason}`],
  repeatedRecordSet: [
    'repeated',
    ({ id }: { id: string }) => `has the name and type of ${id}, which is in the request already`,
  ],
  ttlTooLow: [
    'range',
    ({ minimum }: { minimum: number }) => `must be at least ${minimum}, the lowest TTL of the zone`,
  ],
  recordsEmpty: ['minItems', 'must not be empty; use DELETE to delete the record set'],
  recordsMissing: ['required', 'is required; or send add and remove'],
  recordsExclusive: ['exclusive', 'must not be sent with add or remove: send one of them'],
  nothingLeft: ['minItems', 'must leave a record; use DELETE to delete the record set'],
  inChildZone: [
    'in_child_zone',
    ({ zone }: { zone: string }) =>
      `is at or below ${zone}, a zone of its own that answers for the name. Change it in ${zone}`,
  ],
  apexNsKept: [
    'apex_ns_required',
    'must keep NS records of the zone itself: nothing of a zone without them is published. Send other NS records instead',
  ],
  ptrType: ['not_accepted', 'is accepted for A and AAAA only'],
  ptrWildcard: ['not_accepted', 'is not accepted for a wildcard, whose name is not that of a host'],
  outsideLimit: [
    'resource_limited',
    ({ allowed }: { allowed: readonly string[] }) =>
      `is outside of the resources of this credential: ${allowed.length === 0 ? 'it has none of this kind' : allowed.join(', ')}`,
  ],
  resourcesMissing: ['missing', 'must name a resource; leave it out for all resources of the team'],
  scopeClosed: [
    'scope_closed',
    ({ scope }: { scope: string }) =>
      `is ${scope}, which opens nothing for a token with resources; leave it out`,
  ],
  scopeWithoutResource: [
    'scope_closed',
    ({ scope, allowed }: { scope: string; allowed: readonly string[] }) =>
      `is ${scope}, which opens nothing without ${allowed.join(' or ')} in the resources`,
  ],
  uselessKey: ['required', 'must be true, or may_transfer: the key could be used for nothing'],
  widens: ['widens', 'must not allow more than before; create another token instead'],
  adminOfAccount: [
    'exclusive',
    'is for tokens of the team; a token of a service account has the roles of the account',
  ],
  tokenDays: [
    'too_late',
    ({ days, latest }: { days: number; latest: string }) =>
      `is later than the team allows: at most ${days} days ahead, ${latest}`,
  ],
  repeatedAddress: ['repeated', ({ ip }: { ip: string }) => `is ${ip}, which is in the request already`],
  repeatedTemplate: [
    'repeated',
    ({ cidr }: { cidr: string }) => `is ${cidr}, which is in the request already`,
  ],
  ptrBatchEmpty: ['required', 'is required; or send templates'],
  ptrPattern: ['pattern', ({ reason }: { reason: string }) => `is not a valid pattern: ${reason}`],
  templateTooWide: [
    'template_too_wide',
    ({ longest }: { longest: number }) =>
      `has too many addresses for a pattern with placeholders: at most those of a /${longest}. Use one fixed name, or a smaller network`,
  ],
  rolesAndAdmin: ['exclusive', 'must not be sent with roles: send one of them'],
  rolesMissing: ['required', 'is required, or is_admin'],
  passwordOrPasskey: ['required', 'is required, or passkey; not both'],
  lastAdmin: [
    'last_admin',
    ({ name }: { team_id: number; name: string }) =>
      `is of the last admin of ${name}: make another member an admin first`,
  ],
  zoneFileOrAxfr: ['exclusive', 'is required, or axfr; not both'],
  dnssecKey: ['key', ({ reason }: { reason: string }) => `is not a key that can be imported: ${reason}`],
  zoneTransfer: ['transfer', ({ reason }: { reason: string }) => `must hand out the zone by AXFR: ${reason}`],
  importEmpty: ['empty', 'has no record that can be imported'],
  mailboxName: [
    'pattern',
    ({ suggestion }: { suggestion: string }) => `must be written as a name: ${suggestion}`,
  ],
  retryRange: ['range', 'must be less than refresh'],
  minimumTtlRange: ['range', 'must be at most default_ttl'],
  apexNsPermission: ['not_accepted', 'is not allowed by the provider'],
  announcement: ['not_found', 'is not an announcement of the team'],
  prefixHeld: ['prefix_claimed', 'is held by another customer of the provider'],
  asnUnverified: [
    'asn_not_verified',
    ({ verify }: { verify: string }) => `must be verified for the team; GET ${verify} returns how`,
  ],
  asnReserved: ['reserved_asn', ({ name }: { name: string }) => `is reserved: ${name}`],
  prefixTooLong: [
    'prefix_length',
    ({ longest }: { longest: number }) =>
      `must not be longer than /${longest}: other networks do not accept it`,
  ],
  prefixTooShort: [
    'prefix_length',
    ({ shortest }: { shortest: number }) => `must not be shorter than /${shortest}: check the prefix length`,
  ],
  capture: ['capture', ({ reason }: { reason: string }) => `is no readable capture: ${reason}`],
  bogon: [
    'bogon',
    ({ block, name }: { block: string; name: string }) =>
      `overlaps ${block} (${name}), which is not announced on the Internet`,
  ],
  webhookUrl: ['url', 'must be a URL such as https://hooks.example.net/pharos'],
  webhookScheme: ['scheme', 'must begin with https://'],
  webhookCredentials: [
    'credentials',
    'must not contain credentials; check the signature of each message instead',
  ],
  webhookFragment: ['fragment', 'must not have a fragment: it is never sent'],
  urlPort: ['port', ({ ports }: { ports: string }) => `must use a port that the provider allows: ${ports}`],
  webhookAddress: [
    'address',
    'must lead to an address of the public internet; ask your provider to allow another network',
  ],
  webhookAddressStaff: [
    'address',
    'must lead to an address of the public internet, or of a network in the setting webhook_networks_allowed',
  ],
  webhookHost: [
    'host',
    'must be a name that the public internet resolves; ask your provider to allow a private network',
  ],
  webhookHostStaff: [
    'host',
    'must be a name that the public internet resolves, unless the setting webhook_networks_allowed names a network',
  ],
  scopesMissing: [
    'scopes',
    ({ known }: { known: readonly string[] }) => `must not be empty; scopes are ${known.join(', ')}`,
  ],
  scope: [
    'scopes',
    ({ unknown, known }: { unknown: string; known: readonly string[] }) =>
      `has the unknown scope ${unknown}; scopes are ${known.join(', ')}`,
  ],
} as const satisfies Readonly<
  Record<string, readonly [type: string, text: string | ((attrs: never) => string)]>
>

export type FailureTexts = typeof failureTexts
export type InvalidTexts = typeof invalidTexts
export type InvalidCondition = keyof InvalidTexts

type AttrsOf<T> = T extends (attrs: infer A) => string ? A : undefined

/** The attributes of a message; undefined for a text without attributes. */
export type FailureAttrs<C extends keyof FailureTexts, N extends keyof FailureTexts[C]> = AttrsOf<
  FailureTexts[C][N]
>
export type InvalidAttrs<N extends InvalidCondition> = AttrsOf<InvalidTexts[N][1]>

/** Returns the text of a message with its attributes. */
export const textOf = (text: string | ((attrs: never) => string), attrs: Attrs | undefined): string =>
  typeof text === 'string' ? text : text(attrs as never)
