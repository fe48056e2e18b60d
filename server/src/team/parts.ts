// Wires the domains of teams: operations of the api role, and the loop of the reconciler role that checks domains.
import { createTxtResolver } from '../drivers/dns/txt-resolver.ts'
import type { Component } from '../runtime/component.ts'
import type { DomainCheckDeps } from './domain-check-result.ts'
import { checkDueDomains } from './domain-loop.ts'
import { createVerifyLimits, type DomainDeps } from './domain.ts'
import { createLoopComponent } from '../db/loop-component.ts'
import type { Shared } from '../process/shared.ts'

export function domainDeps(shared: Shared): DomainDeps {
  return {
    ...checkDeps(shared),
    rules: { allowDocumentation: shared.config.allowDocumentationResources },
    verifications: createVerifyLimits(shared.config.checkRequestsPerMinute),
  }
}

function checkDeps({ config, postgres, log }: Shared): DomainCheckDeps {
  return {
    postgres,
    ring: config.secret,
    txt: createTxtResolver({ servers: config.dnsResolvers }),
    now: () => new Date(),
    onCheckError: (error) => log.error({ err: error }, 'domain check failed; it is retried'),
  }
}

/** A domain that is due is checked within this time. */
const intervalMs = 10_000

export function domainsPart(shared: Shared): Component {
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
