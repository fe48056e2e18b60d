// The identity providers of a team, as its admins manage them.
import { createHash, randomInt } from 'node:crypto'
import { isIP } from 'node:net'
import { orderedRoles } from '@pharos/contract/role'
import type { BodyOf, QueryOf } from '@pharos/contract/route'
import {
  providersMax,
  type createProviderRoute,
  type GroupMapping,
  type listProvidersRoute,
  type listSignInAttemptsRoute,
  type Provider,
  type FailedSignIn,
  type updateProviderRoute,
} from '@pharos/contract/team/provider'
import { auditOf, writeAudit } from '../db/audit.ts'
import type { Db, Postgres, Trx } from '../db/postgres.ts'
import { isUpgradeFinished } from '../db/release.ts'
import { runChange, runOwnerChange, type ChangeAnswer } from '../db/run-change.ts'
import { queueMail } from '../mail/mail.ts'
import { hasPort, printPorts, type PortList } from '../net/port-list.ts'
import { etagOf, requireMatch } from '../operation/etag.ts'
import type { Operation } from '../operation/operation.ts'
import { errorAt, fail, failWith, invalid, notFound } from '../runtime/error.ts'
import type { KeyRing } from '../runtime/secrets.ts'
import { findAdmins } from '../team/domain.store.ts'
import { getTeamAccess, operationIn } from '../team/team-access.ts'
import { requireStillGranted } from '../team/team-lock.ts'
import { relyingPartyUris, sealClientSecret, serviceProviderOf } from './open-provider.ts'
import {
  bindDomains,
  countProviders,
  deleteProviderRow,
  endProofs,
  findProvider,
  insertProvider,
  isSaml,
  listAttemptRows,
  listProviderRows,
  lockDomains,
  lockProvider,
  replaceMappings,
  saveProvider,
  type AttemptRow,
  type ProviderChange,
  type ProviderRow,
  type StoredScim,
  type StoredSettings,
} from './provider.store.ts'
import type { GivenSaml, ReadSamlSettings, StoredSaml } from './saml-settings.ts'
import { hasOtherProvider, readPolicy } from './sign-in-policy.store.ts'

export type ProviderDeps = {
  readonly db: Db
  readonly postgres: Postgres
  readonly ring: KeyRing
  readonly publicUrl: string
  readonly issuerRules: IssuerRules
  readonly readSamlSettings: ReadSamlSettings
  /** Applies the roles of the provider to the members whom SCIM has made, as the owner of the tables. */
  readonly applyToProvisioned: (
    trx: Trx,
    provider: { readonly id: number; readonly teamId: number },
    author: ReturnType<typeof auditOf>,
  ) => Promise<void>
}

export type IssuerRules = {
  /** Whether a setting allows networks that are not public: their providers may be addresses, and without TLS. */
  readonly allowsPrivate: boolean
  readonly ports: PortList
  /** An issuer that the sandbox answers for, on loopback only. */
  readonly sandboxIssuer: string | null
}

/** Enters the team of the path, for its admins. */
export async function enterToManage(
  { db }: Pick<ProviderDeps, 'db'>,
  operation: Operation,
  team: string,
): Promise<Operation> {
  const access = await getTeamAccess(db, operation, team, 'team.manage')
  return operationIn(operation, access)
}

export async function listProviders(
  deps: ProviderDeps,
  operation: Operation,
  team: string,
  query: QueryOf<typeof listProvidersRoute>,
): Promise<{ results: Provider[]; count: number }> {
  const { actor } = await enterToManage(deps, operation, team)
  const { page, count } = await listProviderRows(deps.postgres, actor.teamId, query)
  return { results: page.map((row) => present(deps, row)), count }
}

/** Throws `not_found`. */
export async function getProvider(
  deps: ProviderDeps,
  operation: Operation,
  team: string,
  id: number,
): Promise<ChangeAnswer<Provider>> {
  const { actor } = await enterToManage(deps, operation, team)
  return answerWith(deps, known(await findProvider(deps.postgres, actor.teamId, id)))
}

/** Throws `quota_exceeded`, and `invalid` for an issuer that is not of one company. */
export async function createProvider(
  deps: ProviderDeps,
  operation: Operation,
  team: string,
  body: BodyOf<typeof createProviderRoute>,
): Promise<ChangeAnswer<Provider>> {
  const inTeam = await enterToManage(deps, operation, team)
  const { teamId } = inTeam.actor
  const own =
    body.kind === 'saml'
      ? (await deps.readSamlSettings(givenSaml(body), null))!
      : {
          issuer: body.issuer,
          client_id: body.client_id,
          sign_out_at_provider: body.sign_out_at_provider ?? false,
        }
  if (body.kind === 'oidc') requireIssuer(deps, body.issuer)
  const wanted = changedBy({ ...initial, name: body.name, settings: { ...initialSettings, ...own } }, body)
  return runChange(deps.postgres, inTeam, async (trx) => {
    await requireStillGranted(trx, inTeam, 'team.manage')
    if ((await countProviders(trx, teamId)) >= providersMax)
      throw fail('quota_exceeded', 'providers', { limit: providersMax })
    const key = createKey()
    const secretSealed = body.kind === 'oidc' ? sealClientSecret(deps.ring, key, body.client_secret) : null
    const id = await insertProvider(trx, { ...wanted, key, team_id: teamId, kind: body.kind, secretSealed })
    await saveBound(trx, teamId, id, wanted)
    const row = known(await lockProvider(trx, teamId, id))
    await writeAudit(trx, { ...auditOf(inTeam), ...entryOf('create', id), after: recordedOf(row) })
    return answerWith(deps, row)
  })
}

const initialSettings = { groups_claim: 'groups', second_factor_values: [] }

const initial: Omit<ProviderChange, 'settings'> = {
  name: '',
  status: 'draft',
  session_hours: 12,
  second_factor: 'claim',
  default_roles: [],
  domain_ids: [],
  mappings: [],
}

const keyLetters = 'abcdefghijklmnopqrstuvwxyz234567'
const createKey = (): string => Array.from({ length: 12 }, () => keyLetters[randomInt(32)]).join('')

/** Throws `not_found`, `precondition_failed`, and `conflict` if it cannot be activated. */
export async function updateProvider(
  deps: ProviderDeps,
  operation: Operation,
  team: string,
  id: number,
  body: BodyOf<typeof updateProviderRoute>,
): Promise<ChangeAnswer<Provider>> {
  const inTeam = await enterToManage(deps, operation, team)
  const { teamId } = inTeam.actor
  const isFinished = body.status !== 'active' || (await isUpgradeFinished(deps.db))
  const row = known(await findProvider(deps.postgres, teamId, id))
  const saml = await readSaml(deps, row, body)
  const change = async (trx: Trx) => {
    await requireStillGranted(trx, inTeam, 'team.manage')
    const before = await lockForChange(trx, inTeam, id)
    const wanted = changedBy(before, body, saml)
    const isSame = JSON.stringify(wanted) === JSON.stringify(changeOf(before))
    if (isSame && body.client_secret === undefined) return before
    const isLost =
      wanted.status !== 'active' || (wanted.domain_ids.length === 0 && before.domain_ids.length > 0)
    if (isLost) await requireProviderLeft(trx, before)
    const domains = await saveBound(trx, teamId, id, wanted, before)
    if (wanted.status === 'active' && before.status !== 'active') {
      // A process of the release before would open every team to a session of the provider.
      if (!isFinished) throw fail('conflict', 'unfinishedUpgrade')
      if (before.tested === null) throw fail('conflict', 'providerUntested')
      if (!domains.some(({ is_verified }) => is_verified)) throw fail('conflict', 'providerDomain')
    }
    const secret =
      body.client_secret === undefined ? null : sealClientSecret(deps.ring, before.key, body.client_secret)
    await saveProvider(trx, before, wanted, secret)
    if (before.status === 'active' && wanted.status !== 'active') await endProofs(trx, teamId, id)
    const after = known(await lockProvider(trx, teamId, id))
    await writeAudit(trx, {
      ...auditOf(inTeam),
      ...entryOf('update', id),
      before: recordedOf(before),
      after: { ...recordedOf(after), ...(secret === null ? {} : { client_secret: 'changed' }) },
    })
    await mailCertificates(trx, deps.ring, inTeam, before, after)
    return after
  }
  return runUpdate(deps, inTeam, row, body, saml !== undefined, change)
}

/** To all admins: a key of a new certificate signs in as any member. A draft signs nobody in. */
async function mailCertificates(
  trx: Trx,
  ring: KeyRing,
  { actor: { teamId }, address }: Operation,
  before: ProviderRow,
  { name, settings, status }: ProviderRow,
): Promise<void> {
  if (!isSaml(settings) || !isSaml(before.settings) || status === 'draft') return
  const known = before.settings.certificates
  if (settings.certificates.every((one) => known.includes(one))) return
  const fingerprints = settings.certificates.map((one) =>
    createHash('sha256').update(Buffer.from(one, 'base64')).digest('hex'),
  )
  const { team, emails } = await findAdmins(trx, teamId)
  const at = new Date().toISOString()
  const content = { change: 'certificates changed', team, provider: name, fingerprints, at, address } as const
  for (const to of emails) await queueMail(trx, ring, { to, teamId, template: 'team-sign-in', content })
}

/** Other roles apply to members of SCIM in the same transaction, and all admins get a mail. It runs as the owner then: accounts belong to no team. */
async function runUpdate(
  deps: ProviderDeps,
  operation: Operation,
  { id, team_id: teamId, scim }: ProviderRow,
  { mappings, default_roles }: Changes,
  isMailed: boolean,
  change: (trx: Trx) => Promise<ProviderRow>,
): Promise<ChangeAnswer<Provider>> {
  const isApplied = scim !== null && (mappings !== undefined || default_roles !== undefined)
  if (!isApplied && !isMailed)
    return runChange(deps.postgres, operation, async (trx) => answerWith(deps, await change(trx)))
  return runOwnerChange(deps.db, operation, async (trx) => {
    const row = await change(trx)
    if (!isApplied) return answerWith(deps, row)
    await deps.applyToProvisioned(trx, { id, teamId }, auditOf(operation))
    return answerWith(deps, known(await lockProvider(trx, teamId, id)))
  })
}

export async function deleteProvider(
  deps: ProviderDeps,
  operation: Operation,
  team: string,
  id: number,
): Promise<ChangeAnswer<null>> {
  const inTeam = await enterToManage(deps, operation, team)
  const { teamId } = inTeam.actor
  return runChange(deps.postgres, inTeam, async (trx) => {
    await requireStillGranted(trx, inTeam, 'team.manage')
    const before = await lockForChange(trx, inTeam, id)
    await requireProviderLeft(trx, before)
    await endProofs(trx, teamId, id)
    await deleteProviderRow(trx, before)
    await writeAudit(trx, { ...auditOf(inTeam), ...entryOf('delete', id), before: recordedOf(before) })
    return { body: null }
  })
}

export async function listSignInAttempts(
  deps: ProviderDeps,
  operation: Operation,
  team: string,
  id: number,
  query: QueryOf<typeof listSignInAttemptsRoute>,
): Promise<{ results: FailedSignIn[]; count: number }> {
  const { actor } = await enterToManage(deps, operation, team)
  known(await findProvider(deps.postgres, actor.teamId, id))
  const { page, count } = await listAttemptRows(deps.postgres, actor.teamId, id, query)
  return { results: page.map(presentAttempt), count }
}

const presentAttempt = ({ at, ...rest }: AttemptRow): FailedSignIn => ({ ...rest, at: at.toISOString() })

type Changes = Omit<BodyOf<typeof updateProviderRoute>, 'client_secret' | keyof GivenSaml>

const oidcFields = ['client_id', 'client_secret', 'sign_out_at_provider'] as const
const samlFields = ['metadata_url', 'metadata', 'entity_id', 'sign_on_url', 'certificates'] as const

const givenSaml = (body: GivenSaml): GivenSaml =>
  Object.fromEntries(samlFields.map((name) => [name, body[name]]).filter(([, value]) => value !== undefined))

/** Before the transaction, since metadata may be read from a URL. Throws `invalid` for fields of the other kind. */
async function readSaml(
  deps: ProviderDeps,
  { kind, settings }: ProviderRow,
  body: BodyOf<typeof updateProviderRoute>,
): Promise<StoredSaml | undefined> {
  const others: readonly string[] = kind === 'saml' ? oidcFields : samlFields
  const wrong = others.find((name) => Object.hasOwn(body, name))
  if (wrong !== undefined) throw invalid(['body', wrong], 'fieldOfKind', { kind })
  return isSaml(settings) ? deps.readSamlSettings(givenSaml(body), settings) : undefined
}

/** Returns the settings of the driver with the given fields. */
function ownSettings(
  settings: StoredSettings,
  { client_id, sign_out_at_provider }: Changes,
  saml: StoredSaml | undefined,
): StoredSettings {
  if (isSaml(settings)) return { ...settings, ...saml }
  return {
    ...settings,
    client_id: client_id ?? settings.client_id,
    sign_out_at_provider: sign_out_at_provider ?? settings.sign_out_at_provider ?? false,
  }
}

/** Returns the row with the given fields. Throws `invalid` for a group that is named twice. */
function changedBy(row: ProviderChange, changes: Changes, saml?: StoredSaml): ProviderChange {
  const settings = ownSettings(row.settings, changes, saml)
  return {
    name: changes.name ?? row.name,
    status: changes.status ?? row.status,
    settings: {
      ...settings,
      groups_claim: changes.groups_claim ?? settings.groups_claim,
      second_factor_values: changes.second_factor_values ?? settings.second_factor_values,
    },
    session_hours: changes.session_hours ?? row.session_hours,
    second_factor: changes.second_factor ?? row.second_factor,
    default_roles: changes.default_roles ?? row.default_roles,
    domain_ids: (changes.domain_ids ?? row.domain_ids).toSorted((a, b) => a - b),
    mappings: changes.mappings ? orderedMappings(changes.mappings) : row.mappings,
  }
}

const changeOf = (row: ProviderRow): ProviderChange => changedBy(row, {})

function orderedMappings(mappings: readonly GroupMapping[]): GroupMapping[] {
  const groups = mappings.map(({ group }) => group)
  const twice = groups.find((group, at) => groups.indexOf(group) !== at)
  if (twice !== undefined) throw invalid(['body', 'mappings'], 'groupTwice', { group: twice })
  return mappings
    .map(({ group, roles }) => ({ group, roles: orderedRoles(roles) }))
    .toSorted((a, b) => (a.group < b.group ? -1 : 1))
}

/** Saves mappings and domains. Ends the proofs for domains that the provider loses. Returns the bound domains. */
async function saveBound(
  trx: Trx,
  teamId: number,
  id: number,
  { mappings, domain_ids }: ProviderChange,
  before: Pick<ProviderChange, 'mappings' | 'domain_ids'> = initial,
) {
  if (JSON.stringify(mappings) !== JSON.stringify(before.mappings)) await replaceMappings(trx, id, mappings)
  const rows = await lockDomains(trx, teamId, [...domain_ids, ...before.domain_ids])
  const bound = rows.filter((row) => domain_ids.includes(row.id))
  if (bound.length !== domain_ids.length) throw invalid(['body', 'domain_ids'], 'domainOfTeam')
  const taken = bound.find(({ provider_id }) => provider_id !== null && provider_id !== id)
  if (taken)
    throw failWith('invalid', [errorAt(['body', 'domain_ids'], 'domainTaken', { domain: taken.domain })])
  await bindDomains(trx, teamId, id, domain_ids)
  for (const { id: lost, domain } of rows)
    if (!domain_ids.includes(lost)) await endProofs(trx, teamId, id, domain)
  return bound
}

async function lockForChange(trx: Trx, { actor, ifMatch }: Operation, id: number): Promise<ProviderRow> {
  const row = known(await lockProvider(trx, actor.teamId, id))
  requireMatch(ifMatch, etag(row))
  return row
}

/** Throws `conflict` if the team requires its identity provider, and this is the last one that signs in. The team is locked. */
async function requireProviderLeft(trx: Trx, { id, team_id, status }: ProviderRow): Promise<void> {
  if (status !== 'active' || (await readPolicy(trx, team_id))?.policy === 'optional') return
  if (!(await hasOtherProvider(trx, team_id, id))) throw fail('conflict', 'policyNeedsProvider')
}

export function known<Row>(row: Row | undefined): Row {
  if (!row) throw notFound('identity provider')
  return row
}

const sharedIssuer = /^https:\/\/login\.microsoftonline\.com\/(?:common|organizations|consumers)(?:\/|$)/i

/** Throws `invalid` for an issuer that is no URL, is shared by companies, or is this installation. */
function requireIssuer({ issuerRules, publicUrl }: ProviderDeps, issuer: string): void {
  if (issuer === issuerRules.sandboxIssuer) return
  const loc = ['body', 'issuer']
  const url = URL.parse(issuer)
  const isHttps = url?.protocol === 'https:' || (issuerRules.allowsPrivate && url?.protocol === 'http:')
  if (!url || !isHttps || url.username !== '' || url.password !== '' || /[?#\s]/.test(issuer))
    throw invalid(loc, 'issuerUrl')
  if (!issuerRules.allowsPrivate && isIP(url.hostname.replace(/^\[|\]$/g, '')) !== 0)
    throw invalid(loc, 'issuerAddress')
  const { ports } = issuerRules
  if (!issuerRules.allowsPrivate && !hasPort(ports, Number(url.port || 443)))
    throw invalid(loc, 'urlPort', { ports: printPorts(ports) })
  if (url.host === new URL(publicUrl).host) throw invalid(loc, 'issuerHere')
  if (sharedIssuer.test(issuer)) throw invalid(loc, 'issuerShared')
}

const entryOf = (verb: string, id: number) => ({ action: `provider.${verb}`, target: `provider:${id}` })

const recordedOf = (row: ProviderRow) => {
  const { settings, ...rest } = changeOf(row)
  return { ...rest, ...settings }
}

/** What changes beside the version, such as domains that are deleted. */
const etag = ({ version, domain_ids, problem, tested, scim }: ProviderRow): string =>
  etagOf(version, [domain_ids, problem, tested, scim])

const answerWith = (deps: ProviderDeps, row: ProviderRow) => ({ body: present(deps, row), etag: etag(row) })

const timeOf = (time: string | null): string | null => time && new Date(time).toISOString()

const presentScim = (publicUrl: string, scim: StoredScim | null): Provider['scim'] =>
  scim && {
    ...scim,
    base_url: `${publicUrl}/scim/v2`,
    created: timeOf(scim.created)!,
    last_used: timeOf(scim.last_used),
    previous_secret_until: timeOf(scim.previous_secret_until),
  }

const present = ({ publicUrl }: ProviderDeps, row: ProviderRow): Provider => {
  const { id, name, status, key, settings } = row
  const shared = {
    domain_ids: row.domain_ids,
    session_hours: row.session_hours,
    second_factor: row.second_factor,
    second_factor_values: [...settings.second_factor_values],
    groups_claim: settings.groups_claim,
    default_roles: row.default_roles,
    mappings: row.mappings,
    tested: row.tested?.toISOString() ?? null,
    problem: row.problem,
    scim: presentScim(publicUrl, row.scim),
    created: row.created.toISOString(),
  }
  if (!isSaml(settings)) {
    const { issuer, client_id, sign_out_at_provider = false } = settings
    const sp = relyingPartyUris(publicUrl, key)
    return { id, kind: 'oidc', name, status, issuer, client_id, sign_out_at_provider, sp, ...shared }
  }
  const { entity_id, sign_on_url, certificates, certificates_expire, metadata_url } = settings
  const own = { entity_id, sign_on_url, certificates: [...certificates], certificates_expire, metadata_url }
  return { id, kind: 'saml', name, status, ...own, sp: serviceProviderOf(publicUrl, key), ...shared }
}
