// The domains of teams, wired: what the api role answers with, and the loop of the reconciler role that looks at them.
import { createTxtResolver } from '../drivers/dns/txt-resolver.ts'
import type { Component } from '../runtime/component.ts'
import { createLoop } from '../runtime/loop.ts'
import type { DomainCheckDeps } from '../team/domain-check.ts'
import { checkDueDomains } from '../team/domain-loop.ts'
import { createVerifyLimits, type DomainDeps } from '../team/domain.ts'
import type { Shared } from './shared.ts'

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
    onCheckError: (error) =>
      log.error({ err: error }, 'the check of a domain failed; the next one is the retry'),
  }
}

/** What is due stands in the rows: with this and the time between two looks it is seen within a minute. */
const intervalMs = 10_000

export function domainsPart(shared: Shared): Component {
  const { waker, log, metrics } = shared
  const deps = checkDeps(shared)
  const loop = createLoop({
    name: 'domains',
    intervalMs,
    run: async (signal) => {
      const { checked, verified, lost, failed } = await checkDueDomains(deps, signal)
      if (verified + lost + failed > 0)
        log.info({ checked, verified, lost, failed }, 'domains were looked at')
    },
    log,
    metrics,
  })
  let off = () => {}
  return {
    name: loop.name,
    start: () => {
      off = waker.on('domains', () => loop.wake())
      loop.start()
    },
    stop: async () => {
      off()
      await loop.stop()
    },
  }
}
