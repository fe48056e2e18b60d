// Wires the proofs of ASNs: operations of the api role, and the daily check of the reconciler role.
import type { AsnProofDeps } from '../inventory/holding/asn-proof.ts'
import type { AsnProofSources } from '../inventory/holding/asn-proof-result.ts'
import { recheckAsns } from '../inventory/holding/asn-recheck.ts'
import { createTxtResolver } from '../drivers/dns/txt-resolver.ts'
import type { Component } from '../runtime/component.ts'
import { createLoop } from '../runtime/loop.ts'
import type { Shared } from './shared.ts'

export function asnProofDeps(shared: Shared): AsnProofDeps {
  const { config, postgres, log } = shared
  return {
    postgres,
    ring: config.secret,
    sources: createAsnProofSources(shared),
    allowDocumentationAsns: config.allowDocumentationResources,
    now: () => new Date(),
    onCheckError: (error) => log.error({ err: error }, 'ASN check failed; it is retried with the next one'),
  }
}

/** Leaves out the sources that are not configured, so that their methods are reported as such. */
function createAsnProofSources({ config, rpki, irr }: Shared): AsnProofSources {
  return {
    irr: config.irrSources.length > 0 ? irr : undefined,
    rpki: config.rpkiSources.length > 0 ? rpki : undefined,
    txt: createTxtResolver({ servers: config.dnsResolvers }),
  }
}

const hourMs = 3_600_000

/** Hourly, because each ASN is checked at its own time of day. */
export function asnProofsPart(shared: Shared): Component {
  const { log, metrics } = shared
  const deps = asnProofDeps(shared)
  return createLoop({
    name: 'asn-proofs',
    sends: 'nothing',
    intervalMs: hourMs,
    run: async (signal) => {
      const { checked, expired, failed } = await recheckAsns(deps, signal)
      if (checked > 0) log.info({ checked, expired, failed }, 'ASNs checked')
    },
    log,
    metrics,
  })
}
