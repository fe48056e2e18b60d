// The driver of the sandbox: a router in the memory of this process, for demos and tests.
import { Type, type Static } from 'typebox'
import type { SpeakerDriver } from '../../byoip/regions/speaker-driver.ts'
import { settingsCheck } from '../driver/setting-problems.ts'
import { createSandboxSpeaker } from './speaker.ts'

const Settings = Type.Object(
  { kind: Type.Literal('sandbox'), latency_ms: Type.Optional(Type.Integer({ minimum: 0, maximum: 10_000 })) },
  { additionalProperties: false },
)

export const sandbox: SpeakerDriver = {
  kind: 'sandbox',
  settings: Settings,
  check: settingsCheck(Settings),
  ownerOf: () => undefined,
  create(settings, router) {
    const { latency_ms: latencyMs = 0 } = settings as Static<typeof Settings>
    return createSandboxSpeaker({ region: router, latencyMs })
  },
  nextHopsOf: () => ({}),
}
