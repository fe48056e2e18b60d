// The recorded examples by their file in `contract/src`. Each file is recorded on an installation of its own.
import type { Example } from '@pharos/contract/example'
import { recordAlerts } from './alerts.ts'
import { recordByoip, withRegistries } from './byoip.ts'
import { recordDns } from './dns.ts'
import { recordDnssec } from './dnssec.ts'
import { recordEvents } from './events.ts'
import { recordFlow } from './flow.ts'
import { recordProviders, recordSingleSignOn } from './identity.ts'
import { recordInventory, withPublicUrl } from './inventory.ts'
import { recordMessages, withReceiver } from './messages.ts'
import { recordOperator } from './operator.ts'
import { recordSession } from './session.ts'
import { recordShield } from './shield.ts'
import { recordTeam, withDomain } from './team.ts'
import { createRecorder, type Recorder } from './recorder.ts'

type Examples = Readonly<Record<string, Example>>

type Recording = {
  readonly record: (recorder: Recorder) => Promise<void>
  /** Calls `use` with the settings of the installation; without it they are those of tests. */
  readonly withSettings?: (use: (settings: Record<string, string>) => Promise<void>) => Promise<void>
}

const recordings: Readonly<Record<string, Recording>> = {
  'alert/examples.json': { record: recordAlerts },
  'byoip/examples.json': { record: recordByoip, withSettings: withRegistries },
  'dns/examples.json': {
    async record(recorder) {
      await recordDns(recorder)
      await recordDnssec(recorder)
    },
  },
  'events/examples.json': { record: recordEvents, withSettings: withPublicUrl },
  'flow/examples.json': { record: recordFlow },
  'inventory/examples.json': { record: recordInventory, withSettings: withPublicUrl },
  'messages/examples.json': { record: recordMessages, withSettings: withReceiver },
  'operator/examples.json': { record: recordOperator },
  'session/examples.json': {
    async record(recorder) {
      await recordSession(recorder)
      await recordSingleSignOn(recorder)
    },
  },
  'shield/examples.json': { record: recordShield },
  'team/examples.json': {
    async record(recorder) {
      await recordTeam(recorder)
      await recordProviders(recorder)
    },
    withSettings: withDomain,
  },
}

/** Returns the text of each file. */
export async function recordAll(): Promise<ReadonlyMap<string, string>> {
  const texts = new Map<string, string>()
  for (const [file, record] of Object.entries(recordings)) texts.set(file, textOf(await recorded(record)))
  return texts
}

async function recorded({ record, withSettings = (use) => use({}) }: Recording): Promise<Examples> {
  let examples: Examples = {}
  await withSettings(async (settings) => {
    await using recorder = await createRecorder(settings)
    await record(recorder)
    examples = recorder.examples
  })
  return examples
}

/** By operation in alphabetical order, so that a new one is a new block in the diff. */
function textOf(examples: Examples): string {
  const sorted = Object.entries(examples).sort(([a], [b]) => (a < b ? -1 : 1))
  return `${JSON.stringify(Object.fromEntries(sorted), null, 2)}\n`
}
