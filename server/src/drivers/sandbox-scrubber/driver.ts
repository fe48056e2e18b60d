// The driver of the sandbox: a scrubber in the memory of this process, for demos and tests. It drops traffic of the
// demo only.
import { Type, type Static } from 'typebox'
import type { ScrubberDriver } from '../../shield/scrubber-driver.ts'
import { settingsCheck } from '../driver/setting-problems.ts'
import { SandboxScrubber } from './scrubber.ts'

const Settings = Type.Object(
  { kind: Type.Literal('sandbox'), latency_ms: Type.Optional(Type.Integer({ minimum: 0, maximum: 10_000 })) },
  { additionalProperties: false },
)

const running = new Set<SandboxScrubber>()

/** Returns the scrubbers of this process that are not closed. */
export const runningScrubbers = (): readonly SandboxScrubber[] => [...running]

export const sandboxScrubber: ScrubberDriver = {
  kind: 'sandbox',
  settings: Settings,
  check: settingsCheck(Settings, 'the scrubber'),
  ownerOf: () => undefined,
  create(settings, { name, rulesMax, estimateHits }) {
    const { latency_ms: latencyMs = 0 } = settings as Static<typeof Settings>
    const scrubber = new SandboxScrubber({
      name,
      rulesMax,
      latencyMs,
      onClose: () => running.delete(scrubber),
      ...(estimateHits ? { estimateHits } : {}),
    })
    running.add(scrubber)
    return scrubber
  },
}
