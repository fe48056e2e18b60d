// The api role: the HTTP server with every operation on it, wired by hand. Read it from top to bottom.
import type { FastifyInstance } from 'fastify'
import type { Permission } from '@pharos/contract/route'
import { routes } from '@pharos/contract/routes'
import { findEventFile } from '../events/attachment/event-attachment.ts'
import { deliveryRoutes } from '../events/delivery.routes.ts'
import { readPortFlows } from '../flow/port-flows.ts'
import { readFamilyUsage } from '../flow/port-usage.ts'
import { flowRoutes } from '../flow/flow.routes.ts'
import { timezoneRoutes } from '../events/place/timezone.routes.ts'
import { createWhatIf } from '../flow/what-if.ts'
import { createMessageCache } from '../events/list/message-cache.ts'
import { listDependentLists } from '../shield/shield-list.store.ts'
import { shieldRoutes } from '../shield/shield.routes.ts'
import { eventRoutes } from '../events/event.routes.ts'
import { announcementRoutes } from '../byoip/announcement/announcement.routes.ts'
import { blackholeRoutes } from '../byoip/blackhole/blackhole.routes.ts'
import { restoreRoutes } from '../restore/restore.routes.ts'
import { checkFreshMs } from '../byoip/regions/router.ts'
import { readEvidence } from '../byoip/regions/region-evidence.ts'
import { routerRoutes } from '../byoip/regions/router.routes.ts'
import { createInspector, type LetterScanner } from '../byoip/letter/inspect-letter.ts'
import { createDrafter } from '../byoip/letter/letter-draft.ts'
import { letterQuotas } from '../byoip/letter/letter.ts'
import { letterRoutes } from '../byoip/letter/letter.routes.ts'
import { auditRoutes } from '../audit/audit.routes.ts'
import { authorize } from '../http/authenticate.ts'
import { findSealedKey } from '../dns/publish/follow.store.ts'
import { dnssecRoutes } from '../dns/dnssec/dnssec.routes.ts'
import { enableForNewZone } from '../dns/dnssec/request-dnssec.ts'
import { waitsFor } from '../dns/sign/key-state.ts'
import { dnsRoutes } from '../dns/dns.routes.ts'
import { powerdnsApi } from '../dns/powerdns/powerdns.routes.ts'
import { createAddressResolver } from '../drivers/dns/address-resolver.ts'
import { createTransferSource } from '../drivers/dns-follower/zone-primary.ts'
import { createForwardCheck } from '../dns/reverse/forward-check.ts'
import { listDependentZones } from '../dns/reverse/dependent-zones.ts'
import { listPtrNames } from '../dns/reverse/ptr.ts'
import { addHealth } from '../http/health.ts'
import { createBrandReader } from '../brand/brand.ts'
import type { Mounted } from '../http/mount.ts'
import { addDocumentation } from '../http/documentation.ts'
import { addSecurityTxt } from '../http/security-txt.ts'
import { addPortal } from '../http/portal.ts'
import { createHttpServer } from '../http/server.ts'
import { createRefreshLimits } from '../inventory/holding/asn-proof.ts'
import type { StoredFile } from '../inventory/attachment/attachment.store.ts'
import { asnRoutes } from '../inventory/asn.routes.ts'
import { crossConnectRoutes } from '../inventory/cross-connect.routes.ts'
import { inventoryRoutes } from '../inventory/inventory.routes.ts'
import { createScanner } from '../drivers/scanners.ts'
import { isLoopback } from '../net/loopback.ts'
import type { Actor } from '../operation/operation.ts'
import { platformRoutes } from '../platform/platform.routes.ts'
import { publicUrl, type Config } from '../runtime/config.ts'
import { Failure } from '../runtime/error.ts'
import { readOnCollect } from '../runtime/metrics.ts'
import { createPostResponseTasks, type PostResponseTasks } from '../runtime/post-response-tasks.ts'
import { ClientLimiter } from '../runtime/client-limiter.ts'
import { RateLimiter } from '../runtime/rate-limit.ts'
import { createSemaphore } from '../runtime/semaphore.ts'
import { AccessTokens } from '../session/access-token.ts'
import { accountRoutes } from '../session/account.routes.ts'
import { openBreachedPasswords } from '../session/breached-passwords.ts'
import { createCredentials } from '../session/credentials.ts'
import { domainRoutes } from '../team/domain.routes.ts'
import { customerRoutes, teamRoutes } from '../team/team.routes.ts'
import { invitationRoutes } from '../session/accept-invitation.routes.ts'
import { apiTokenRoutes } from '../session/api-token.routes.ts'
import { createMailLimits } from '../session/mail-limits.ts'
import { createWrongPasswords } from '../session/password-check.ts'
import { secondFactorRoutes } from '../session/second-factor.routes.ts'
import { sessionRoutes } from '../session/session.routes.ts'
import type { SigningKeys } from '../session/signing-keys.ts'
import { notificationRoutes } from '../notification/notification.routes.ts'
import { addUnsubscribe } from '../notification/unsubscribe.routes.ts'
import { parsePrefixOrAddress } from '../net/prefix.ts'
import { createReportDrawer } from '../report/report.ts'
import { reportRoutes } from '../report/report.routes.ts'
import { createOutboxListener } from '../stream/outbox-listener.ts'
import { searchRoutes } from '../search/search.routes.ts'
import { streamRoutes } from '../stream/stream.routes.ts'
import { webhookRoutes } from '../webhook/webhook.routes.ts'
import { approvalAreas } from './approvals.ts'
import { asnProofDeps } from './asn-proofs.ts'
import { createRefusals, refusalOf } from './audit.ts'
import { domainDeps } from './domains.ts'
import { authorizedProvider, issuerOf } from './provider.ts'
import { healthDeps, httpDeps } from './http.ts'
import { registryRoutes } from './registry-sources.ts'
import { createCheckScrubbers, createListCounting } from './shield.ts'
import { decideDeps } from './restore.ts'
import { openTsigKey } from './tsig-keys.ts'
import type { Shared } from './shared.ts'
import { approvalRoutes } from '../approval/approval.routes.ts'
import { shieldApprovalsWithEffect } from '../shield/approval-area.ts'
import { fromSetting } from './config-error.ts'
import { parsePorts } from '../net/port-list.ts'
import { parseNetworks, webhookDeps } from './webhooks.ts'

/** Several teams may invite the same person on the same day; more would be spam. */
const invitationsAtOnceTo = 3

export type ApiDeps = Shared & {
  readonly signingKeys: SigningKeys
  /** For tests, which wait for post-response tasks. */
  readonly tasks?: PostResponseTasks
}

/** Limit of queued post-response tasks: a few seconds of work. */
const postResponseTasksMax = 1_000

/** Creates the server, not listening yet. */
export function createApi(deps: ApiDeps): FastifyInstance {
  const { config, postgres, waker, signingKeys, log, metrics } = deps
  const accessTokens = new AccessTokens(signingKeys, config.accessTokenLifetimeSeconds)
  const refusals = createRefusals(deps)
  const demoRule = { onLoopback: isLoopback(config.host) }
  const { secret: ring, membersPerTeam } = config
  const common = { db: postgres.front, ring, accessTokens, membersPerTeam, ...demoRule }

  const hashing = createSemaphore({
    permits: config.passwordHashesAtOnce,
    waiting: config.passwordHashesWaiting,
    retryAfterSeconds: 2,
  })
  const wrongPasswords = createWrongPasswords(config.signInLimitPerMinute)
  readOnCollect(metrics.passwordHashesWaiting, () => metrics.passwordHashesWaiting.set(hashing.waiting))

  const credentials = createCredentials({
    ...common,
    waker,
    onTokenUseError: (error) => log.warn({ err: error }, 'last use of an API token not saved'),
    reportRefusal: refusals.note,
  })
  const lifetime = {
    idleSeconds: config.refreshIdleLifetimeSeconds,
    absoluteSeconds: config.refreshAbsoluteLifetimeSeconds,
  }
  const { breachedPasswordsFile } = config
  const breached = breachedPasswordsFile === null ? undefined : openBreachedPasswords(breachedPasswordsFile)
  const { tasks = createTasks(deps) } = deps
  const cookies = {
    secure: publicUrl(config).startsWith('https://'),
    lifetimeSeconds: config.refreshIdleLifetimeSeconds,
  }
  const dns = {
    postgres,
    ring,
    rules: { allowDocumentation: config.allowDocumentationResources },
    transferSource: createTransferSource(async (id) => {
      const key = await findSealedKey(postgres.front, id)
      return key && openTsigKey(ring, key)
    }),
    serverRules: {
      networks: fromSetting('dns_networks_allowed', () => parseNetworks(config.dnsNetworksAllowed)),
      ports: fromSetting('dns_ports_allowed', () => parsePorts(config.dnsPortsAllowed)),
    },
    enableDnssec: enableForNewZone({ ring, now: () => new Date() }),
    forward: createForwardCheck({
      resolver: createAddressResolver({ servers: config.dnsResolvers, tries: 1 }),
    }),
    now: () => new Date(),
  }
  const inventory = {
    postgres,
    db: postgres.front,
    ring,
    publicUrl: publicUrl(config),
    now: () => new Date(),
    findEventFile: (file: StoredFile, teamId: number | null) => findEventFile(postgres, file, teamId),
  }
  const flows = {
    db: postgres.front,
    flowStore: deps.flowStore,
    retention: { days: config.flowRetentionDays, rollupDays: config.flowRollupRetentionDays },
    now: () => new Date(),
  }
  const readBrand = createBrandReader(postgres.front, config.providerName)
  const estimate = createWhatIf({ db: postgres.front, flowStore: deps.flowStore })
  const signInRate = { perSecond: config.signInLimitPerMinute / 60, burst: config.signInLimitPerMinute }
  const outboxListener = createOutboxListener({ db: postgres.front, waker, log, metrics })
  const mounted: Mounted[] = [
    ...sessionRoutes({
      ...common,
      cookies,
      reportRefusal: refusals.note,
      publicUrl: publicUrl(config),
      lifetime,
      hashing,
      attemptsOfClient: new ClientLimiter(signInRate),
      attemptsOfAccount: new RateLimiter(signInRate),
    }),
    ...accountRoutes({
      ...common,
      cookies,
      publicUrl: publicUrl(config),
      lifetime,
      hashing,
      wrongPasswords,
      breached,
      providerNames: [config.providerName, 'pharos'],
      mailLimits: createMailLimits(config.accountMailsPerHour),
      tasks,
    }),
    ...secondFactorRoutes({
      ...common,
      cookies,
      lifetime,
      hashing,
      wrongPasswords,
      issuer: issuerOf(config),
    }),
    ...invitationRoutes({
      ...common,
      hashing,
      breached,
      providerNames: [config.providerName, 'pharos'],
      followed: new ClientLimiter(signInRate),
    }),
    ...apiTokenRoutes({
      postgres,
      ring: config.secret,
      quota: config.apiTokensPerTeam,
      now: () => new Date(),
    }),
    ...teamRoutes({
      postgres,
      db: postgres.front,
      ring: config.secret,
      publicUrl: publicUrl(config),
      providerName: config.providerName,
      quota: config.membersPerTeam,
      intervalSeconds: config.invitationIntervalSeconds,
      mailsFromTeamTo: new RateLimiter({ perSecond: 1 / config.invitationIntervalSeconds, burst: 1 }),
      mailsTo: new RateLimiter({
        perSecond: 1 / config.invitationIntervalSeconds,
        burst: invitationsAtOnceTo,
      }),
      mailsOfTeam: new RateLimiter({
        perSecond: config.invitationsPerHour / 3600,
        burst: config.invitationsPerHour,
      }),
    }),
    ...domainRoutes(domainDeps(deps)),
    ...announcementRoutes({
      postgres,
      db: postgres.front,
      rpki: deps.rpki,
      irr: deps.irr,
      memberToggle: config.membersMayToggle,
      allowDocumentation: config.allowDocumentationResources,
      authorizationKinds: config.authorizationProofs,
      ring,
      quota: config.announcementsPerTeam,
      listDependentZones,
      listDependentLists,
      readEvidence,
      checkRequests: new RateLimiter({
        perSecond: config.checkRequestsPerMinute / 60,
        burst: config.checkRequestsPerMinute,
      }),
      now: () => new Date(),
    }),
    ...approvalRoutes({
      db: postgres.front,
      areas: {
        ...approvalAreas,
        shield: shieldApprovalsWithEffect({ db: postgres.front, estimate, now: () => new Date() }),
      },
    }),
    ...restoreRoutes(decideDeps(config, postgres, postgres.front)),
    ...customerRoutes({ db: postgres.front }),
    ...platformRoutes({ db: postgres.front, ring, now: () => new Date() }),
    ...registryRoutes({ db: postgres.front, rpki: deps.rpki, irr: deps.irr }),
    ...routerRoutes({
      db: postgres.front,
      freshMs: checkFreshMs(config.reconcileIntervalSeconds),
      now: () => new Date(),
    }),
    ...letterRoutes({
      postgres,
      db: postgres.front,
      inspector: createInspector(scannerOf(config)),
      drafter: createDrafter(),
      quotas: letterQuotas,
      provider: authorizedProvider(config),
      now: () => new Date(),
    }),
    ...dnsRoutes(dns),
    ...dnssecRoutes({ postgres, ring, now: () => new Date(), waits: waitsFor(config.dnsCacheSeconds) }),
    ...asnRoutes({ ...asnProofDeps(deps), db: postgres.front, refreshes: createRefreshLimits() }),
    ...inventoryRoutes({
      ...inventory,
      readFamilyUsage: (usage) => readFamilyUsage(deps.flowStore, usage),
      readFlowRecords: (query) => readPortFlows(flows, query),
    }),
    ...crossConnectRoutes(inventory),
    ...notificationRoutes({ db: postgres.front, now: () => new Date() }),
    ...auditRoutes({ postgres, db: postgres.front }),
    ...webhookRoutes(webhookDeps(deps)),
    ...streamRoutes({ postgres, db: postgres.front, outboxListener }),
    ...flowRoutes(flows),
    ...reportRoutes({
      postgres,
      flows,
      readBrand,
      drawer: createReportDrawer(),
      mayCall: (actor, permission) => mayCall(actor, permission, false),
      now: () => new Date(),
    }),
    ...timezoneRoutes({ db: postgres.front, now: () => new Date() }),
    ...blackholeRoutes({
      postgres,
      estimate,
      readPtrNames: (teamId, host) => listPtrNames(postgres.front, teamId, host),
      now: () => new Date(),
    }),
    ...shieldRoutes({
      postgres,
      flowStore: deps.flowStore,
      estimate,
      dropPercentMax: config.shieldDropPercentMax,
      checkScrubbers: createCheckScrubbers(deps),
      safelist: config.shieldSafelist.map(parsePrefixOrAddress),
      now: () => new Date(),
    }),
    ...eventRoutes({
      ...flows,
      ...inventory,
      messages: createMessageCache(),
      flowStore: deps.flowStore,
      listCounting: createListCounting(deps),
    }),
    ...deliveryRoutes({ postgres, keys: config.secret }),
    ...searchRoutes({ postgres, db: postgres.front, mayCall }),
  ]
  checkOperations(mounted)

  const server = createHttpServer({
    ...httpDeps(deps),
    credentials,
    mounted,
    facades: [powerdnsApi(dns)],
    onDenied: (denied) => refusals.note(refusalOf(denied)),
  })
  server.addHook('onReady', async () => outboxListener.start())
  server.addHook('onClose', () => outboxListener.stop())
  server.addHook('onClose', () => refusals.stop())
  server.addHook('onClose', () => tasks.settled())
  server.addHook('onClose', async () => breached?.close())
  addDocumentation(server, () => signingKeys.jwks())
  addSecurityTxt(server, { contact: config.securityContact, now: () => new Date() })
  addUnsubscribe(server, { db: postgres.front, ring: config.secret, now: () => new Date() })
  addPortal(server, readBrand)
  addHealth(server, healthDeps(deps))
  return server
}

/**
 * Returns whether the actor could call a route with this permission. Without `withGrant` roles do not count, as in a monthly report: its own
 * grant covers all of it.
 */
function mayCall(actor: Actor, permission: Permission, withGrant = true): boolean {
  if (permission.credential === 'web' && actor.kind !== 'user') return false
  try {
    authorize(actor, permission, withGrant)
    return true
  } catch (error) {
    if (error instanceof Failure) return false
    throw error
  }
}

const scannerOf = ({ clamdUrl }: Config): { scanner?: LetterScanner } =>
  clamdUrl === null ? {} : { scanner: createScanner(clamdUrl) }

const createTasks = ({ log }: Shared): PostResponseTasks =>
  createPostResponseTasks(postResponseTasksMax, (error) =>
    log.error({ err: error }, 'post-response task failed'),
  )

/** Throws unless exactly the operations of the contract are served: the documentation must not list an operation that returns 404. */
function checkOperations(mounted: readonly Mounted[]): void {
  const served = new Set(mounted.map(({ route }) => route))
  const missing = routes.filter((route) => !served.has(route)).map(({ name }) => name)
  const unknown = [...served].filter((route) => !routes.includes(route)).map(({ name }) => name)
  if (missing.length > 0 || unknown.length > 0) {
    throw new Error(
      `contract and server differ: not served ${missing.join(', ') || '-'}; not in the contract ${unknown.join(', ') || '-'}`,
    )
  }
}
