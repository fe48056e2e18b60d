// The audit in the reconciler role: the sealer that makes entries a chain.
import { createSealer } from '../audit/sealer.ts'
import type { Component } from '../runtime/component.ts'
import type { Shared } from './shared.ts'

export function auditPart({ config, postgres, log, metrics }: Shared): Component {
  return createSealer({ postgres, ring: config.secret, log, metrics })
}
