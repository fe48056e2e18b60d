// Wires teams: their operations, and the loop of the reconciler role that checks their domains.
import { createLoopComponent } from '../db/loop-component.ts'
import { createTxtResolver } from '../drivers/dns/txt-resolver.ts'
import type { Mounted } from '../http/mount.ts'
import type { Parts, Shared } from '../process/shared.ts'
import type { Component } from '../runtime/component.ts'
import { RateLimiter } from '../runtime/rate-limit.ts'
import { countInboxByTeam } from '../status/inbox.ts'
import { inboxDeps } from '../status/parts.ts'
import type { DomainCheckDeps } from './domain-check-result.ts'
import { checkDueDomains } from './domain-loop.ts'
import { domainRoutes } from './domain.routes.ts'
import { createVerifyLimits } from './domain.ts'
import { serviceAccountRoutes } from './service-account.routes.ts'
import { savedViewRoutes } from './saved-view.routes.ts'
import { customerRoutes, teamRoutes } from './team.routes.ts'

/** Several teams may invite the same person on the same day; more would be spam. */
const invitationsAtOnceTo = 3
/** A domain that is due is checked within this time. */
const intervalMs = 10_000

export function routes(shared: Shared): Mounted[] {
  const { config, front } = shared
  const perInterval = 1 / config.invitationIntervalSeconds
  return [
    ...teamRoutes({
      ...shared,
      db: front,
      providerName: config.providerName,
      quota: config.membersPerTeam,
      intervalSeconds: config.invitationIntervalSeconds,
      mailsFromTeamTo: new RateLimiter({ perSecond: perInterval, burst: 1 }),
      mailsTo: new RateLimiter({ perSecond: perInterval, burst: invitationsAtOnceTo }),
      mailsOfTeam: new RateLimiter({
        perSecond: config.invitationsPerHour / 3600,
        burst: config.invitationsPerHour,
      }),
    }),
    ...serviceAccountRoutes(shared),
    ...savedViewRoutes(shared),
    ...domainRoutes({
      ...checkDeps(shared),
      rules: { allowDocumentation: config.allowDocumentationResources },
      verifications: createVerifyLimits(config.checkRequestsPerMinute),
    }),
    ...customerRoutes({ db: front, countOpenRequests: () => countInboxByTeam(inboxDeps(shared)) }),
  ]
}

export const parts = (shared: Shared): Parts => ({ reconciler: () => [domains(shared)] })

const checkDeps = (shared: Shared): DomainCheckDeps => ({
  ...shared,
  txt: createTxtResolver({ servers: shared.config.dnsResolvers }),
  onCheckError: (error) => shared.log.error({ err: error }, 'domain check failed; it is retried'),
})

function domains(shared: Shared): Component {
  const deps = checkDeps(shared)
  return createLoopComponent(shared, {
    name: 'domains',
    sends: 'nothing',
    wakeName: 'domains',
    intervalMs,
    async run(signal) {
      const { checked, verified, lost, failed } = await checkDueDomains(deps, signal)
      if (verified + lost + failed > 0)
        shared.log.info({ checked, verified, lost, failed }, 'domains checked')
    },
  })
}
